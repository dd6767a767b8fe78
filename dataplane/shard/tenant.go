package shard

// Tenant is one party of the turn: its lanes share its deficit and its guaranteed queue slots.
type Tenant struct {
	name string

	// Scheduler.mu guards the following.
	lanes    int      // open lanes; the scheduler forgets a tenant without any
	ready    laneList // lanes with a job to run
	running  int      // lanes that run
	parked   int      // lanes that wait for Wake
	queued   int      // queued jobs, those behind a parked lane excepted
	deficit  int64    // bytes the tenant may still take in this turn
	inTurn   bool     // the quantum of this turn was added
	waiters  waiterList
	next     *Tenant // neighbours in the turn, see turn
	prev     *Tenant
	nextWait *Tenant // neighbours among tenants with waiters
	prevWait *Tenant
	waiting  bool // in that list
}

// Name returns the name given to Scheduler.Tenant.
func (t *Tenant) Name() string { return t.name }

// turn is the circle of tenants that have ready lanes, served by deficit round robin.
//
//	at its turn a tenant gets quantum bytes of deficit
//	while its first ready lane's next job fits the deficit: pay, run the lane
//	otherwise the tenant goes to the end, keeping what is left
//	a tenant with nothing ready and nothing running loses what is left
//
// A job of 16 MiB with a quantum of 64 KiB needs 256 turns. When one whole circle was served nothing, the turns that
// would again serve nothing are given at once, so that a pick visits each tenant a bounded number of times.
type turn struct {
	first, last *Tenant
	quantum     int64
	ready       int // lanes in all ready lists
}

func (c *turn) empty() bool { return c.first == nil }

// add makes a lane ready.
func (c *turn) add(l *Lane) {
	t := l.tenant
	if t.ready.first == nil {
		c.pushBack(t)
	}
	t.ready.pushBack(l)
	c.ready++
}

// pick takes the lane whose turn it is and charges its tenant. REQUIRES: not empty.
func (c *turn) pick() *Lane {
	for visits := c.first; ; {
		t := c.first
		l := t.ready.first
		w := l.headWeight()
		if !t.inTurn {
			t.inTurn = true
			if w <= t.deficit {
				t.deficit = 0 // left over for want of jobs, not for want of turns
			}
			t.deficit += c.quantum
		}
		if w <= t.deficit {
			t.deficit -= w
			c.take(t, l)
			return l
		}
		t.inTurn = false
		c.remove(t)
		c.pushBack(t)
		if c.first == visits {
			c.skip()
		}
	}
}

// skip gives every tenant the turns in which nobody could be served yet.
func (c *turn) skip() {
	rounds := int64(-1)
	for t := c.first; t != nil; t = t.next {
		lacks := t.ready.first.headWeight() - t.deficit
		n := (lacks+c.quantum-1)/c.quantum - 1
		if rounds < 0 || n < rounds {
			rounds = n
		}
	}
	if rounds <= 0 {
		return
	}
	for t := c.first; t != nil; t = t.next {
		t.deficit += rounds * c.quantum
	}
}

// take removes a ready lane.
func (c *turn) take(t *Tenant, l *Lane) {
	t.ready.remove(l)
	c.ready--
	if t.ready.first == nil {
		c.remove(t)
		t.inTurn = false
	}
}

func (c *turn) pushBack(t *Tenant) {
	t.prev = c.last
	if c.last == nil {
		c.first = t
	} else {
		c.last.next = t
	}
	c.last = t
}

func (c *turn) remove(t *Tenant) {
	if t.prev == nil {
		c.first = t.next
	} else {
		t.prev.next = t.next
	}
	if t.next == nil {
		c.last = t.prev
	} else {
		t.next.prev = t.prev
	}
	t.next, t.prev = nil, nil
}
