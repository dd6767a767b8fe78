package ring

import "sync/atomic"

// MPSC is a bounded lock-free queue of many producers and one consumer. Each cell carries a sequence number that says whose
// turn it is, so producers claim cells with one compare-and-swap and never wait for one another (the bounded queue of Dmitry
// Vyukov, 1024cores.net).
//
// Ownership of a cell passes by its sequence: cell i is the producer's while seq == position, the consumer's while seq ==
// position + 1, and the next lap's producer's after the consumer stored position + size.
type MPSC[T any] struct {
	cells []cell[T]
	mask  uint64
	_     [64]byte
	tail  atomic.Uint64 // next position of the producers
	_     [56]byte
	head  atomic.Uint64 // next position of the consumer, who alone stores it
	_     [56]byte
}

type cell[T any] struct {
	seq   atomic.Uint64
	value T
}

// NewMPSC returns a queue with at least size cells, rounded up to a power of two.
func NewMPSC[T any](size int) *MPSC[T] {
	n := 1
	for n < size {
		n *= 2
	}
	q := &MPSC[T]{cells: make([]cell[T], n), mask: uint64(n - 1)}
	for i := range q.cells {
		q.cells[i].seq.Store(uint64(i))
	}
	return q
}

// TryPush adds v; false when the queue is full. Safe from any goroutine.
//
//felix:hot
func (q *MPSC[T]) TryPush(v T) bool {
	pos := q.tail.Load()
	for {
		c := &q.cells[pos&q.mask]
		switch seq := c.seq.Load(); {
		case seq == pos:
			if q.tail.CompareAndSwap(pos, pos+1) {
				c.value = v
				c.seq.Store(pos + 1)
				return true
			}
			pos = q.tail.Load()
		case seq < pos:
			return false
		default:
			pos = q.tail.Load()
		}
	}
}

// TryPop takes the oldest value; false when none is ready. Called by the consumer only.
//
//felix:hot
func (q *MPSC[T]) TryPop() (v T, ok bool) {
	pos := q.head.Load()
	c := &q.cells[pos&q.mask]
	if c.seq.Load() != pos+1 {
		return v, false
	}
	var zero T
	v, c.value = c.value, zero
	c.seq.Store(pos + q.mask + 1)
	q.head.Store(pos + 1)
	return v, true
}

// Len returns about how many values are queued.
func (q *MPSC[T]) Len() int { return int(q.tail.Load() - q.head.Load()) }
