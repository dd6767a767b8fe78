package shard

import "github.com/felix-go/felix/dataplane/ring"

// laneState says who may touch a lane next.
type laneState uint8

const (
	laneIdle    laneState = iota // no job; the next submitter may run it
	laneReady                    // a job to run; in its tenant's ready list
	laneRunning                  // a goroutine runs its current job
	laneParked                   // its current job waits for Wake
)

// Lane is one ordered queue of jobs: a stream shard, a cache shard, a remote shard. It runs one job at a time in
// the order of arrival. All methods are safe from any goroutine.
type Lane struct {
	s     *Scheduler
	owner any

	// current is the job at the head once it was begun. It belongs to the goroutine that runs the lane while state
	// is laneRunning, to Scheduler.mu otherwise.
	current Job

	// Scheduler.mu guards the following.
	tenant     *Tenant
	queue      *ring.Buffer[Job] // made by the first job that has to queue
	state      laneState
	held       bool // current is a job that was begun and is not done
	woken      bool // Wake came while the handler was running
	closed     bool
	next, prev *Lane // neighbours in the tenant's ready list
}

var _ ring.Waker = (*Lane)(nil)

// Owner returns the value given to NewLane: what the handlers work on.
//
//felix:hot
func (l *Lane) Owner() any { return l.owner }

// Depth returns the number of jobs that are queued behind the current one.
func (l *Lane) Depth() int {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	return l.depthLocked()
}

func (l *Lane) depthLocked() int {
	if l.queue == nil {
		return 0
	}
	return l.queue.Len()
}

// Wake makes a parked lane runnable, so that its handler is called again with the same job. It never blocks on a
// handler, may be called from inside one, and calls that come before the handler ran again count as one.
//
// No wake is lost. The dangerous order is: the handler finds a queue full and arms a notification; the consumer
// empties the queue and calls Wake; only then does the handler return Wait. Wake finds the lane running and leaves
// a note in woken; the runner reads the note under the same lock under which it would park, and calls the handler
// again instead. A wake that finds the lane ready is covered by the call that is coming, because the lock orders
// what the waker did before that call. A wake that finds it idle, or that was left over by a job that is done,
// concerns nobody: the next job has not armed anything yet.
//
//felix:hot
func (l *Lane) Wake() {
	s := l.s
	s.mu.Lock()
	switch l.state {
	case laneRunning:
		l.woken = true
	case laneParked:
		s.unparkLocked(l)
	}
	s.mu.Unlock()
}

// headWeight is what the next call of the lane's handler costs its tenant. A job that was begun has been paid for.
func (l *Lane) headWeight() int64 {
	if l.held || l.depthLocked() == 0 {
		return 0
	}
	j := l.queue.Peek(0)
	return j.weight()
}

// laneList is a tenant's ready lanes in the order in which they became ready.
type laneList struct{ first, last *Lane }

func (ll *laneList) pushBack(l *Lane) {
	l.prev = ll.last
	if ll.last == nil {
		ll.first = l
	} else {
		ll.last.next = l
	}
	ll.last = l
}

func (ll *laneList) remove(l *Lane) {
	if l.prev == nil {
		ll.first = l.next
	} else {
		l.prev.next = l.next
	}
	if l.next == nil {
		ll.last = l.prev
	} else {
		l.next.prev = l.prev
	}
	l.next, l.prev = nil, nil
}
