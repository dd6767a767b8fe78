//go:build !race

package fanout

import (
	"runtime"
	"testing"

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

func TestAllocs(t *testing.T) {
	if invariants.Enabled {
		return // dead envelopes are not used again
	}
	r := newRooms(t, 1<<20)
	q := r.queue(QueueConfig{})
	defer q.Close(EndCancelled)
	e := r.sized(300)
	defer e.Release()
	var batch []*Envelope
	s := &discardStream{newFakeStream()}
	defer s.cancel()
	p := &Pump{config: PumpConfig{Stream: s, Queue: q, Arena: r.arena, MaxWriteBytes: DefaultMaxWriteBytes}}
	gates := []struct {
		name string
		f    func()
	}{
		{"Offer+Take", func() {
			for range 8 {
				q.Offer(e)
			}
			batch, _ = q.Take(batch[:0])
			release(batch)
		}},
		{"Envelope+Frame", func() {
			e := r.encoder.Envelope(r.arena.Acquire(Headroom+100), Headroom, 100, 1, 0, 92)
			e.Frame()
			e.Release()
		}},
		{"write", func() {
			for range 8 {
				q.Offer(e)
			}
			p.batch, _ = q.TakeUpTo(p.batch[:0], DefaultMaxWriteBytes)
			if err := p.write(p.batch); err != nil {
				t.Error(err)
			}
			release(p.batch)
			p.idle()
		}},
	}
	for _, g := range gates {
		if n := minAllocs(g.f); n != 0 {
			t.Errorf("%s: %v allocations per run, want 0", g.name, n)
		}
	}
}
