package fanout

import (
	"sync"

	"github.com/felix-go/felix/dataplane/ring"
	"github.com/felix-go/felix/dataplane/stat"
)

// Result is what became of an Offer.
type Result uint8

const (
	// Queued means that the queue holds a count of the envelope.
	Queued Result = iota
	// Dropped means that a DropNew queue had no room; the records are counted.
	Dropped
	// Full means that a Block queue has no room: see Queue.NotifySpace.
	Full
	// Gone means that the queue is closed.
	Gone
)

// State tells a consumer whether more can come.
type State uint8

const (
	// Open means that more envelopes may come.
	Open State = iota
	// Ended means that none will come after those that were taken: see Queue.End.
	Ended
)

// End is how a subscription ends, and with it what its event stream's last bytes are.
type End uint8

const (
	// EndNone means that the queue is open.
	EndNone End = iota
	// EndDeleted means that the stream was deleted: what is queued is sent, then stream_deleted where it was
	// offered, then FIN.
	EndDeleted
	// EndCancelled means that the subscriber is gone: what is queued is released and the stream is reset.
	EndCancelled
	// EndShutdown means that the broker stops: what is queued is sent, and the stream ends without FIN and without
	// reset. The close of the connection tells the client to come back, a FIN would tell it that all is over.
	EndShutdown
)

// Defaults of QueueConfig.
const (
	DefaultQueueItems = 512
	DefaultQueueBytes = 4 << 20
)

// QueueConfig describes a Queue. Zero fields mean their default.
type QueueConfig struct {
	// MaxItems bounds the queued batches. Default 512. Too low and a burst is dropped or blocks; high costs nothing
	// until it is used.
	MaxItems int
	// MaxBytes bounds the queued frame bytes. Default 4 MiB. One batch that is larger alone still passes when the
	// queue is empty.
	MaxBytes int64
	// Policy is what a full queue does.
	Policy Policy
	// Egress is the budget of the process; nil means none.
	Egress *Egress
	// Delivery are the counters that all queues share. Required.
	Delivery *Delivery
}

// Delivery are the counters of all queues of a process.
type Delivery struct {
	enqueued, dropped, subscribeDropped *stat.Counter
	length                              *stat.Gauge
}

// NewDelivery registers the counters: felix_sub_queue_enqueued_total, felix_sub_queue_dropped_total and
// felix_subscribe_dropped_total count records, felix_sub_queue_len counts queued batches and is zero at rest.
func NewDelivery(s *stat.Set) *Delivery {
	return &Delivery{
		enqueued:         s.Counter("felix_sub_queue_enqueued_total", "Records put into subscriber queues."),
		dropped:          s.Counter("felix_sub_queue_dropped_total", "Records lost on the subscribe path."),
		subscribeDropped: s.Counter("felix_subscribe_dropped_total", "Records lost to slow subscribers."),
		length:           s.Gauge("felix_sub_queue_len", "Batches waiting in subscriber queues."),
	}
}

// Queue is what one subscriber still has to be sent: bounded in batches and in bytes, filled by the lane of one
// shard, emptied by one consumer. It starts with 8 slots. Nothing in it blocks.
//
// A consumer that finds it empty sleeps on Ready; the next Offer or Close rings once. A lane that finds it Full arms
// NotifySpace; the first Take or Close that makes room for what did not fit wakes the lane once. Between Offer's Full
// and NotifySpace the consumer may empty the queue: NotifySpace looks again under the lock and then wakes at once,
// so room is never announced to nobody.
type Queue struct {
	config QueueConfig
	bell   *ring.Bell

	mu sync.Mutex
	// mu guards the following.
	items    *ring.Buffer[*Envelope]
	bytes    int64
	end      End
	sleeping bool       // the consumer saw it empty and waits for the bell
	want     int64      // bytes of the envelope that was last found not to fit
	space    ring.Waker // the lane that waits for room, or nil
	dropped  uint64     // records
	cancel   func()     // set by the pump: resets the stream under a blocked write
}

// NewQueue returns an open Queue. It must be closed.
func NewQueue(c QueueConfig) *Queue {
	if c.MaxItems <= 0 {
		c.MaxItems = DefaultQueueItems
	}
	if c.MaxBytes <= 0 {
		c.MaxBytes = DefaultQueueBytes
	}
	c.Egress.open()
	return &Queue{config: c, bell: ring.NewBell(), items: ring.NewBuffer[*Envelope](c.MaxItems)}
}

// Offer puts the envelope at the end and adds a count for the queue, if there is room. It never blocks.
//
//felix:hot
func (q *Queue) Offer(e *Envelope) Result {
	size := int64(e.Size())
	q.mu.Lock()
	if q.end != EndNone {
		q.mu.Unlock()
		return Gone
	}
	if !q.roomLocked(size) {
		return q.refuseAndUnlock(e, size)
	}
	e.Retain()
	q.config.Egress.enter(e)
	q.items.Push(e)
	q.bytes += size
	ring := q.sleeping
	q.sleeping = false
	q.mu.Unlock()
	q.config.Delivery.enqueued.Add(uint64(e.Count()))
	q.config.Delivery.length.Add(1)
	if ring {
		q.bell.Ring()
	}
	return Queued
}

