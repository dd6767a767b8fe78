package stream

import (
	"encoding/binary"
	"fmt"
	"testing"

	"go.uber.org/goleak"

	"github.com/felix-go/felix/dataplane/arena"
	"github.com/felix-go/felix/dataplane/fanout"
	"github.com/felix-go/felix/dataplane/stat"
	"github.com/felix-go/felix/dataplane/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rooms are what shards, batches and queues are made from, with checks that all of it comes back.
type rooms struct {
	arena    *arena.Arena
	stats    *stat.Set
	encoder  *fanout.Encoder
	delivery *fanout.Delivery
	egress   *fanout.Egress
	budget   *ReplayBudget
}

func newRooms(t testing.TB, replayBytes int64) *rooms {
	stats := stat.NewSet()
	r := &rooms{arena: arena.New(), stats: stats, encoder: fanout.NewEncoder(stats),
		delivery: fanout.NewDelivery(stats), egress: fanout.NewEgress(0), budget: NewReplayBudget(replayBytes)}
	t.Cleanup(func() {
		if n := r.arena.Outstanding(); n != 0 {
			t.Errorf("%d blocks are still out\n%s", n, r.arena.Leaks())
		}
		if n := r.egress.Bytes(); n != 0 {
			t.Errorf("the egress budget keeps %d bytes", n)
		}
		if n := r.budget.Bytes(); n != 0 {
			t.Errorf("the replay budget keeps %d bytes", n)
		}
	})
	return r
}

func (r *rooms) shard(records int, bytes int64) *Shard {
	return New(Config{RingMaxRecords: records, RingMaxBytes: bytes, Budget: r.budget, Encoder: r.encoder, Arena: r.arena})
}

func (r *rooms) queue(items int, p fanout.Policy) *fanout.Queue {
	return fanout.NewQueue(fanout.QueueConfig{MaxItems: items, Policy: p, Egress: r.egress, Delivery: r.delivery})
}

// batch returns count records at base; the payload of each is its offset in decimal.
func (r *rooms) batch(base wire.Offset, count uint32) *fanout.Envelope {
	ref := r.arena.Acquire(fanout.Headroom + 4 + 24*int(count))
	b := binary.BigEndian.AppendUint32(ref.Bytes()[fanout.Headroom:fanout.Headroom], count)
	sum := 0
	for i := range count {
		at := len(b)
		b = append(b, 0, 0, 0, 0)
		b = fmt.Appendf(b, "%d", base+wire.Offset(i))
		n := len(b) - at - 4
		binary.BigEndian.PutUint32(b[at:], uint32(n))
		sum += n
	}
	return r.encoder.Envelope(ref, fanout.Headroom, len(b), count, base, sum)
}

// publish claims and completes one batch and reports whether it is done.
func (r *rooms) publish(t testing.TB, s *Shard, count uint32, w *wakes) bool {
	t.Helper()
	base, ok := s.Claim(count)
	if !ok {
		t.Fatal("the claim was refused")
	}
	return s.Complete(r.batch(base, count), w)
}

// wakes counts calls.
type wakes struct{ n int }

func (w *wakes) Wake() { w.n++ }

// reader collects the offsets of what a subscriber got.
type reader struct {
	queue   *fanout.Queue
	sub     *Subscriber
	offsets []wire.Offset
	failed  string
}

// read takes over the envelopes and checks each record against its envelope.
func (rd *reader) read(batch []*fanout.Envelope) {
	for _, e := range batch {
		body := e.Body()
		count, rest := binary.BigEndian.Uint32(body), body[4:]
		payload := 0
		for i := range count {
			rec, more, ok := wire.NextRecord(rest)
			at := e.Base() + wire.Offset(i)
			if !ok || string(rec) != fmt.Sprint(uint64(at)) {
				rd.failed = fmt.Sprintf("the record at %d is %q", at, rec)
			}
			payload += len(rec)
			rest = more
			rd.offsets = append(rd.offsets, at)
		}
		if count != e.Count() || len(rest) > 0 || payload != e.PayloadBytes() || len(e.Frame()) != e.Size() {
			rd.failed = fmt.Sprintf("the batch at %d does not agree with its envelope", e.Base())
		}
		e.Release()
	}
}

// take reads everything that is queued.
func (rd *reader) take() fanout.State {
	batch, state := rd.queue.Take(nil)
	rd.read(batch)
	return state
}

// check compares what was read with the offsets from..to-1.
func (rd *reader) check(t interface {
	Helper()
	Errorf(string, ...any)
}, name string, from, to wire.Offset) {
	t.Helper()
	if rd.failed != "" {
		t.Errorf("%s: %s", name, rd.failed)
	}
	for i, at := range rd.offsets {
		if at != from+wire.Offset(i) {
			t.Errorf("%s: record %d has offset %d, want %d", name, i, at, from+wire.Offset(i))
			return
		}
	}
	if n := wire.Offset(len(rd.offsets)); n != to-from {
		t.Errorf("%s: %d records, want %d..%d", name, n, from, to)
	}
}

func (r *rooms) join(t testing.TB, s *Shard, items int, p fanout.Policy, start wire.StartPosition) *reader {
	t.Helper()
	rd := &reader{queue: r.queue(items, p)}
	sub, backlog, refused, ok := s.Subscribe(rd.queue, start)
	if refused != nil || !ok {
		t.Fatalf("subscribe: %+v, %t", refused, ok)
	}
	rd.sub = sub
	rd.read(backlog)
	return rd
}
