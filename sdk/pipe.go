package felix

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"github.com/felix-go/felix/dataplane/ring"
	"github.com/felix-go/felix/dataplane/wire"
)

// call is one request on its way through a pipe, and its result.
type call struct {
	op    string
	id    wire.RequestID
	frame []byte
	want  bool // an answer is owed

	done chan struct{} // receives once: the result is there
	sent bool          // guarded by pipe.mu: handed to the transport

	// The result, valid after done.
	err      error
	ack      Ack
	value    []byte
	has      bool // value
	version  uint64
	applied  bool
	keys     []string
	more     bool
	retained func() // gives the call's bytes back; called once when the call leaves the pipe
}

// pipe is an authenticated request stream shared by many callers.
//
// Callers encode their frame and push the call; the one writer takes everything that is queued, yields once so that callers
// that are about to push can join, and writes it all at once. The one reader matches answers by request id; an answer without
// one (`error`) belongs to the oldest unanswered call, because answers of a stream come in request order. A slot per
// unanswered call bounds them by the window the broker granted.
type pipe struct {
	l     *link
	in    *login
	slots chan struct{}
	bell  *ring.Bell
	dead  chan struct{} // closed when the pipe failed

	mu sync.Mutex // guards the following
	// queued calls were not taken by the writer yet.
	queued  []*call
	pending map[wire.RequestID]*call
	order   *ring.Buffer[wire.RequestID] // unanswered ids, oldest first; answered ones are skipped
	cause   error                        // why the pipe died
}

func newPipe(l *link, in *login) *pipe {
	p := &pipe{l: l, in: in, slots: make(chan struct{}, in.window), bell: ring.NewBell(), dead: make(chan struct{}),
		pending: make(map[wire.RequestID]*call), order: ring.NewBuffer[wire.RequestID](1 << 30)}
	l.c.wg.Go(p.write)
	l.c.wg.Go(p.read)
	return p
}

func (p *pipe) alive() bool {
	select {
	case <-p.dead:
		return false
	default:
		return p.l.alive()
	}
}

// do sends the call and waits for its result. When ctx ends first the request stays on its way.
func (p *pipe) do(ctx context.Context, c *call) error {
	c.done = make(chan struct{}, 1)
	if c.want {
		select {
		case p.slots <- struct{}{}:
		case <-p.dead:
			c.leave()
			return lost(c.op, p.reason(), false)
		case <-ctx.Done():
			c.leave()
			return abandoned(c.op, ctx, false)
		}
	}
	if !p.push(c) {
		if c.want {
			<-p.slots
		}
		c.leave()
		return lost(c.op, p.reason(), false)
	}
	select {
	case <-c.done:
		return c.err
	case <-ctx.Done():
		return abandoned(c.op, ctx, true)
	}
}

func (p *pipe) push(c *call) bool {
	p.mu.Lock()
	if p.cause != nil {
		p.mu.Unlock()
		return false
	}
	p.queued = append(p.queued, c)
	p.mu.Unlock()
	p.bell.Ring()
	return true
}

func (p *pipe) reason() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cause
}

// maxWrite bounds one combined write.
const maxWrite = 256 << 10

// write is the stream's only writer.
func (p *pipe) write() {
	var batch []*call
	var buf []byte
	for p.bell.Wait(p.dead) {
		runtime.Gosched() // callers that are about to push share this write
		batch = p.take(batch[:0])
		for rest := batch; len(rest) > 0; {
			buf = buf[:0]
			n := 0
			for n < len(rest) && (n == 0 || len(buf)+len(rest[n].frame) <= maxWrite) {
				buf = append(buf, rest[n].frame...)
				n++
			}
			_, err := p.in.stream.Send().Write(buf)
			if err != nil {
				p.fail(err)
				finishUnanswered(rest, p.reason())
				return
			}
			finishUnanswered(rest[:n], nil)
			rest = rest[n:]
		}
		clear(batch)
		if cap(buf) > maxWrite {
			buf = nil
		}
	}
}

// finishUnanswered ends the calls to which no answer is owed: their bytes left, or may have, when cause is not nil.
func finishUnanswered(calls []*call, cause error) {
	for _, c := range calls {
		switch {
		case c.want:
		case cause != nil:
			c.finish(lost(c.op, cause, true))
		default:
			c.finish(nil)
		}
	}
}

// take empties the queue. A call that wants an answer is pending from here on, before its bytes leave.
func (p *pipe) take(batch []*call) []*call {
	p.mu.Lock()
	defer p.mu.Unlock()
	batch = append(batch, p.queued...)
	clear(p.queued)
	p.queued = p.queued[:0]
	for _, c := range batch {
		c.sent = true
		if c.want {
			p.pending[c.id] = c
			p.order.Push(c.id)
		}
	}
	return batch
}

// read is the stream's only reader.
func (p *pipe) read() {
	var m wire.Message
	for {
		f, payload, err := p.in.in.next(false)
		if err == nil {
			err = p.answer(f, payload, &m)
		}
		if err != nil {
			p.fail(err)
			return
		}
	}
}

