//go:build !race

package shard

import (
	"runtime"
	"testing"
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
	var r replies
	s := New(Config{Executors: 1, Handlers: []func(*Lane, *Job) Verdict{
		func(_ *Lane, j *Job) Verdict { j.Answer(Outcome{}); return Done },
		func(_ *Lane, j *Job) Verdict {
			if j.Step == 0 {
				j.Step = 1
				return Wait
			}
			return Done
		},
	}})
	l := s.NewLane(s.Tenant("t"), nil)
	gates := []struct {
		name string
		f    func()
	}{
		{"Submit/idle", func() {
			j := Job{Reply: &r, Bytes: 100}
			s.Submit(l, &j, 0, nil)
		}},
		{"Submit/queued", func() {
			s.occupy()
			for range 8 {
				j := Job{Reply: &r, Bytes: 100}
				s.Submit(l, &j, 0, nil)
			}
			s.vacate()
			for s.turnOnce() {
			}
		}},
		{"Submit/wait", func() {
			j := Job{Kind: 1}
			s.Submit(l, &j, 0, nil)
			l.Wake()
			s.turnOnce()
		}},
	}
	for _, g := range gates {
		if n := minAllocs(g.f); n != 0 {
			t.Errorf("%s: %v allocations per run, want 0", g.name, n)
		}
	}
}
