package shard

import (
	"context"
	"runtime/pprof"
	"strconv"
)

// Start adds the executors. REQUIRES: called once, before Close.
func (s *Scheduler) Start() {
	for i := range s.config.Executors {
		s.executors.Add(1)
		go s.execute(i)
	}
}

// execute is the loop of one executor: wait for a granted slot, run lanes in the tenants' turn, give the slot up.
// It may block only on Scheduler.work and in handlers. It stops when Close has seen the last job finished.
func (s *Scheduler) execute(number int) {
	defer s.executors.Done()
	labels := pprof.Labels("role", "executor", "lane", strconv.Itoa(number))
	pprof.Do(context.Background(), labels, func(context.Context) {
		for s.awaitGrant() {
			s.runGranted()
		}
	})
}

// awaitGrant blocks until a slot was granted to an executor and takes it; false means that the executor ends.
func (s *Scheduler) awaitGrant() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.grants == 0 {
		if s.stopped {
			return false
		}
		s.work.Wait()
	}
	s.grants--
	return true
}

// runGranted spends one slot on ready lanes until none is left.
func (s *Scheduler) runGranted() {
	for {
		s.mu.Lock()
		l := s.nextLocked()
		s.mu.Unlock()
		if l == nil {
			return
		}
		s.runTurn(l)
	}
}

// nextLocked picks a lane for a slot that its caller holds; nil means that the slot was given up. Ready lanes that
// were promised to other executors by grants are left to them.
func (s *Scheduler) nextLocked() *Lane {
	for s.turn.ready > s.grants {
		l := s.turn.pick()
		if s.beginLocked(l) {
			return l
		}
	}
	s.freeSlotLocked()
	return nil
}

// beginLocked makes a picked lane the caller's to run. False: closing the lane left it nothing to do.
func (s *Scheduler) beginLocked(l *Lane) bool {
	if !l.held && !s.popLocked(l) {
		s.idleLocked(l)
		return false
	}
	l.state = laneRunning
	l.tenant.running++
	return true
}

// popLocked makes the lane's oldest queued job the current one and hands the free slot to a waiting submitter.
func (s *Scheduler) popLocked(l *Lane) bool {
	if l.depthLocked() == 0 {
		return false
	}
	l.current, _ = l.queue.Pop()
	l.held = true
	l.tenant.queued--
	s.queued--
	s.depth.Add(-1)
	if s.line.first != nil {
		s.admitLocked(l.tenant)
	}
	return true
}

// runInline runs a lane that its submitter has begun, on the submitter.
//
//felix:hot
func (s *Scheduler) runInline(l *Lane) {
	jobs, bytes := 0, int64(0)
	for {
		weight := l.current.weight()
		v := s.invoke(l)
		jobs++
		bytes += weight
		s.mu.Lock()
		goOn := s.finishLocked(l, v)
		if goOn {
			goOn = jobs < s.config.QuantumJobs && bytes < s.config.QuantumBytes && s.turn.empty() &&
				s.beginNextLocked(l)
			if !goOn {
				s.yieldLocked(l)
			}
		}
		if !goOn {
			s.releaseSlotLocked()
		}
		s.mu.Unlock()
		if !goOn {
			return
		}
	}
}

// runTurn runs a lane that an executor has begun, for as long as nobody else is ready or its tenant's deficit lasts.
func (s *Scheduler) runTurn(l *Lane) {
	for {
		v := s.invoke(l)
		s.mu.Lock()
		goOn := s.finishLocked(l, v)
		if goOn {
			goOn = s.mayStayLocked(l) && s.beginNextLocked(l)
			if !goOn {
				s.yieldLocked(l)
			}
		}
		s.mu.Unlock()
		if !goOn {
			return
		}
	}
}

// mayStayLocked decides whether an executor goes on with its lane, and charges the next job if others are ready.
// With nobody else ready there is nothing to be fair about and nothing is charged.
func (s *Scheduler) mayStayLocked(l *Lane) bool {
	if s.turn.empty() {
		return true
	}
	w, t := l.headWeight(), l.tenant
	if w > t.deficit {
		return false
	}
	t.deficit -= w
	return true
}

// finishLocked books the verdict on the current job. True: the lane has something to run and is still the
// caller's, who calls beginNextLocked or yieldLocked. False: it is idle or parked.
func (s *Scheduler) finishLocked(l *Lane, v Verdict) bool {
	if v == Wait {
		if l.woken {
			l.woken = false
			return true
		}
		if !s.drop {
			l.tenant.running--
			s.parkLocked(l)
			return false
		}
		s.dropCurrentLocked(l)
	} else {
		s.doneLocked(l)
	}
	if l.depthLocked() > 0 {
		return true
	}
	l.tenant.running--
	s.idleLocked(l)
	return false
}

// doneLocked forgets the current job, pointers included.
func (s *Scheduler) doneLocked(l *Lane) {
	l.woken = false
	l.held = false
	l.current = Job{}
	s.finishedLocked(1)
}

// finishedLocked counts jobs that are over and tells Drain and Close when none is left.
func (s *Scheduler) finishedLocked(n int) {
	s.jobs -= n
	if s.jobs == 0 && s.quiet != nil {
		close(s.quiet)
		s.quiet = nil
	}
}

// beginNextLocked takes the lane's next job for the goroutine that runs it already.
func (s *Scheduler) beginNextLocked(l *Lane) bool { return l.held || s.popLocked(l) }

// yieldLocked puts a lane with more to run back into the turn.
func (s *Scheduler) yieldLocked(l *Lane) {
	l.tenant.running--
	s.makeReadyLocked(l)
}

// idleLocked ends a lane's run for want of jobs.
func (s *Scheduler) idleLocked(l *Lane) {
	l.state = laneIdle
	t := l.tenant
	if t.running == 0 && t.ready.first == nil {
		t.deficit = 0
	}
	s.forgetLocked(l)
}