var errNobodyAsked = errors.New("felix: the broker answered a request that is not outstanding")

// answer hands one frame to the call it answers.
func (p *pipe) answer(f wire.Flags, payload []byte, m *wire.Message) error {
	switch {
	case f&wire.FlagPublishAck != 0:
		var a wire.PublishAck
		if err := wire.ParsePublishAck(f, payload, &a); err != nil {
			return err
		}
		c := p.claim(a.RequestID)
		if c == nil {
			return errNobodyAsked
		}
		c.ack = Ack{HasOffset: a.HasOffset, Offset: uint64(a.Offset)}
		p.settle(c, refusalOf(c.op, a.OK, a.Refusal))
		return nil
	case f == wire.FlagExtension:
		return p.answerKeys(payload)
	case f != 0:
		return fmt.Errorf("felix: frame flags %#x on a request stream", uint16(f))
	}
	if err := wire.ParseMessage(payload, m); err != nil {
		return err
	}
	return p.answerMessage(m)
}

func refusalOf(op string, ok bool, r wire.Refusal) error {
	if ok {
		return nil
	}
	return refused(op, r)
}

func (p *pipe) answerMessage(m *wire.Message) error {
	var c *call
	if m.Has(wire.FieldRequestID) {
		c = p.claim(m.RequestID)
	} else if m.Type == wire.MsgError {
		if c = p.claimOldest(); c == nil {
			return fmt.Errorf("felix: the broker ended the stream: %s", m.Text)
		}
	}
	if c == nil {
		return errNobodyAsked
	}
	var err error
	switch m.Type {
	case wire.MsgError, wire.MsgPublishError:
		err = refused(c.op, m.Refusal())
	case wire.MsgPublishOK:
		c.ack = Ack{HasOffset: m.Has(wire.FieldOffset), Offset: uint64(m.Offset)}
	case wire.MsgCacheOK:
	case wire.MsgCacheValue:
		if c.has = !m.ValueNull; c.has {
			c.value, err = wire.DecodeBase64(make([]byte, 0, len(m.Value)/4*3), m.Value)
		}
		c.version = m.Version
	case wire.MsgCacheConditionResult:
		c.applied, c.version = m.Applied, m.Version
	case wire.MsgUnsupported:
		err = refused(c.op, wire.Refusal{Code: wire.CodeInvalidRequest, Message: "not supported by this broker"})
	default:
		p.settle(c, lost(c.op, fmt.Errorf("felix: %s in answer to a request", m.Type), true))
		return fmt.Errorf("felix: %s in answer to a request", m.Type)
	}
	p.settle(c, err)
	return nil
}

func (p *pipe) answerKeys(payload []byte) error {
	var a wire.ListKeysAnswer
	if err := wire.ParseListKeysAnswer(payload, &a); err != nil {
		return err
	}
	c := p.claim(a.RequestID)
	if c == nil {
		return errNobodyAsked
	}
	for key, rest, ok := wire.NextRecord(a.Keys); ok; key, rest, ok = wire.NextRecord(rest) {
		c.keys = append(c.keys, string(key))
	}
	c.more = a.More
	p.settle(c, refusalOf(c.op, a.OK, wire.Refusal{Code: a.Code, Class: a.Class, Message: string(a.Message)}))
	return nil
}

// claim takes the call with that id out of the pending ones.
func (p *pipe) claim(id wire.RequestID) *call {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.pending[id]
	delete(p.pending, id)
	p.skipAnsweredLocked()
	return c
}

func (p *pipe) claimOldest() *call {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.skipAnsweredLocked()
	id, ok := p.order.Pop()
	if !ok {
		return nil
	}
	c := p.pending[id]
	delete(p.pending, id)
	return c
}

func (p *pipe) skipAnsweredLocked() {
	for p.order.Len() > 0 {
		if _, waits := p.pending[p.order.Peek(0)]; waits {
			return
		}
		p.order.Pop()
	}
}

// settle ends an answered call.
func (p *pipe) settle(c *call, err error) {
	<-p.slots
	c.finish(err)
}

// fail ends the pipe: everything on it fails, with an unknown outcome if it was handed to the transport.
func (p *pipe) fail(cause error) {
	if cause == io.EOF {
		cause = io.ErrUnexpectedEOF
	}
	p.mu.Lock()
	if p.cause != nil {
		p.mu.Unlock()
		return
	}
	p.cause = cause
	var left []*call
	for _, c := range p.pending {
		left = append(left, c)
	}
	left = append(left, p.queued...)
	p.pending, p.queued = map[wire.RequestID]*call{}, nil
	p.mu.Unlock()
	close(p.dead)
	cutStream(p.in.stream)
	for _, c := range left {
		c.finish(lost(c.op, cause, c.sent))
	}
}

// finish publishes the result to the caller.
func (c *call) finish(err error) {
	c.err = err
	c.leave()
	c.done <- struct{}{}
}

func (c *call) leave() {
	if c.retained != nil {
		c.retained()
		c.retained = nil
	}
}
