package shard

import "context"

// Close ends the lane: new jobs are answered Closed and queued ones go to Config.Drop before Close returns. A job
// that was begun is not interrupted, because what it began must be completed; when it waits, its handler is called
// once more, and whatever it waits for must come (an ended stream closes the queues that its lane waits for).
// It is safe to close a lane twice.
func (l *Lane) Close() {
	s := l.s
	s.mu.Lock()
	if l.closed {
		s.mu.Unlock()
		return
	}
	l.closed = true
	jobs := s.unqueueLocked(l, nil)
	s.refuseWaitersLocked(l)
	s.admitLocked(l.tenant)
	switch l.state {
	case laneIdle:
		s.forgetLocked(l)
	case laneRunning:
		l.woken = true
	case laneParked:
		s.unparkLocked(l)
	}
	s.mu.Unlock()
	s.dropJobs(jobs)
}

// Drain refuses new jobs and returns when all accepted ones are finished, or with the cause of ctx when that ends
// first. Jobs that wait for a wake count as unfinished.
func (s *Scheduler) Drain(ctx context.Context) error {
	s.mu.Lock()
	s.refuse = true
	s.refuseWaitersLocked(nil)
	quiet := s.quietLocked()
	s.mu.Unlock()
	select {
	case <-quiet:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Close ends the scheduler: new jobs are answered Closed; jobs that are queued or that wait go to Config.Drop;
// it returns when the handlers that run have returned and the executors are gone. It is safe to close twice.
func (s *Scheduler) Close() {
	s.mu.Lock()
	s.refuse = true
	s.drop = true
	s.refuseWaitersLocked(nil)
	var jobs []dropped
	for l := range s.lanes {
		begun := l.held && l.state != laneRunning
		if begun {
			jobs = append(jobs, dropped{lane: l, job: l.current, begun: true})
			l.current, l.held = Job{}, false
		}
		jobs = s.unqueueLocked(l, jobs)
		if begun && l.state == laneParked {
			l.tenant.parked--
			s.idleLocked(l)
		}
	}
	s.mu.Unlock()
	s.dropJobs(jobs)

	s.mu.Lock()
	quiet := s.quietLocked()
	s.mu.Unlock()
	<-quiet
	s.mu.Lock()
	s.stopped = true
	s.work.Broadcast()
	s.mu.Unlock()
	s.executors.Wait()
}

// quietLocked returns a channel that is closed when no accepted job is left.
func (s *Scheduler) quietLocked() <-chan struct{} {
	if s.jobs == 0 {
		c := make(chan struct{})
		close(c)
		return c
	}
	if s.quiet == nil {
		s.quiet = make(chan struct{})
	}
	return s.quiet
}

// dropped is a job on its way to Config.Drop.
type dropped struct {
	lane  *Lane
	job   Job
	begun bool // its handler was called
}

// unqueueLocked appends the lane's queued jobs to jobs and books them as gone.
func (s *Scheduler) unqueueLocked(l *Lane, jobs []dropped) []dropped {
	n := l.depthLocked()
	for range n {
		j, _ := l.queue.Pop()
		jobs = append(jobs, dropped{lane: l, job: j})
	}
	if l.state != laneParked {
		l.tenant.queued -= n
		s.queued -= n
	}
	s.depth.Add(int64(-n))
	return jobs
}

// dropCurrentLocked drops a job whose handler wants to wait while the scheduler closes. Drop is called without the
// lock; the lane stays running meanwhile, so nobody else touches it.
func (s *Scheduler) dropCurrentLocked(l *Lane) {
	j := l.current
	s.mu.Unlock()
	s.dropJobs([]dropped{{lane: l, job: j, begun: true}})
	s.mu.Lock()
	l.current, l.held, l.woken = Job{}, false, false
}

// dropJobs gives each job to Config.Drop and settles what that leaves. A job counts as unfinished until then, so
// that nothing is released after Drain or Close returned.
func (s *Scheduler) dropJobs(jobs []dropped) {
	for i := range jobs {
		d := &jobs[i]
		if s.config.Drop != nil {
			s.config.Drop(d.lane, &d.job)
		}
		refusal := refusalDropped
		if d.begun {
			refusal = refusalUnknown
		}
		d.job.Settle(Outcome{Kind: OutcomeRefused, Refusal: refusal})
	}
	s.mu.Lock()
	s.finishedLocked(len(jobs))
	s.mu.Unlock()
}

// forgetLocked removes a closed lane that has become idle, and its tenant with the last one.
func (s *Scheduler) forgetLocked(l *Lane) {
	if !l.closed {
		return
	}
	if _, open := s.lanes[l]; !open {
		return
	}
	delete(s.lanes, l)
	t := l.tenant
	t.lanes--
	if t.lanes == 0 && s.tenants[t.name] == t {
		delete(s.tenants, t.name)
	}
}
