package ingress

import (
	"runtime"
	"sync/atomic"

	"github.com/felix-go/felix/dataplane/arena"
	"github.com/felix-go/felix/dataplane/ring"
	"github.com/felix-go/felix/dataplane/shard"
	"github.com/felix-go/felix/dataplane/wire"
	"github.com/felix-go/felix/internal/invariants"
)

// form is how the answer to a request looks on the wire; it is known when the request is read, and so is what a refusal of
// it looks like.
type form uint8

const (
	formFrame       form = iota // a frame encoded by whoever answered; refused: error
	formPublishAck              // binary acknowledgement, ok or failed
	formPublishJSON             // publish_ok or publish_error
	formCacheOK                 // cache_ok; refused: error
	formOK                      // ok, for a cache put without a request id; refused: error
	formCondition               // cache_condition_result; refused: error
	formListKeys                // list-keys answer
)

// outcomeFrame marks an outcome whose Ref holds whole encoded frames.
const outcomeFrame = shard.OutcomeRefused + 1

// owedAnswer is what the reader notes about a slot when it reserves it.
type owedAnswer struct {
	id   wire.RequestID
	form form
}

// answer is one completed slot.
type answer struct {
	shard.Outcome
	sub *subscription // its delivery starts after the write
}

func refused(r *wire.Refusal) answer {
	return answer{Outcome: shard.Outcome{Kind: shard.OutcomeRefused, Refusal: r}}
}

func encoded(frames arena.Ref) answer {
	return answer{Outcome: shard.Outcome{Kind: outcomeFrame, Ref: frames}}
}

// answers is the ordered answer window of one stream and its writer.
//
// The goal: answers leave in request order, all that are ready share one write, and what a peer can make the broker owe is
// bounded. The reader reserves a slot per request that owes an answer (reserve), anybody completes it (Complete, complete),
// the writer drains the ready head of the window, yields once so that answers on their way may join, encodes everything into
// one block and writes it. The slots are freed after the write: while none is free the reader waits, and flow control tells
// the peer.
//
// The writer goroutine starts with the first request after the login: a client keeps many authenticated streams that never
// ask anything, and they cost no goroutine. Before it exists the reader is the stream's only writer.
type answers struct {
	s      *session
	window *ring.Window[answer]
	wake   *ring.Bell // rung when the head of the window became ready, or the window should close
	space  *ring.Bell // rung when slots were freed
	began  bool       // owned by the reader: the writer exists
	done   chan struct{}

	// owed[seq % len] describes the slot: written by the reader when it reserves, read by the writer when it drains; the
	// window's lock orders the two.
	owed []owedAnswer
	next uint64 // owned by the writer: sequence of the next answer to leave

	writes atomic.Int32 // cache writes submitted and not done; the reader waits for them before a read

	closing atomic.Bool // no more reservations; the writer ends when nothing is outstanding
	failed  atomic.Bool // the stream can no longer be written

	// writing is the monotonic time in nanoseconds at which the write in progress began, 0 when none is. The stall sweep
	// reads it.
	writing atomic.Int64
}

// begin starts the writer. Called by the reader.
func (a *answers) begin() {
	if a.began {
		return
	}
	invariants.Check(a.s.send != nil, "an answer is owed on a publish-only stream")
	a.began = true
	a.window = ring.NewWindow[answer](a.s.c.srv.cfg.PublishWindow)
	a.owed = make([]owedAnswer, a.s.c.srv.cfg.PublishWindow)
	a.wake, a.space = ring.NewBell(), ring.NewBell()
	a.done = make(chan struct{})
	go a.s.write()
}

// reserve takes the next slot, waiting while the window is full. false means the stream is over. Called by the reader.
//
//felix:hot
func (a *answers) reserve(f form, id wire.RequestID) (seq uint64, ok bool) {
	a.begin()
	for {
		if seq, ok = a.window.Reserve(); ok {
			a.owed[seq%uint64(len(a.owed))] = owedAnswer{id: id, form: f}
			a.s.c.srv.n.owed.Add(1)
			return seq, true
		}
		if a.failed.Load() || !a.space.Wait(a.s.done) {
			return 0, false
		}
	}
}

// Complete implements shard.Replier: whoever finished the work of seq hands over its outcome. Blocks in it belong to the
// window from here on.
//
//felix:hot
func (a *answers) Complete(seq uint64, out shard.Outcome) { a.complete(seq, answer{Outcome: out}) }

// writeAnswers is the window as the replier of cache writes: a read of the stream may be waiting for them.
type writeAnswers answers

// Complete implements shard.Replier.
//
//felix:hot
func (w *writeAnswers) Complete(seq uint64, out shard.Outcome) {
	a := (*answers)(w)
	a.complete(seq, answer{Outcome: out})
	if a.writes.Add(-1) == 0 {
		a.space.Ring()
	}
}

//felix:hot
func (a *answers) complete(seq uint64, v answer) {
	accepted, wake := a.window.Complete(seq, v)
	if !accepted {
		v.release(a.s)
		return
	}
	if wake {
		a.wake.Ring()
	}
}

// release gives back what an answer that will not be written owns.
func (v *answer) release(s *session) {
	if v.Ref.Valid() {
		v.Ref.Release()
	}
	if v.sub != nil {
		v.sub.abandon()
	}
	s.c.srv.n.owed.Add(-1)
}

