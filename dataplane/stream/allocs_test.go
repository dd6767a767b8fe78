//go:build !race

package stream

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/felix-go/felix/dataplane/fanout"
	"github.com/felix-go/felix/internal/invariants"
)

// minAllocs returns the allocations of the best of several runs: a collection that empties a pool in the middle of
// one must not fail the gate.
func minAllocs(f func()) float64 {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	best := testing.AllocsPerRun(1000, f)
	for range 4 {
		best = min(best, testing.AllocsPerRun(1000, f))
	}
	return best
}

// TestAllocs is the gate for a batch that is published, kept for replay, and taken by every subscriber.
func TestAllocs(t *testing.T) {
	if invariants.Enabled {
		return // dead envelopes are not used again
	}
	for _, subs := range []int{0, 1, 10} {
		r := newRooms(t, 0)
		p := newPublisher(t, r, 256, subs)
		if n := minAllocs(p.publish); n != 0 {
			t.Errorf("Claim+Complete with %d subscribers: %v allocations per run, want 0", subs, n)
		}
	}
}

// publisher publishes batches of one record to subscribers that read at once.
type publisher struct {
	r       *rooms
	s       *Shard
	size    int
	readers []*fanout.Queue
	taken   []*fanout.Envelope
}

func newPublisher(t testing.TB, r *rooms, size, subs int) *publisher {
	p := &publisher{r: r, s: r.shard(1024, 1<<20), size: size}
	for range subs {
		p.readers = append(p.readers, r.join(t, p.s, 64, fanout.DropNew, latest).queue)
	}
	t.Cleanup(func() { p.s.End(fanout.EndCancelled) })
	return p
}

func (p *publisher) publish() {
	n := 8 + p.size
	base, _ := p.s.Claim(1)
	ref := p.r.arena.Acquire(fanout.Headroom + n)
	p.s.Complete(p.r.encoder.Envelope(ref, fanout.Headroom, n, 1, base, p.size), nil)
	for _, q := range p.readers {
		p.taken, _ = q.Take(p.taken[:0])
		for _, e := range p.taken {
			e.Frame()
			e.Release()
		}
	}
}

func BenchmarkStreamComplete(b *testing.B) {
	for _, size := range []int{256, 4096} {
		for _, subs := range []int{0, 1, 10} {
			b.Run(fmt.Sprintf("size=%d/subs=%d", size, subs), func(b *testing.B) {
				p := newPublisher(b, newRooms(b, 0), size, subs)
				b.ReportAllocs()
				b.SetBytes(int64(size * max(subs, 1)))
				for b.Loop() {
					p.publish()
				}
			})
		}
	}
}
