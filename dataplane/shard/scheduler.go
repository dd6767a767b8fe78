package shard

import (
	"runtime/debug"
	"sync"
	"time"

	"github.com/felix-go/felix/dataplane/ring"
	"github.com/felix-go/felix/dataplane/stat"
)

// Result is what became of a Submit.
type Result uint8

const (
	// Accepted means that the job is the lane's: it ran, runs or will run, or Drop gets it.
	Accepted Result = iota
	// Full means that the tenant has no slot and is above its share. The job is still the caller's.
	Full
	// Closed means that the lane or the scheduler takes no more jobs. The job is still the caller's.
	Closed
	// Cancelled means that done was closed while the caller waited for a slot. The job is still the caller's.
	Cancelled
)

// Scheduler runs lanes. Its goals are order within a lane, independence between lanes, and a broker that one tenant
// cannot fill.
//
// A lane is idle, ready, running or parked. Everything that moves it between these states happens under one mutex,
// handlers run outside it. The mutex is held for some tens of nanoseconds twice per job (begin, finish), or once per
// job while a lane stays with its runner. Per-lane locks were considered and refused: to begin a job needs the lane,
// its tenant and the count of running lanes in one step, and three atomics are not one step.
//
// Two invariants carry the design:
//
//   - slots <= Executors, where a slot is a lane that runs, on whichever goroutine, or that was granted to an
//     executor which has not picked it up;
//   - a slot is free only when no lane is ready. So a submitter that finds its lane idle and a slot free overtakes
//     nobody by running the job itself.
//
// The walk of a job:
//
//	Submit: lane idle and a slot free:  begin, run on the caller, finish          (no hop, no allocation)
//	        the tenant has room:        queue; an idle lane becomes ready; a free slot is granted to an executor
//	        otherwise:                  Full, or wait in the tenant's line until room is handed over
//	run:    call the handler
//	        Done: take the lane's next job, or give the lane up: idle when it is empty, ready when its quantum is
//	              used and others are ready
//	        Wait: park the lane, or go on at once when Wake came in the meantime
//	give up: an executor keeps its slot and picks the next lane in the tenants' turn (see turn); a submitter passes
//	        its slot to an executor if a lane is ready, and returns to its own work
//
// A submitter is the reader of some client's stream. It takes the jobs that others queue behind its own only while
// nobody else is ready and within one quantum, so that no reader is captured by a busy lane.
//
// Queue slots: each tenant always has DepthPerTenant; all together may use DepthPerTenant x Executors; who is above
// the one while the other is used up is refused. Jobs behind a parked lane do not count there, they are bounded by
// DepthPerTenant for that lane alone: a subscriber that stalls a shard under the block policy must not cost its
// tenant the slots of healthy shards.
type Scheduler struct {
	config   Config
	depth    *stat.Gauge
	restarts *stat.Counter

	waiters sync.Pool // of *waiter

	mu sync.Mutex
	// mu guards the following and all lanes and tenants.
	work    sync.Cond // grants > 0 or stopped
	turn    turn
	slots   int // lanes that run, and grants
	grants  int // slots for executors that no executor has picked up; at most turn.ready
	queued  int // queued jobs, those behind parked lanes excepted
	jobs    int // jobs accepted and not finished
	tenants map[string]*Tenant
	lanes   map[*Lane]struct{}
	line    tenantLine // tenants with waiters
	refuse  bool       // Drain or Close was called: no new jobs
	drop    bool       // Close was called: jobs that would wait are dropped
	stopped bool       // executors return
	quiet   chan struct{}

	executors sync.WaitGroup
}

// New returns a Scheduler that runs jobs on their submitters until Start adds the executors.
// REQUIRES: c.Validate() == nil; it panics otherwise.
func New(c Config) *Scheduler {
	if err := c.Validate(); err != nil {
		panic(err)
	}
	c = c.withDefaults()
	s := &Scheduler{
		config:   c,
		depth:    c.Stats.Gauge("felix_broker_ingress_queue_depth", "Jobs waiting for their turn in a lane."),
		restarts: c.Stats.Counter("felix_broker_publish_worker_restarts_total", "Handlers that panicked."),
		turn:     turn{quantum: c.QuantumBytes},
		tenants:  make(map[string]*Tenant),
		lanes:    make(map[*Lane]struct{}),
	}
	s.work.L = &s.mu
	s.waiters.New = func() any { return newWaiter() }
	return s
}

// Tenant returns the tenant of that name, the same one as long as it has open lanes.
func (s *Scheduler) Tenant(name string) *Tenant {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tenants[name]
	if t == nil {
		t = &Tenant{name: name}
		s.tenants[name] = t
	}
	return t
}

// NewLane opens a lane of the tenant. Owner is what handlers find in Lane.Owner. A lane of a closed scheduler takes
// no jobs.
func (s *Scheduler) NewLane(t *Tenant, owner any) *Lane {
	s.mu.Lock()
	defer s.mu.Unlock()
	// The tenant may have been forgotten with its last lane after the caller looked it up; one of the name lives.
	if now := s.tenants[t.name]; now != nil {
		t = now
	} else {
		s.tenants[t.name] = t
	}
	t.lanes++
	l := &Lane{s: s, owner: owner, tenant: t}
	s.lanes[l] = struct{}{}
	return l
}

