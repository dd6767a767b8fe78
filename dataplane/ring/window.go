package ring

import "sync"

// Window is a queue whose places are reserved in order, filled in any order, and drained in order: the answers that a stream
// owes. One goroutine reserves, any goroutine completes, one goroutine drains and releases.
//
//	reserved:   seq 7 8 9 10 11 12
//	completed:      x x   x  x          Drain gives 7 8, then nothing until 9 is completed
//
// A place is taken from Reserve until Release, not until Drain: the bound is on what the other side can make this one hold,
// and a drained answer is held until it was written.
//
// A mutex guards it. The alternative, a sequence word per slot, cannot grow, and a window for each of a client's forty
// streams must cost little while it is not used: the slots grow from 8. An uncontended lock costs about as much as the
// compare-and-swap it replaces, and the drain takes it once for everything that is ready.
type Window[T any] struct {
	max int

	mu sync.Mutex
	// mu guards the following. The slot of a sequence number is seq % len(slots).
	slots    []slot[T]
	next     uint64 // first number that was not reserved
	head     uint64 // first number that was not drained
	released uint64 // first number whose place was not released
	waiting  bool   // the consumer saw nothing ready
	closed   bool
}

type slot[T any] struct {
	value T
	ready bool
}

// NewWindow returns a window with at most max places.
func NewWindow[T any](max int) *Window[T] { return &Window[T]{max: max, waiting: true} }

// Reserve takes the next place; false when all are taken or the window is closed.
//
//felix:hot
func (w *Window[T]) Reserve() (seq uint64, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	taken := int(w.next - w.released)
	if w.closed || taken >= w.max {
		return 0, false
	}
	if int(w.next-w.head) == len(w.slots) {
		w.growLocked()
	}
	seq = w.next
	w.next++
	return seq, true
}

// growLocked doubles the slots; only those from head on are in use.
func (w *Window[T]) growLocked() {
	slots := make([]slot[T], min(max(2*len(w.slots), firstSlots), max(w.max, 1)))
	for seq := w.head; seq < w.next; seq++ {
		slots[seq%uint64(len(slots))] = w.slots[seq%uint64(len(w.slots))]
	}
	w.slots = slots
}

// Complete fills the place seq. wake is true when the consumer has found nothing ready and now there is something: its bell
// must be rung. When the window is closed the value is not accepted and remains the caller's. REQUIRES: seq is reserved and
// not completed.
//
//felix:hot
func (w *Window[T]) Complete(seq uint64, v T) (accepted, wake bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false, false
	}
	if seq < w.head || seq >= w.next {
		panic("ring: Complete of a place that is not reserved")
	}
	s := &w.slots[seq%uint64(len(w.slots))]
	if s.ready {
		panic("ring: place completed twice")
	}
	s.value, s.ready = v, true
	if seq == w.head && w.waiting {
		w.waiting = false
		return true, true
	}
	return true, false
}

// Drain appends every value that is ready at the head, in order. When there is none the next Complete of the head wakes.
//
//felix:hot
func (w *Window[T]) Drain(dst []T) []T {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := len(dst)
	for w.head < w.next {
		s := &w.slots[w.head%uint64(len(w.slots))]
		if !s.ready {
			break
		}
		dst = append(dst, s.value)
		*s = slot[T]{}
		w.head++
	}
	w.waiting = len(dst) == n
	return dst
}

// Release frees the places of the n oldest drained values.
//
//felix:hot
func (w *Window[T]) Release(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.released+uint64(n) > w.head {
		panic("ring: Release of places that were not drained")
	}
	w.released += uint64(n)
}

// Outstanding returns how many places are taken.
func (w *Window[T]) Outstanding() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return int(w.next - w.released)
}

// Close refuses what comes later and returns the values that were completed and not drained; they are the caller's.
func (w *Window[T]) Close() []T {
	w.mu.Lock()
	defer w.mu.Unlock()
	var left []T
	for seq := w.head; seq < w.next; seq++ {
		if s := w.slots[seq%uint64(len(w.slots))]; s.ready {
			left = append(left, s.value)
		}
	}
	w.closed, w.slots = true, nil
	return left
}