// finish tells the writer that no more requests come and waits until it has written what is owed. Called by the reader.
func (a *answers) finish() {
	if !a.began {
		return
	}
	a.closing.Store(true)
	a.wake.Ring()
	<-a.done
}

// write is the stream's only writer.
func (s *session) write() {
	a := &s.answers
	defer close(a.done)
	var batch []answer
	for {
		batch = a.window.Drain(batch[:0])
		if len(batch) == 0 {
			if a.closing.Load() && a.window.Outstanding() == 0 {
				break
			}
			if !a.wake.Wait(s.done) {
				a.failed.Store(true)
				break
			}
			continue
		}
		// Callers share packets: one yield lets answers that are being completed right now join this write.
		runtime.Gosched()
		batch = a.window.Drain(batch)
		if !s.writeBatch(batch) {
			a.failed.Store(true)
			a.space.Ring()
			break
		}
		s.settle(batch)
	}
	a.failed.Store(true)
	for _, v := range a.window.Close() {
		v.release(s)
	}
	// Slots reserved and never completed are released by their Complete, which the closed window refuses.
	a.space.Ring()
}

// settle frees the slots of answers that were written and starts the deliveries that waited for them.
//
//felix:hot
func (s *session) settle(batch []answer) {
	for i := range batch {
		if v := &batch[i]; v.sub != nil {
			v.sub.start()
		}
		batch[i] = answer{}
	}
	s.answers.window.Release(len(batch))
	s.answers.space.Ring()
	n := s.c.srv.n
	n.owed.Add(-int64(len(batch)))
	n.answers.Add(uint64(len(batch)))
}

// maxAnswerWrite bounds one combined write.
const maxAnswerWrite = 64 << 10

// writeBatch encodes the answers and writes them, in as few writes as maxAnswerWrite allows. It releases the blocks of all of
// them, written or not.
//
//felix:hot
func (s *session) writeBatch(batch []answer) bool {
	out := s.c.srv.rooms.Arena.Acquire(answerBatchBytes(batch))
	buf := out.Bytes()[:0]
	ok := true
	for i := range batch {
		v := &batch[i]
		if v.Ref.Valid() && len(v.Ref.Bytes()) > maxAnswerWrite/4 {
			// A large frame goes straight from its block.
			ok = ok && s.flush(buf)
			buf = buf[:0]
			ok = ok && s.flush(v.Ref.Bytes())
		} else {
			if cap(buf)-len(buf) < answerBytes(v) {
				ok = ok && s.flush(buf)
				buf = buf[:0]
			}
			buf = s.appendAnswer(buf, v, s.answers.owed[(s.answers.next+uint64(i))%uint64(len(s.answers.owed))])
		}
		if v.Ref.Valid() {
			v.Ref.Release()
			v.Ref = arena.Ref{}
		}
	}
	ok = ok && s.flush(buf)
	s.answers.next += uint64(len(batch))
	out.Release()
	if !ok {
		for i := range batch {
			batch[i].release(s)
		}
	}
	return ok
}

// answerBytes bounds the encoded size of one small answer.
//
//felix:hot
func answerBytes(v *answer) int {
	n := 192
	if v.Ref.Valid() {
		n += len(v.Ref.Bytes())
	}
	if v.Refusal != nil {
		n += 2*len(v.Refusal.Message) + 2*len(v.Refusal.Reason) // JSON may escape
	}
	return n
}

//felix:hot
func answerBatchBytes(batch []answer) int {
	n := 0
	for i := range batch {
		if n += answerBytes(&batch[i]); n >= maxAnswerWrite {
			return maxAnswerWrite
		}
	}
	return n
}

//felix:hot
func (s *session) flush(b []byte) bool {
	if len(b) == 0 {
		return true
	}
	s.answers.writing.Store(int64(s.c.srv.rooms.Clock.Monotonic()) | 1)
	_, err := s.send.Write(b)
	s.answers.writing.Store(0)
	s.c.srv.n.answerWrites.Inc()
	return err == nil
}

// appendAnswer encodes one answer in the form its request asked for and this peer negotiated.
//
//felix:hot
func (s *session) appendAnswer(dst []byte, v *answer, o owedAnswer) []byte {
	if v.Kind == outcomeFrame {
		return append(dst, v.Ref.Bytes()...)
	}
	coded := s.peerFeatures&wire.FeatureErrorCodes != 0
	isRefused := v.Kind == shard.OutcomeRefused
	switch o.form {
	case formPublishAck:
		ack := wire.PublishAck{RequestID: o.id, OK: !isRefused}
		if isRefused {
			ack.Refusal = *v.Refusal
		}
		return wire.AppendPublishAck(dst, s.peerFlags, &ack)
	case formPublishJSON:
		if isRefused {
			return wire.AppendPublishError(dst, o.id, v.Refusal, coded)
		}
		return wire.AppendPublishOK(dst, o.id, 0, false)
	case formListKeys:
		return wire.AppendListKeysRefused(dst, o.id, v.Refusal)
	}
	if isRefused {
		return wire.AppendError(dst, v.Refusal, coded)
	}
	switch o.form {
	case formCacheOK:
		return wire.AppendCacheOK(dst, o.id)
	case formCondition:
		return wire.AppendCacheConditionResult(dst, o.id, v.Flag, v.Version, v.Version != 0)
	}
	return wire.AppendOK(dst)
}
