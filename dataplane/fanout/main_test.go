package fanout

import (
	"encoding/binary"
	"testing"

	"go.uber.org/goleak"

	"github.com/felix-go/felix/dataplane/arena"
	"github.com/felix-go/felix/dataplane/stat"
	"github.com/felix-go/felix/dataplane/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rooms are what envelopes and queues are made from, with checks that all of it comes back.
type rooms struct {
	arena    *arena.Arena
	stats    *stat.Set
	encoder  *Encoder
	delivery *Delivery
	egress   *Egress
	base     wire.Offset
}

func newRooms(t testing.TB, egressBytes int64) *rooms {
	stats := stat.NewSet()
	r := &rooms{arena: arena.New(), stats: stats, encoder: NewEncoder(stats), delivery: NewDelivery(stats),
		egress: NewEgress(egressBytes)}
	t.Cleanup(func() {
		if n := r.arena.Outstanding(); n != 0 {
			t.Errorf("%d blocks are still out\n%s", n, r.arena.Leaks())
		}
		if n := r.delivery.length.Load(); n != 0 {
			t.Errorf("felix_sub_queue_len is %d, want 0", n)
		}
		if n := r.egress.Bytes(); n != 0 {
			t.Errorf("the egress budget keeps %d bytes", n)
		}
		if n := r.egress.queues.Load(); n != 0 {
			t.Errorf("the egress budget keeps %d queues", n)
		}
	})
	return r
}

// envelope returns a batch of the payloads at the next offsets.
func (r *rooms) envelope(payloads ...string) *Envelope {
	n, sum := 4, 0
	for _, p := range payloads {
		n += 4 + len(p)
		sum += len(p)
	}
	ref := r.arena.Acquire(Headroom + n)
	b := binary.BigEndian.AppendUint32(ref.Bytes()[Headroom:Headroom], uint32(len(payloads)))
	for _, p := range payloads {
		b = binary.BigEndian.AppendUint32(b, uint32(len(p)))
		b = append(b, p...)
	}
	e := r.encoder.Envelope(ref, Headroom, n, uint32(len(payloads)), r.base, sum)
	r.base += wire.Offset(len(payloads))
	return e
}

// sized returns a batch of one record whose frame has size bytes.
func (r *rooms) sized(size int) *Envelope {
	return r.envelope(string(make([]byte, size-wire.HeaderLen-8)))
}

func (r *rooms) queue(c QueueConfig) *Queue {
	c.Egress, c.Delivery = r.egress, r.delivery
	return NewQueue(c)
}

// wakes counts calls.
type wakes struct{ n int }

func (w *wakes) Wake() { w.n++ }
