package fanout

import (
	"context"
	"runtime/pprof"

	"github.com/felix-go/felix/dataplane/arena"
	"github.com/felix-go/felix/dataplane/transport"
	"github.com/felix-go/felix/dataplane/wire"
)

// DefaultMaxWriteBytes bounds one combined write of a pump.
const DefaultMaxWriteBytes = 64 << 10

// EventStream is the sending half of an event stream; *transport.SendStream is one. Its only caller is a Pump.
type EventStream interface {
	// Write blocks until b was accepted by the transport, the stream was cancelled or its connection is gone.
	Write(b []byte) (int, error)
	// Close sends FIN.
	Close() error
	// Reset ends the stream without FIN; a blocked Write returns.
	Reset(code transport.StreamCode)
	// Context is done when the peer cancelled the stream or the connection is gone.
	Context() context.Context
}

// PumpConfig describes a Pump. Stream, Queue and Arena are required.
type PumpConfig struct {
	// Stream gets the frames. Its hello was written already.
	Stream EventStream
	// Queue holds the live batches.
	Queue *Queue
	// Arena lends the scratch block for combined writes.
	Arena *arena.Arena
	// Subscription is named by stream_deleted.
	Subscription wire.SubscriptionID
	// StreamDeletedOffered says that the client knows stream_deleted.
	StreamDeletedOffered bool
	// Preface is sent before anything from the queue: the backlog of the replay ring. The pump owns it.
	Preface []*Envelope
	// MaxWriteBytes bounds one combined write. Default 64 KiB. Frames above a quarter of it are written alone.
	MaxWriteBytes int
	// OnEnd is called once by the pump's goroutine after its last use of Stream and Queue; nil for nothing. It must
	// not wait for the pump.
	OnEnd func()
}

// Pump is the one goroutine of an event stream and its only writer.
//
//	write the preface, page by page
//	loop: take everything that is ready, up to one write
//	      nothing and open:  give the scratch block back, sleep until the queue rings
//	      nothing and ended: finish as Queue.End says
//	      one frame, or a large one: write it from its own block
//	      several small ones: copy them into the scratch block, one write
//	      release them
//
// The write blocks. A peer that does not read therefore parks this goroutine and nothing else, with one write in
// hand and a bounded queue behind it. Offering to the transport without blocking was measured against this and
// gave half the throughput, because its send buffer then grows without a bound for a dead peer.
//
// How many frames share a write decides throughput more than anything else here, so the pump takes all that is ready
// and waits for no more: under load batches grow by themselves, without load a frame leaves at once.
//
// A peer that cancels its stream (STOP_SENDING) makes a write fail; one that cancels while nothing is being written
// is noticed through the stream's context, which rings the queue's bell.
type Pump struct {
	config  PumpConfig
	done    chan struct{}
	batch   []*Envelope // taken and not released; its array is kept while work is pending
	scratch arena.Ref   // none while nothing is pending
}

// StartPump starts the goroutine. It ends when the queue was closed or the stream was cancelled, and closes the
// queue in that case.
func StartPump(c PumpConfig) *Pump {
	if c.MaxWriteBytes <= 0 {
		c.MaxWriteBytes = DefaultMaxWriteBytes
	}
	for _, e := range c.Preface {
		c.Queue.config.Egress.enter(e)
	}
	p := &Pump{config: c, done: make(chan struct{})}
	go p.run()
	return p
}

// Wait returns when the pump's goroutine has ended and OnEnd was called.
func (p *Pump) Wait() { <-p.done }

// pumpLabels split profiles by role.
var pumpLabels = pprof.WithLabels(context.Background(), pprof.Labels("role", "pump"))

func (p *Pump) run() {
	defer close(p.done)
	pprof.SetGoroutineLabels(pumpLabels)
	q := p.config.Queue
	stop := context.AfterFunc(p.config.Stream.Context(), q.bell.Ring)
	q.onCancel(p.reset)
	ok := p.sendPreface() && p.sendLive()
	q.onCancel(nil)
	stop()
	p.idle()
	if !ok {
		q.Close(EndCancelled)
	}
	p.finish(q.End())
	if p.config.OnEnd != nil {
		p.config.OnEnd()
	}
}

// sendPreface writes the backlog and releases it; false means that the stream is gone.
func (p *Pump) sendPreface() bool {
	rest := p.config.Preface
	p.config.Preface = nil
	ok := true
	for len(rest) > 0 {
		n := 1
		for size := rest[0].Size(); n < len(rest); n++ {
			if size += rest[n].Size(); size > p.config.MaxWriteBytes {
				break
			}
		}
		ok = ok && p.config.Queue.End() != EndCancelled && p.write(rest[:n]) == nil
		for _, e := range rest[:n] {
			p.config.Queue.config.Egress.leave(e)
		}
		release(rest[:n])
		rest = rest[n:]
	}
	return ok
}

// sendLive writes the queue until it has ended; false means that the stream is gone.
func (p *Pump) sendLive() bool {
	q := p.config.Queue
	for {
		var state State
		p.batch, state = q.TakeUpTo(p.batch[:0], int64(p.config.MaxWriteBytes))
		if len(p.batch) > 0 {
			err := p.write(p.batch)
			release(p.batch)
			if err != nil {
				return false
			}
			continue
		}
		if state == Ended {
			return true
		}
		if p.config.Stream.Context().Err() != nil {
			return false
		}
		p.idle()
		<-q.Ready()
	}
}

// idle gives back what is only needed while work is pending.
func (p *Pump) idle() {
	if p.scratch.Valid() {
		p.scratch.Release()
		p.scratch = arena.Ref{}
	}
	if cap(p.batch) > idleBatch {
		p.batch = nil
	}
}

// idleBatch is the largest array of envelopes that a sleeping pump keeps.
const idleBatch = 16

// write sends the frames in order. The caller releases them.
//
//felix:hot
func (p *Pump) write(batch []*Envelope) error {
	for len(batch) > 0 {
		n := p.together(batch)
		var frames []byte
		if n > 1 {
			frames = p.combine(batch[:n])
		} else {
			n = 1
			frames = batch[0].Frame()
		}
		if _, err := p.config.Stream.Write(frames); err != nil {
			return err
		}
		batch = batch[n:]
	}
	return nil
}

// together counts the frames at the head of batch that are small and fit one write.
func (p *Pump) together(batch []*Envelope) int {
	n, sum := 0, 0
	for _, e := range batch {
		size := e.Size()
		sum += size
		if size > p.config.MaxWriteBytes/4 || sum > p.config.MaxWriteBytes {
			break
		}
		n++
	}
	return n
}

// combine copies the frames into the scratch block.
func (p *Pump) combine(batch []*Envelope) []byte {
	if !p.scratch.Valid() {
		p.scratch = p.config.Arena.Acquire(p.config.MaxWriteBytes)
	}
	frames := p.scratch.Bytes()[:0]
	for _, e := range batch {
		frames = append(frames, e.Frame()...)
	}
	return frames
}

// finish writes the stream's last word.
func (p *Pump) finish(end End) {
	s := p.config.Stream
	switch end {
	case EndDeleted:
		if p.config.StreamDeletedOffered {
			if _, err := s.Write(wire.AppendStreamDeleted(nil, p.config.Subscription)); err != nil {
				p.reset()
				return
			}
		}
		if s.Close() != nil {
			p.reset()
		}
	case EndCancelled:
		p.reset()
	}
}

func (p *Pump) reset() { p.config.Stream.Reset(transport.StreamCancelled) }

func release(batch []*Envelope) {
	for i, e := range batch {
		e.Release()
		batch[i] = nil
	}
}