// Submit gives a copy of j to the lane. When the lane is idle and a slot is free the job runs before Submit returns.
//
// Without room wait decides: 0 returns Full at once, a positive wait returns Full after it, a negative one waits
// until done is closed. Callers that wait are served in the order of their coming within a tenant, except that one
// whose lane is parked and full does not hold up those behind it. Their number is bounded by the number of calling
// goroutines; none is started. On any result but Accepted the job is still the caller's.
//
// REQUIRES: a handler that submits uses wait 0.
//
//felix:hot
func (s *Scheduler) Submit(l *Lane, j *Job, wait time.Duration, done <-chan struct{}) Result {
	s.mu.Lock()
	if l.closed || s.refuse {
		s.mu.Unlock()
		return Closed
	}
	// Fast path: nobody runs the lane and a slot is free.
	if l.state == laneIdle && s.slots < s.config.Executors {
		s.slots++
		s.jobs++
		l.tenant.running++
		l.state = laneRunning
		l.held = true
		l.current = *j
		s.mu.Unlock()
		s.runInline(l)
		return Accepted
	}
	if s.roomLocked(l) {
		s.enqueueLocked(l, j)
		s.mu.Unlock()
		return Accepted
	}
	if wait == 0 {
		s.mu.Unlock()
		return Full
	}
	w := s.joinLineLocked(l, j)
	s.mu.Unlock()
	return s.await(w, wait, done)
}

// roomLocked reports whether the lane may take one more job.
func (s *Scheduler) roomLocked(l *Lane) bool {
	switch l.state {
	case laneParked:
		return l.depthLocked() < s.config.DepthPerTenant
	case laneIdle:
		if s.slots < s.config.Executors {
			return true // it would not stay in the queue
		}
	}
	return l.tenant.queued < s.config.DepthPerTenant || s.queued < s.config.DepthPerTenant*s.config.Executors
}

// enqueueLocked queues the job behind the others of its lane. REQUIRES: roomLocked.
func (s *Scheduler) enqueueLocked(l *Lane, j *Job) {
	if l.queue == nil {
		// A lane holds its tenant's share or the shared slots, or both when it was parked with a full queue and then
		// made ready: never more than this.
		l.queue = ring.NewBuffer[Job](s.config.DepthPerTenant * (s.config.Executors + 1))
	}
	if !l.queue.Push(*j) {
		panic("shard: a lane's queue is full although its tenant has room")
	}
	s.jobs++
	s.depth.Add(1)
	if l.state == laneParked {
		return
	}
	l.tenant.queued++
	s.queued++
	if l.state == laneIdle {
		s.makeReadyLocked(l)
	}
}

// makeReadyLocked puts the lane into its tenant's turn and grants a free slot to an executor.
func (s *Scheduler) makeReadyLocked(l *Lane) {
	l.state = laneReady
	s.turn.add(l)
	if s.slots < s.config.Executors {
		s.slots++
		s.grants++
		s.work.Signal()
	}
}

// parkLocked ends the run of a lane whose handler waits. Its queue stops counting against the tenant, which may be
// room for somebody.
func (s *Scheduler) parkLocked(l *Lane) {
	l.state = laneParked
	t := l.tenant
	t.parked++
	t.queued -= l.depthLocked()
	s.queued -= l.depthLocked()
	s.admitLocked(t)
}

// unparkLocked makes a parked lane ready. Its queue counts again, which may put the tenant above its share until
// the queue has drained.
func (s *Scheduler) unparkLocked(l *Lane) {
	t := l.tenant
	t.parked--
	t.queued += l.depthLocked()
	s.queued += l.depthLocked()
	s.makeReadyLocked(l)
}

// releaseSlotLocked gives up a slot: to an executor when a lane is ready for it, otherwise it is free.
func (s *Scheduler) releaseSlotLocked() {
	if s.turn.ready > s.grants {
		s.grants++
		s.work.Signal()
		return
	}
	s.freeSlotLocked()
}

// freeSlotLocked frees a slot that no ready lane needs. A waiting submitter whose lane is idle can use it, whatever
// its tenant has queued elsewhere.
func (s *Scheduler) freeSlotLocked() {
	s.slots--
	for t := s.line.first; t != nil && s.slots < s.config.Executors; {
		next := t.nextWait
		s.admitTenantLocked(t)
		t = next
	}
}

// invoke calls the handler of the lane's current job and, when it is done, settles what is left of the job.
func (s *Scheduler) invoke(l *Lane) (v Verdict) {
	defer s.recovered(l, &v)
	v = s.config.Handlers[l.current.Kind](l, &l.current)
	if v != Wait {
		// A handler answers before it says Done. One that forgot must not leave a client waiting.
		l.current.Settle(Outcome{Kind: OutcomeRefused, Refusal: refusalUnknown})
	}
	return v
}

// recovered is deferred around a handler: a panic ends the job, not the lane and not the broker.
func (s *Scheduler) recovered(l *Lane, v *Verdict) {
	cause := recover()
	if cause == nil {
		return
	}
	*v = Done
	s.restarts.Inc()
	s.config.Logger.Error("a handler panicked; its job was answered internal and the lane goes on",
		"kind", l.current.Kind, "panic", cause, "stack", string(debug.Stack()))
	l.current.Settle(Outcome{Kind: OutcomeRefused, Refusal: refusalUnknown})
}
