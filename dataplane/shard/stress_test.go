package shard

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestStress runs many submitters, lanes that park and wakers against each other and checks what must hold whatever
// the schedule: one job at a time in a lane, a submitter's jobs in its order, at most Executors lanes at once, every
// accepted job answered exactly once, everything given back.
func TestStress(t *testing.T) {
	const tenants, lanesEach, submitters, jobsEach = 3, 3, 8, 2000
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	a := newArena(t)
	h := &stress{t: t, wake: make(chan *Lane, 64)}
	s := New(Config{Executors: 2, DepthPerTenant: 4, QuantumJobs: 4, QuantumBytes: 2000,
		Handlers: []func(*Lane, *Job) Verdict{h.handle}})
	s.Start()
	var lanes []*Lane
	for i := range tenants * lanesEach {
		lanes = append(lanes, s.NewLane(s.Tenant(string(rune('a'+i%tenants))), new(stressLane)))
	}
	var wakers, work sync.WaitGroup
	for range 2 {
		wakers.Add(1)
		go func() {
			defer wakers.Done()
			for l := range h.wake {
				l.Wake()
			}
		}()
	}
	var accepted, refused atomic.Int64
	for i := range submitters {
		work.Add(1)
		go func() {
			defer work.Done()
			rng := rand.New(rand.NewPCG(seed, uint64(i)))
			var r replies
			sent := 0
			for n := range jobsEach {
				l := lanes[rng.IntN(len(lanes))]
				j := Job{RequestID: uint64(i), Arg0: uint64(n) + 1, Bytes: rng.Int64N(3000), Seq: uint64(n),
					Arg1: uint64(rng.IntN(12)), Ref: a.Acquire(64), Reply: &r}
				wait := []time.Duration{0, -1, time.Millisecond}[rng.IntN(3)]
				switch s.Submit(l, &j, wait, nil) {
				case Accepted:
					accepted.Add(1)
					sent++
				default:
					refused.Add(1)
					j.TakeRef().Release()
				}
			}
			h.sent.Add(int64(sent))
			h.replies.Store(i, &r)
		}()
	}
	work.Wait()
	if err := s.Drain(context.Background()); err != nil {
		t.Fatal(err)
	}
	close(h.wake)
	wakers.Wait()
	s.Close()
	s.checkQuiet(t)
	answered := int64(0)
	h.replies.Range(func(_, v any) bool {
		answered += v.(*replies).n.Load()
		return true
	})
	if answered != h.sent.Load() {
		t.Errorf("%d jobs were answered, %d accepted", answered, h.sent.Load())
	}
	if h.mostRunning.Load() > 2 {
		t.Errorf("%d lanes ran at once, want at most 2", h.mostRunning.Load())
	}
	t.Logf("%d accepted, %d refused, %d waits", accepted.Load(), refused.Load(), h.waits.Load())
}

type replies struct{ n atomic.Int64 }

func (r *replies) Complete(_ uint64, out Outcome) { r.n.Add(1) }

type stressLane struct {
	busy atomic.Int32
	last [16]uint64 // by submitter; owned by the lane
}

type stress struct {
	t                    *testing.T
	wake                 chan *Lane
	running, mostRunning atomic.Int32
	waits, sent          atomic.Int64
	replies              sync.Map
}

func (h *stress) handle(l *Lane, j *Job) Verdict {
	if n := h.running.Add(1); n > h.mostRunning.Load() {
		h.mostRunning.Store(n)
	}
	defer h.running.Add(-1)
	o := l.Owner().(*stressLane)
	if o.busy.Add(1) != 1 {
		h.t.Error("two jobs of a lane run at once")
	}
	defer o.busy.Add(-1)
	switch {
	case j.Arg1 == 1 && j.Step == 0: // woken from elsewhere, perhaps before Wait is said
		j.Step = 1
		h.waits.Add(1)
		h.wake <- l
		return Wait
	case j.Arg1 == 2 && j.Step < 3: // woken by itself
		j.Step++
		l.Wake()
		return Wait
	}
	if j.Arg0 <= o.last[j.RequestID] {
		h.t.Errorf("submitter %d: job %d runs after %d", j.RequestID, j.Arg0, o.last[j.RequestID])
	}
	o.last[j.RequestID] = j.Arg0
	j.Answer(Outcome{})
	return Done
}

// TestCloseRace closes lanes and the scheduler under submitters: whatever was accepted is answered, once.
func TestCloseRace(t *testing.T) {
	a := newArena(t)
	for range 50 {
		var answers replies
		s := New(Config{Executors: 2, DepthPerTenant: 2, Handlers: []func(*Lane, *Job) Verdict{
			func(l *Lane, j *Job) Verdict {
				if j.Step < uint8(j.Arg0) {
					j.Step++
					go l.Wake()
					return Wait
				}
				j.Answer(Outcome{})
				return Done
			}}})
		s.Start()
		var accepted atomic.Int64
		var wg sync.WaitGroup
		for i := range 4 {
			l := s.NewLane(s.Tenant("t"), nil)
			for k := range 2 {
				wg.Add(1)
				go func() {
					defer wg.Done()
					for n := range 20 {
						j := Job{Arg0: uint64((i + n) % 3), Ref: a.Acquire(10), Reply: &answers}
						if s.Submit(l, &j, -1, nil) == Accepted {
							accepted.Add(1)
						} else {
							j.TakeRef().Release()
						}
						if i == 0 && k == 0 && n == 10 {
							l.Close()
						}
						if i == 1 && k == 0 && n == 15 {
							s.Close()
						}
					}
				}()
			}
		}
		wg.Wait()
		s.Close()
		s.checkQuiet(t)
		if answers.n.Load() != accepted.Load() {
			t.Fatalf("%d answers for %d accepted jobs", answers.n.Load(), accepted.Load())
		}
	}
}
