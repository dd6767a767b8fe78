package cache

import (
	"context"
	"runtime/pprof"
	"time"
)

const (
	// sweepInterval is how long an expired entry may keep its memory when the sweep keeps up.
	sweepInterval = time.Second
	// sweepEntries bounds what one pass takes out; if more is due the next pass follows after sweepPause, so
	// that a mass expiry costs a share of one processor and not all of it.
	sweepEntries = 16384
	sweepPause   = 10 * time.Millisecond
)

// Start starts the sweep. REQUIRES: called at most once, before Close.
func (s *Store) Start() {
	s.stop, s.done = make(chan struct{}), make(chan struct{})
	go pprof.Do(context.Background(), pprof.Labels("role", "cache-sweep"), s.run)
}

// run is the one goroutine that gives expired entries' memory back. It owns no entry; it may block on a
// stripe's lock.
func (s *Store) run(context.Context) {
	defer close(s.done)
	t := s.config.Clock.NewTimer(sweepInterval)
	defer t.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-t.C():
		}
		if s.sweep() {
			t.Reset(sweepPause)
		} else {
			t.Reset(sweepInterval)
		}
	}
}

// sweep takes out entries that have expired, up to sweepEntries, and reports whether it stopped at that
// bound.
//
// Expiry itself needs no sweep: every read and condition compares the entry's deadline with the boot clock,
// so an entry is absent from the moment its time has passed. That clock neither steps nor goes back and runs
// on while the machine is suspended; hence an expired entry stays expired, and a step of the wall clock,
// either way, changes no lifetime. (A deadline by wall clock would resurrect leases after a backward step and
// lose sessions after a forward one.) The sweep only brings memory back, in order of deadline, so it touches
// nothing that is not due.
func (s *Store) sweep() (more bool) {
	now := s.now()
	left := sweepEntries
	for i := range s.stripes {
		st := &s.stripes[i]
		for st.soonest.Load() <= int64(now) {
			if left <= 0 {
				return true
			}
			left -= s.sweepSome(st, now)
		}
	}
	return false
}

// sweepSome takes out up to one batch of st's expired entries and returns their number.
func (s *Store) sweepSome(st *stripe, now time.Duration) int {
	var dead batch
	st.mu.Lock()
	for !dead.full() && st.expire(now, &dead) {
	}
	st.mu.Unlock()
	s.used.Add(-dead.bytes)
	dead.release()
	s.expired.Add(uint64(dead.n))
	return dead.n
}

// expire takes out the entry whose deadline is next, if it has passed.
func (st *stripe) expire(now time.Duration, dead *batch) bool {
	if len(st.due.line) == 0 || st.due.line[0].at > now {
		return false
	}
	e := st.due.line[0].e
	dead.add(e.charge(), st.remove(e))
	return true
}
