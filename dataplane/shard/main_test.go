package shard

import (
	"flag"
	"testing"

	"go.uber.org/goleak"

	"github.com/felix-go/felix/dataplane/arena"
)

var rewrite = flag.Bool("rewrite", false, "write the expected output of the scripts in testdata")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newArena returns an arena that must have every block back when the test ends.
func newArena(t testing.TB) *arena.Arena {
	a := arena.New()
	t.Cleanup(func() {
		if n := a.Outstanding(); n != 0 {
			t.Errorf("%d blocks are still out\n%s", n, a.Leaks())
		}
	})
	return a
}

// turnOnce spends one granted slot on one turn of one lane, as an executor would, and reports whether there was one.
func (s *Scheduler) turnOnce() bool {
	s.mu.Lock()
	if s.grants == 0 {
		s.mu.Unlock()
		return false
	}
	s.grants--
	l := s.nextLocked()
	s.mu.Unlock()
	if l == nil {
		return true
	}
	s.runTurn(l)
	s.mu.Lock()
	s.releaseSlotLocked()
	s.mu.Unlock()
	return true
}

// occupy takes a slot, as a handler that is running elsewhere would; vacate gives it back.
func (s *Scheduler) occupy() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.slots == s.config.Executors {
		panic("no slot is free")
	}
	s.slots++
}

func (s *Scheduler) vacate() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.releaseSlotLocked()
}

// checkQuiet fails unless the scheduler is as empty as when it was made.
func (s *Scheduler) checkQuiet(t testing.TB) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.jobs != 0 || s.queued != 0 || s.slots != 0 || s.grants != 0 || s.turn.ready != 0 || s.line.first != nil {
		t.Errorf("not quiet: %d jobs, %d queued, %d slots, %d grants, %d ready, waiters %t",
			s.jobs, s.queued, s.slots, s.grants, s.turn.ready, s.line.first != nil)
	}
	if n := s.depth.Load(); n != 0 {
		t.Errorf("felix_broker_ingress_queue_depth is %d, want 0", n)
	}
	for name, tenant := range s.tenants {
		if tenant.queued != 0 || tenant.running != 0 || tenant.parked != 0 || tenant.deficit != 0 {
			t.Errorf("tenant %s keeps %d queued, %d running, %d parked, deficit %d",
				name, tenant.queued, tenant.running, tenant.parked, tenant.deficit)
		}
	}
}
