package shard

import "time"

// waiter is one submitter that waits for a queue slot. It is reused: its channel and timer are made once.
type waiter struct {
	ready chan struct{} // capacity 1; the granter's signal
	timer *time.Timer

	// Scheduler.mu guards the following.
	lane       *Lane
	job        Job
	next, prev *waiter
	listed     bool
	result     Result // valid once listed is false
}

func newWaiter() *waiter {
	w := &waiter{ready: make(chan struct{}, 1), timer: time.NewTimer(time.Hour)}
	w.timer.Stop()
	return w
}

// joinLineLocked puts the submitter at the end of its tenant's line.
func (s *Scheduler) joinLineLocked(l *Lane, j *Job) *waiter {
	w := s.waiters.Get().(*waiter)
	w.lane = l
	w.job = *j
	w.listed = true
	l.tenant.waiters.pushBack(w)
	s.line.add(l.tenant)
	return w
}

// leaveLineLocked takes the waiter out with a result.
func (s *Scheduler) leaveLineLocked(w *waiter, r Result) {
	t := w.lane.tenant
	t.waiters.remove(w)
	if t.waiters.first == nil {
		s.line.remove(t)
	}
	w.listed = false
	w.result = r
}

// await blocks the submitter until it was granted a slot or gives up. A grant that races with giving up wins: the
// job is in its lane already, so Accepted is the only true answer.
func (s *Scheduler) await(w *waiter, wait time.Duration, done <-chan struct{}) Result {
	var expired <-chan time.Time
	if wait > 0 {
		w.timer.Reset(wait)
		expired = w.timer.C
	}
	select {
	case <-w.ready:
	case <-expired:
		s.giveUp(w, Full)
	case <-done:
		s.giveUp(w, Cancelled)
	}
	w.timer.Stop()
	r := w.result
	w.lane = nil
	w.job = Job{}
	s.waiters.Put(w)
	return r
}

func (s *Scheduler) giveUp(w *waiter, r Result) {
	s.mu.Lock()
	granted := !w.listed
	if !granted {
		s.leaveLineLocked(w, r)
	}
	s.mu.Unlock()
	if granted {
		<-w.ready // sent under the lock, so it is there
	}
}

// admitLocked hands room to waiting submitters: first to those of the tenant that made it, then, if shared slots
// are left, to the others in turn. Whoever makes room calls it, so that room and a waiter who could use it never
// exist at the same time and a new submitter overtakes nobody.
func (s *Scheduler) admitLocked(t *Tenant) {
	s.admitTenantLocked(t)
	for t := s.line.first; t != nil && s.queued < s.config.DepthPerTenant*s.config.Executors; {
		next := t.nextWait
		s.admitTenantLocked(t)
		t = next
	}
}

func (s *Scheduler) admitTenantLocked(t *Tenant) {
	for w := t.waiters.first; w != nil; {
		next := w.next
		switch {
		case s.roomLocked(w.lane):
			s.leaveLineLocked(w, Accepted)
			s.enqueueLocked(w.lane, &w.job)
			w.ready <- struct{}{}
		case t.parked == 0 && s.slots == s.config.Executors:
			return // the tenant's room is used up, and no lane has room of its own
		}
		w = next
	}
}

// refuseWaitersLocked sends away the waiters of one lane, or of all lanes when l is nil.
func (s *Scheduler) refuseWaitersLocked(l *Lane) {
	for t := s.line.first; t != nil; {
		nextTenant := t.nextWait
		for w := t.waiters.first; w != nil; {
			next := w.next
			if l == nil || w.lane == l {
				s.leaveLineLocked(w, Closed)
				w.ready <- struct{}{}
			}
			w = next
		}
		t = nextTenant
	}
}

// waiterList is a tenant's line.
type waiterList struct{ first, last *waiter }

func (wl *waiterList) pushBack(w *waiter) {
	w.prev = wl.last
	if wl.last == nil {
		wl.first = w
	} else {
		wl.last.next = w
	}
	wl.last = w
}

func (wl *waiterList) remove(w *waiter) {
	if w.prev == nil {
		wl.first = w.next
	} else {
		w.prev.next = w.next
	}
	if w.next == nil {
		wl.last = w.prev
	} else {
		w.next.prev = w.prev
	}
	w.next, w.prev = nil, nil
}

// tenantLine is the tenants that have waiters, in the order in which the first of them came.
type tenantLine struct{ first, last *Tenant }

func (tl *tenantLine) add(t *Tenant) {
	if t.waiting {
		return
	}
	t.waiting = true
	t.prevWait = tl.last
	if tl.last == nil {
		tl.first = t
	} else {
		tl.last.nextWait = t
	}
	tl.last = t
}

func (tl *tenantLine) remove(t *Tenant) {
	t.waiting = false
	if t.prevWait == nil {
		tl.first = t.nextWait
	} else {
		t.prevWait.nextWait = t.nextWait
	}
	if t.nextWait == nil {
		tl.last = t.prevWait
	} else {
		t.nextWait.prevWait = t.prevWait
	}
	t.nextWait, t.prevWait = nil, nil
}
