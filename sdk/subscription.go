package felix

import (
	"context"
	"fmt"
	"io"
	"iter"
	"sync"

	"github.com/felix-go/felix/dataplane/ring"
	"github.com/felix-go/felix/dataplane/transport"
	"github.com/felix-go/felix/dataplane/wire"
)

// Event is one delivered record. Payload is the receiver's to keep; events of one batch share memory.
type Event struct {
	Stream  string
	Payload []byte
	// HasOffset says that Offset is the record's offset in its shard; events of in-memory streams carry none.
	HasOffset bool
	Offset    uint64
}

// LostError ends a subscription whose connection or stream was lost: it did not end as if the stream were finished.
type LostError struct{ Cause error }

// Error implements error.
func (e *LostError) Error() string { return "felix: subscription lost: " + e.Cause.Error() }

// Unwrap returns the transport's error and ErrConnection.
func (e *LostError) Unwrap() []error { return []error{ErrConnection, e.Cause} }

// Subscription delivers the events of one shard in order. Next and Events are for one goroutine at a time.
type Subscription struct {
	stream string
	opts   subscribeOptions
	events *eventStream
	bell   *ring.Bell // rung when there is something to take, or the end is known
	space  *ring.Bell // rung when there is room
	// unwatch ends the watch for the end of the client.
	unwatch func() bool
	stop    chan struct{}
	done    chan struct{} // closed when the reader has returned

	mu     sync.Mutex // guards the following
	queue  *ring.Buffer[eventBatch]
	count  int // events queued
	bytes  int
	lost   uint64
	ended  error // what Next returns when the queue is empty
	closed bool

	current eventBatch // owned by Next
}

// eventBatch is a run of events of one frame.
type eventBatch struct {
	records   []byte
	count     uint32
	hasOffset bool
	next      uint64
}

// Buffer defaults.
const (
	defaultBufferEvents = 64 << 10
	defaultBufferBytes  = 4 << 20
)

// read takes frames off the event stream until it ends.
func (s *Subscription) read(c *Client) {
	defer close(s.done)
	defer s.unwatch()
	var m wire.Message
	for {
		f, payload, err := s.events.in.next(true)
		if err != nil {
			s.end(s.endOf(c, err))
			return
		}
		if f == 0 {
			if wire.ParseMessage(payload, &m) == nil && m.Type == wire.MsgStreamDeleted {
				s.end(ErrStreamDeleted)
			} else {
				s.end(&LostError{Cause: fmt.Errorf("felix: unexpected message %s on an event stream", m.RawType)})
			}
			s.events.recv.StopReading(transport.StreamCancelled)
			return
		}
		var e wire.EventBatch
		if err := wire.ParseEventBatch(f, payload, &e); err != nil {
			s.events.recv.StopReading(transport.StreamProtocol)
			s.end(&LostError{Cause: err})
			return
		}
		if !s.put(eventBatch{records: e.Records, count: e.Count, hasOffset: e.HasOffsets, next: uint64(e.Base)}) {
			return
		}
	}
}

// endOf is what Next reports after the last event.
func (s *Subscription) endOf(c *Client, err error) error {
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	switch {
	case closed || c.closed.Load():
		return ErrClosed
	case err == io.EOF:
		return ErrSubscriptionEnded
	}
	return &LostError{Cause: err}
}

// put queues a batch, waiting for room or dropping as the options say. false means that the subscription was closed.
func (s *Subscription) put(b eventBatch) bool {
	if b.count == 0 {
		return true
	}
	for {
		s.mu.Lock()
		if s.closed {
			s.mu.Unlock()
			return false
		}
		room := s.count == 0 || s.count+int(b.count) <= s.opts.maxEvents && s.bytes+len(b.records) <= s.opts.maxBytes
		if room {
			s.queue.Push(b)
			s.count += int(b.count)
			s.bytes += len(b.records)
			s.mu.Unlock()
			s.bell.Ring()
			return true
		}
		if s.opts.dropNew {
			s.lost += uint64(b.count)
			s.mu.Unlock()
			return true
		}
		s.mu.Unlock()
		if !s.space.Wait(s.stop) {
			return false
		}
	}
}

func (s *Subscription) end(err error) {
	s.mu.Lock()
	if s.ended == nil {
		s.ended = err
	}
	s.mu.Unlock()
	s.bell.Ring()
}

// Next returns the next event. After the last one it returns how the subscription ended: ErrClosed, ErrSubscriptionEnded,
// ErrStreamDeleted or a *LostError. A context that ends loses nothing: the next call goes on.
func (s *Subscription) Next(ctx context.Context) (Event, error) {
	for s.current.count == 0 {
		if err := s.take(); err != nil {
			return Event{}, err
		}
		if s.current.count > 0 {
			break
		}
		if !s.bell.Wait(ctx.Done()) {
			return Event{}, fmt.Errorf("felix: next: %w", context.Cause(ctx))
		}
	}
	b := &s.current
	rec, rest, _ := wire.NextRecord(b.records)
	ev := Event{Stream: s.stream, Payload: rec, HasOffset: b.hasOffset, Offset: b.next}
	b.records, b.next = rest, b.next+1
	b.count--
	return ev, nil
}

// take makes the next batch current; an error is the end.
func (s *Subscription) take() error {
	s.mu.Lock()
	b, ok := s.queue.Pop()
	if !ok {
		defer s.mu.Unlock()
		if s.closed {
			return ErrClosed
		}
		return s.ended
	}
	s.count -= int(b.count)
	s.bytes -= len(b.records)
	s.mu.Unlock()
	s.current = b
	s.space.Ring()
	return nil
}

// Events yields events until the subscription or ctx ends; the last pair is the error. Leaving the loop loses nothing.
func (s *Subscription) Events(ctx context.Context) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for {
			ev, err := s.Next(ctx)
			if !yield(ev, err) || err != nil {
				return
			}
		}
	}
}

// Lost returns how many events were dropped here because the buffer was full.
func (s *Subscription) Lost() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lost
}

// Close ends the subscription; the broker stops sending. Events that were not taken are gone.
func (s *Subscription) Close() error {
	s.unwatch()
	s.shut()
	<-s.done
	return nil
}

// shut ends everything of the subscription without waiting for its reader.
func (s *Subscription) shut() {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	s.closed = true
	s.queue = ring.NewBuffer[eventBatch](1)
	s.count, s.bytes = 0, 0
	s.mu.Unlock()
	close(s.stop)
	s.events.recv.StopReading(transport.StreamCancelled)
	s.bell.Ring()
}
