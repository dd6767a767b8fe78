package fanout

import (
	"context"
	"errors"
	"sync"

	"github.com/felix-go/felix/dataplane/transport"
)

var errStreamGone = errors.New("the stream is gone")

// fakeStream is an event stream whose peer can stop reading, cancel, or go away.
type fakeStream struct {
	ctx    context.Context
	cancel context.CancelFunc

	mu sync.Mutex
	// mu guards the following.
	changed sync.Cond
	bytes   []byte
	writes  []int // lengths
	stalled bool
	blocked int // writers that wait for the peer
	fin     bool
	resets  []transport.StreamCode
}

func newFakeStream() *fakeStream {
	s := &fakeStream{}
	s.changed.L = &s.mu
	s.ctx, s.cancel = context.WithCancel(context.Background())
	context.AfterFunc(s.ctx, func() { s.update(func() {}) })
	return s
}

func (s *fakeStream) update(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	s.changed.Broadcast()
}

// until waits for a condition on the stream.
func (s *fakeStream) until(f func() bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !f() {
		s.changed.Wait()
	}
}

func (s *fakeStream) stall(stalled bool) { s.update(func() { s.stalled = stalled }) }

func (s *fakeStream) Context() context.Context { return s.ctx }

func (s *fakeStream) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.blocked++
	s.changed.Broadcast()
	for s.stalled && s.ctx.Err() == nil && len(s.resets) == 0 {
		s.changed.Wait()
	}
	s.blocked--
	if s.ctx.Err() != nil || len(s.resets) > 0 || s.fin {
		return 0, errStreamGone
	}
	s.bytes = append(s.bytes, b...)
	s.writes = append(s.writes, len(b))
	s.changed.Broadcast()
	return len(b), nil
}

func (s *fakeStream) Close() error {
	s.update(func() { s.fin = true })
	return nil
}

func (s *fakeStream) Reset(code transport.StreamCode) {
	s.update(func() { s.resets = append(s.resets, code) })
}
