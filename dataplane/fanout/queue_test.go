package fanout

import (
	"errors"
	"testing"
)

func TestQueueBounds(t *testing.T) {
	tests := []struct {
		name   string
		config QueueConfig
		sizes  []int
		want   []Result // under DropNew
	}{
		{"items", QueueConfig{MaxItems: 2}, []int{30, 30, 30, 30}, []Result{Queued, Queued, Dropped, Dropped}},
		{"bytes", QueueConfig{MaxBytes: 100}, []int{50, 50, 30}, []Result{Queued, Queued, Dropped}},
		{"a small one still fits", QueueConfig{MaxBytes: 100}, []int{60, 50, 40}, []Result{Queued, Dropped, Queued}},
		{"a large one passes alone", QueueConfig{MaxBytes: 100}, []int{500, 20, 500}, []Result{Queued, Dropped, Dropped}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, policy := range []Policy{DropNew, Block} {
				r := newRooms(t, 0)
				tt.config.Policy = policy
				q := r.queue(tt.config)
				dropped, queued := uint64(0), 0
				for i, size := range tt.sizes {
					want := tt.want[i]
					switch {
					case want == Dropped && policy == Block:
						want = Full
					case want == Dropped:
						dropped++
					default:
						queued++
					}
					e := r.sized(size)
					if got := q.Offer(e); got != want {
						t.Errorf("%s: offer %d of %d bytes says %d, want %d", policy, i, size, got, want)
					}
					e.Release()
				}
				d := r.delivery
				if q.Dropped() != dropped || d.dropped.Load() != dropped || d.subscribeDropped.Load() != dropped {
					t.Errorf("%s: %d dropped, counters %d and %d, want %d", policy, q.Dropped(), d.dropped.Load(),
						d.subscribeDropped.Load(), dropped)
				}
				if d.enqueued.Load() != uint64(queued) || d.length.Load() != int64(queued) || q.Len() != queued {
					t.Errorf("%s: counters say %d and %d, the queue %d, want %d", policy, d.enqueued.Load(),
						d.length.Load(), q.Len(), queued)
				}
				batch, state := q.Take(nil)
				if len(batch) != queued || state != Open {
					t.Errorf("%s: took %d in state %d, want %d, open", policy, len(batch), state, queued)
				}
				release(batch)
				q.Close(EndCancelled)
			}
		})
	}
}

// TestDropsCountRecords loses a batch of three.
func TestDropsCountRecords(t *testing.T) {
	r := newRooms(t, 0)
	q := r.queue(QueueConfig{MaxItems: 1})
	for range 2 {
		e := r.envelope("a", "b", "c")
		q.Offer(e)
		e.Release()
	}
	if q.Dropped() != 3 || r.delivery.enqueued.Load() != 3 {
		t.Errorf("%d dropped, %d enqueued, want 3 and 3 records", q.Dropped(), r.delivery.enqueued.Load())
	}
	q.Close(EndCancelled)
}

func TestTakeUpTo(t *testing.T) {
	r := newRooms(t, 0)
	q := r.queue(QueueConfig{})
	for _, size := range []int{40, 40, 40, 500, 30} {
		e := r.sized(size)
		q.Offer(e)
		e.Release()
	}
	for _, want := range []int{2, 1, 1, 1, 0} {
		batch, _ := q.TakeUpTo(nil, 100)
		if len(batch) != want {
			t.Errorf("took %d, want %d", len(batch), want)
		}
		release(batch)
	}
	q.Close(EndCancelled)
}

// TestReady shows when the bell rings: for the first envelope after an empty take, and for the end.
func TestReady(t *testing.T) {
	r := newRooms(t, 0)
	q := r.queue(QueueConfig{})
	rings := func() int {
		select {
		case <-q.Ready():
			return 1
		default:
			return 0
		}
	}
	offer := func() {
		e := r.sized(30)
		q.Offer(e)
		e.Release()
	}
	take := func() State {
		batch, state := q.Take(nil)
		release(batch)
		return state
	}
	offer()
	if rings() != 0 {
		t.Error("rings for a consumer that does not sleep")
	}
	take()
	take() // empty: from here on it sleeps
	offer()
	offer()
	if rings() != 1 || rings() != 0 {
		t.Error("does not ring once for a sleeping consumer")
	}
	take()
	q.Close(EndDeleted)
	if rings() != 1 || take() != Ended {
		t.Error("does not ring for the end")
	}
}

