package shard

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"
)

func TestJobSize(t *testing.T) {
	if n := unsafe.Sizeof(Job{}); n > 192 {
		t.Errorf("a Job has %d bytes, at most 192 are copied per submit", n)
	}
}

// TestInlineOnCaller shows that an idle lane runs on the goroutine that submits: there is no other.
func TestInlineOnCaller(t *testing.T) {
	ran := false
	s := New(Config{Handlers: []func(*Lane, *Job) Verdict{func(*Lane, *Job) Verdict { ran = true; return Done }}})
	l := s.NewLane(s.Tenant("t"), nil)
	if r := s.Submit(l, &Job{}, 0, nil); r != Accepted || !ran {
		t.Fatalf("submit says %s, ran %t", resultName(r), ran)
	}
	s.checkQuiet(t)
}

// TestReaderIsNotCaptured keeps a lane busy from a second submitter: the first gets away after its quantum.
func TestReaderIsNotCaptured(t *testing.T) {
	const quantum = 3
	var s *Scheduler
	var l *Lane
	jobs := 0
	s = New(Config{Executors: 1, QuantumJobs: quantum, Handlers: []func(*Lane, *Job) Verdict{
		func(*Lane, *Job) Verdict {
			jobs++
			if r := s.Submit(l, &Job{}, 0, nil); r != Accepted {
				t.Errorf("submit from a handler says %s", resultName(r))
			}
			return Done
		}}})
	l = s.NewLane(s.Tenant("t"), nil)
	s.Submit(l, &Job{}, 0, nil)
	if jobs != quantum {
		t.Errorf("the submitter ran %d jobs, want %d", jobs, quantum)
	}
	s.mu.Lock()
	if l.state != laneReady || s.grants != 1 {
		t.Errorf("the lane has state %d and %d grants, want ready and one", l.state, s.grants)
	}
	s.mu.Unlock()
	l.Close()
	s.turnOnce()
	s.Close()
	s.checkQuiet(t)
}

// TestReaderYieldsToOthers lets another lane become ready while a submitter runs its own: it does not go on with what
// was queued behind its job.
func TestReaderYieldsToOthers(t *testing.T) {
	var s *Scheduler
	var a, b *Lane
	var order []uint64
	s = New(Config{Executors: 1, Handlers: []func(*Lane, *Job) Verdict{func(_ *Lane, j *Job) Verdict {
		order = append(order, j.RequestID)
		if j.RequestID == 1 {
			s.Submit(b, &Job{RequestID: 2}, 0, nil)
			s.Submit(a, &Job{RequestID: 3}, 0, nil)
		}
		return Done
	}}})
	a, b = s.NewLane(s.Tenant("a"), nil), s.NewLane(s.Tenant("b"), nil)
	s.Submit(a, &Job{RequestID: 1}, 0, nil)
	if !slices.Equal(order, []uint64{1}) {
		t.Errorf("the submitter ran %v, want only its own job", order)
	}
	for s.turnOnce() {
	}
	if !slices.Equal(order, []uint64{1, 2, 3}) {
		t.Errorf("jobs ran as %v, want the other tenant first", order)
	}
	s.checkQuiet(t)
}

// TestCloseUnderHandler closes a lane while its handler is about to wait: it is called once more.
func TestCloseUnderHandler(t *testing.T) {
	calls := 0
	s := New(Config{Handlers: []func(*Lane, *Job) Verdict{func(l *Lane, _ *Job) Verdict {
		calls++
		l.Close()
		return Verdict(2 - calls) // Wait, then Done
	}}})
	s.Submit(s.NewLane(s.Tenant("t"), nil), &Job{}, 0, nil)
	if calls != 2 {
		t.Errorf("the handler was called %d times, want 2", calls)
	}
	s.checkQuiet(t)
}

// full returns a scheduler whose one slot is occupied and whose tenant has no room.
func full(t *testing.T) (*Scheduler, *Lane) {
	s := New(Config{Executors: 1, DepthPerTenant: 1, Handlers: []func(*Lane, *Job) Verdict{
		func(*Lane, *Job) Verdict { return Done }}})
	l := s.NewLane(s.Tenant("t"), nil)
	s.occupy()
	if r := s.Submit(l, &Job{}, 0, nil); r != Accepted {
		t.Fatalf("the first job is %s", resultName(r))
	}
	return s, l
}

func TestWaitTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, l := full(t)
		for range 3 { // the waiter and its timer are used again
			start := time.Now()
			if r := s.Submit(l, &Job{}, time.Second, nil); r != Full {
				t.Errorf("submit says %s, want full", resultName(r))
			}
			if d := time.Since(start); d != time.Second {
				t.Errorf("it waited %s, want 1s", d)
			}
		}
		s.vacate()
		for s.turnOnce() {
		}
		s.Close()
		s.checkQuiet(t)
	})
}

func TestWaitEnds(t *testing.T) {
	tests := []struct {
		name string
		end  func(s *Scheduler, l *Lane, done chan struct{})
		want Result
	}{
		{"done is closed", func(_ *Scheduler, _ *Lane, done chan struct{}) { close(done) }, Cancelled},
		{"the lane is closed", func(_ *Scheduler, l *Lane, _ chan struct{}) { l.Close() }, Closed},
		{"the scheduler drains", func(s *Scheduler, _ *Lane, _ chan struct{}) {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			s.Drain(ctx)
		}, Closed},
		{"room appears", func(s *Scheduler, _ *Lane, _ chan struct{}) {
			s.vacate()
			for s.turnOnce() {
			}
		}, Accepted},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, l := full(t)
				done := make(chan struct{})
				got := make(chan Result, 1)
				go func() { got <- s.Submit(l, &Job{}, -1, done) }()
				synctest.Wait()
				tt.end(s, l, done)
				if r := <-got; r != tt.want {
					t.Errorf("submit says %s, want %s", resultName(r), resultName(tt.want))
				}
				s.mu.Lock()
				occupied := s.slots > s.grants
				s.mu.Unlock()
				if occupied {
					s.vacate()
				}
				for s.turnOnce() {
				}
				s.Close()
				s.checkQuiet(t)
			})
		})
	}
}

// TestGrantBeatsGivingUp lets the timer fire and the grant come at the same instant: the answer must agree with what
// happened to the job.
func TestGrantBeatsGivingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ran := 0
		s := New(Config{Executors: 1, DepthPerTenant: 1, Handlers: []func(*Lane, *Job) Verdict{
			func(_ *Lane, j *Job) Verdict { ran += int(j.Count); return Done }}})
		l := s.NewLane(s.Tenant("t"), nil)
		for range 1000 {
			ran = 0
			s.occupy()
			s.Submit(l, &Job{}, 0, nil)
			var wg sync.WaitGroup
			wg.Add(1)
			go func() {
				defer wg.Done()
				time.Sleep(time.Millisecond)
				s.vacate()
				for s.turnOnce() {
				}
			}()
			r := s.Submit(l, &Job{Count: 1}, time.Millisecond, nil)
			wg.Wait()
			for s.turnOnce() {
			}
			if accepted := r == Accepted; accepted != (ran == 1) {
				t.Fatalf("submit says %s, the job ran %d times", resultName(r), ran)
			}
		}
		s.Close()
		s.checkQuiet(t)
	})
}

func TestDrainWaitsForParked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Config{Handlers: []func(*Lane, *Job) Verdict{func(_ *Lane, j *Job) Verdict {
			if j.Step == 0 {
				j.Step = 1
				return Wait
			}
			return Done
		}}})
		s.Start()
		l := s.NewLane(s.Tenant("t"), nil)
		s.Submit(l, &Job{}, 0, nil)
		ctx, cancel := context.WithTimeoutCause(context.Background(), time.Second, errEnough)
		defer cancel()
		if err := s.Drain(ctx); !errors.Is(err, errEnough) {
			t.Errorf("drain says %v with a parked job, want the cause of its context", err)
		}
		l.Wake()
		if err := s.Drain(context.Background()); err != nil {
			t.Errorf("drain says %v", err)
		}
		if r := s.Submit(l, &Job{}, -1, nil); r != Closed {
			t.Errorf("submit after drain says %s", resultName(r))
		}
		s.Close()
		s.checkQuiet(t)
	})
}

var errEnough = errors.New("waited long enough")