// roomLocked reports whether size more bytes fit. An empty queue takes anything.
func (q *Queue) roomLocked(size int64) bool {
	n := q.items.Len()
	if n == 0 {
		return true
	}
	return n < q.config.MaxItems && q.bytes+size <= q.config.MaxBytes && !q.config.Egress.refuses(q.bytes, size)
}

func (q *Queue) refuseAndUnlock(e *Envelope, size int64) Result {
	if q.config.Policy == Block {
		q.want = size
		q.mu.Unlock()
		return Full
	}
	records := uint64(e.Count())
	q.dropped += records
	q.mu.Unlock()
	q.config.Delivery.dropped.Add(records)
	q.config.Delivery.subscribeDropped.Add(records)
	return Dropped
}

// NotifySpace arranges after Full that w.Wake is called once when what did not fit may fit, or when the queue is
// closed; at once if that is so already. A second call replaces the first. REQUIRES: one lane offers to the queue.
func (q *Queue) NotifySpace(w ring.Waker) {
	q.mu.Lock()
	now := q.end != EndNone || q.roomLocked(q.want)
	if now {
		q.space = nil
	} else {
		q.space = w
	}
	q.mu.Unlock()
	if now {
		w.Wake()
	}
}

// Take appends everything that is queued to dst; the counts are the caller's. See TakeUpTo.
func (q *Queue) Take(dst []*Envelope) ([]*Envelope, State) { return q.TakeUpTo(dst, 0) }

// TakeUpTo appends what is queued to dst as long as its frames sum up to at most maxBytes, but at least one if there
// is one; 0 means no limit. The counts are the caller's. Ended is returned when the queue is closed and empty
// afterwards. When nothing was taken and the queue is open, Ready rings for the next envelope.
//
//felix:hot
func (q *Queue) TakeUpTo(dst []*Envelope, maxBytes int64) ([]*Envelope, State) {
	q.mu.Lock()
	n, bytes := 0, int64(0)
	for q.items.Len() > 0 {
		size := int64(q.items.Peek(0).Size())
		if n > 0 && maxBytes > 0 && bytes+size > maxBytes {
			break
		}
		e, _ := q.items.Pop()
		q.config.Egress.leave(e)
		dst = append(dst, e)
		n++
		bytes += size
	}
	q.bytes -= bytes
	state := Open
	if q.end != EndNone && q.items.Len() == 0 {
		state = Ended
	}
	q.sleeping = n == 0 && state == Open
	w := q.spaceLocked()
	q.mu.Unlock()
	if n > 0 {
		q.config.Delivery.length.Add(int64(-n))
	}
	if w != nil {
		w.Wake()
	}
	return dst, state
}

// spaceLocked returns the waiting lane if it is to be woken now, and forgets it.
func (q *Queue) spaceLocked() ring.Waker {
	w := q.space
	if w == nil || q.end == EndNone && !q.roomLocked(q.want) {
		return nil
	}
	q.space = nil
	return w
}

// Ready is what a consumer waits on after an empty Take: it receives once for the next Offer or for Close.
func (q *Queue) Ready() <-chan struct{} { return q.bell.C() }

// Close ends the queue: nothing more is taken in. The first call decides how it ends, except that EndCancelled, which
// releases what is queued, also does so to a queue that was to be flushed: its subscriber is gone. It resets the event
// stream at once, even under a write that blocks.
func (q *Queue) Close(end End) {
	var discard []*Envelope
	q.mu.Lock()
	if q.end == EndNone {
		q.config.Egress.close()
		q.end = end
	}
	if end == EndCancelled {
		q.end = end
		for q.items.Len() > 0 {
			e, _ := q.items.Pop()
			q.config.Egress.leave(e)
			discard = append(discard, e)
		}
		q.bytes = 0
	}
	w := q.spaceLocked()
	q.sleeping = false
	cancel := q.cancel
	q.mu.Unlock()
	if end == EndCancelled && cancel != nil {
		cancel()
	}
	for _, e := range discard {
		e.Release()
	}
	q.config.Delivery.length.Add(int64(-len(discard)))
	q.bell.Ring()
	if w != nil {
		w.Wake()
	}
}

// onCancel sets what Close calls with EndCancelled; nil forgets it.
func (q *Queue) onCancel(f func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.cancel = f
}

// End returns how the queue was closed, EndNone while it is open.
func (q *Queue) End() End {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.end
}

// Len returns the number of queued batches.
func (q *Queue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.items.Len()
}

// Idle reports whether everything that was queued has been taken and written: the consumer found nothing more.
func (q *Queue) Idle() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.sleeping && q.items.Len() == 0
}

// Dropped returns the number of records that were refused for want of room.
func (q *Queue) Dropped() uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.dropped
}