func TestNotifySpace(t *testing.T) {
	r := newRooms(t, 0)
	q := r.queue(QueueConfig{MaxBytes: 100, Policy: Block})
	offer := func(size int) Result {
		e := r.sized(size)
		defer e.Release()
		return q.Offer(e)
	}
	take := func(n int64) {
		batch, _ := q.TakeUpTo(nil, n)
		release(batch)
	}
	for range 3 {
		offer(30)
	}
	var w wakes
	if offer(60) != Full {
		t.Fatal("there is room")
	}
	q.NotifySpace(&w)
	take(1)
	if w.n != 0 {
		t.Error("woken although 60 bytes do not fit beside 60")
	}
	take(1)
	if w.n != 1 {
		t.Errorf("woken %d times when 60 bytes fit, want once", w.n)
	}
	take(1)
	if w.n != 1 {
		t.Errorf("woken %d times without asking again", w.n)
	}

	// The consumer was faster than the lane: the wake comes from NotifySpace itself.
	offer(90)
	if offer(60) != Full {
		t.Fatal("there is room")
	}
	take(0)
	q.NotifySpace(&w)
	if w.n != 2 {
		t.Errorf("woken %d times, want at once", w.n)
	}

	// A queue that closes wakes too, and so does asking a closed one.
	offer(90)
	offer(60)
	q.NotifySpace(&w)
	q.Close(EndShutdown)
	if w.n != 3 {
		t.Errorf("woken %d times after close", w.n)
	}
	q.NotifySpace(&w)
	if w.n != 4 || offer(1+20) != Gone {
		t.Errorf("woken %d times by a closed queue, want at once", w.n)
	}
	take(0)
}

func TestCloseKeepsOrReleases(t *testing.T) {
	for _, end := range []End{EndDeleted, EndShutdown, EndCancelled} {
		r := newRooms(t, 0)
		q := r.queue(QueueConfig{})
		e := r.sized(30)
		q.Offer(e)
		q.Offer(e)
		e.Release()
		q.Close(end)
		q.Close(EndShutdown) // the first call decides
		want := 2
		if end == EndCancelled {
			want = 0
		}
		if q.End() != end || q.Len() != want {
			t.Errorf("closed as %d: end %d with %d batches, want %d", end, q.End(), q.Len(), want)
		}
		batch, state := q.TakeUpTo(nil, 1)
		if want > 0 && state != Open {
			t.Error("ended before it was empty")
		}
		release(batch)
		batch, state = q.Take(nil)
		if state != Ended {
			t.Error("not ended although closed and empty")
		}
		release(batch)
	}
	// A subscriber that goes away while its queue is flushed.
	r := newRooms(t, 0)
	q := r.queue(QueueConfig{})
	e := r.sized(30)
	q.Offer(e)
	e.Release()
	q.Close(EndDeleted)
	q.Close(EndCancelled)
	if q.End() != EndCancelled || q.Len() != 0 {
		t.Errorf("end %d with %d batches, want cancelled without any", q.End(), q.Len())
	}
}

// TestEgress fills the process budget: the batch is counted once however many queues share it, the queue above its
// share is full first, the others go on.
func TestEgress(t *testing.T) {
	r := newRooms(t, 1000)
	slow, idle := r.queue(QueueConfig{}), r.queue(QueueConfig{})
	offer := func(size int, qs ...*Queue) (got []Result) {
		e := r.sized(size)
		defer e.Release()
		for _, q := range qs {
			got = append(got, q.Offer(e))
		}
		return got
	}
	drain := func(q *Queue) {
		batch, _ := q.Take(nil)
		release(batch)
	}
	offer(400, slow, idle)
	if n := r.egress.Bytes(); n != 400 || r.egress.Exhausted() {
		t.Errorf("%d bytes are charged for a shared batch of 400", n)
	}
	drain(idle)
	offer(400, slow)
	if n := r.egress.Bytes(); n != 800 {
		t.Errorf("%d bytes are charged, want 800", n)
	}
	// 800 of 1000 are used, the share is 500.
	if got := offer(300, slow, idle); got[0] != Dropped || got[1] != Queued {
		t.Errorf("results %v, want the slow queue to drop and the idle one to take", got)
	}
	if got := offer(300, idle); got[0] != Dropped {
		t.Errorf("result %v above the share, want a drop", got)
	}
	drain(idle)
	if got := offer(150, slow); got[0] != Queued {
		t.Errorf("result %v within the budget, want it queued", got)
	}
	slow.Close(EndCancelled)
	if got := offer(900, idle); got[0] != Queued {
		t.Errorf("result %v for an empty queue, want it queued", got)
	}
	idle.Close(EndShutdown)
	drain(idle)
}

func TestPolicy(t *testing.T) {
	for _, p := range []Policy{Block, DropNew} {
		if got, err := ParsePolicy(p.String()); got != p || err != nil {
			t.Errorf("%s: %d, %v", p, got, err)
		}
	}
	for _, name := range []string{"", "drop_old", "Block"} {
		if _, err := ParsePolicy(name); !errors.Is(err, ErrPolicy) {
			t.Errorf("%q: %v, want ErrPolicy", name, err)
		}
	}
}
