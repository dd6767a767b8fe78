package admission

import (
	"sync"
	"time"
)

// Budget bounds bytes, and optionally items, that are held at once.
//
// Waiters are served in the order of their coming: while somebody waits nobody overtakes, so a large request is not starved by
// small ones. A request larger than the whole budget is admitted alone, when nothing is held: refusing it for ever would make
// legal work impossible.
type Budget struct {
	maxBytes, maxItems int64

	mu sync.Mutex
	// mu guards the following.
	bytes, items int64
	first, last  *waiter // in the order of their coming
}

// waiter is one blocked Acquire.
type waiter struct {
	bytes      int64
	granted    chan struct{} // closed when the bytes are the waiter's
	next, prev *waiter
	queued     bool
}

// NewBudget returns a budget; maxItems 0 means that items are not bounded.
func NewBudget(maxBytes, maxItems int64) *Budget {
	return &Budget{maxBytes: maxBytes, maxItems: maxItems}
}

// Bytes returns the bytes that are held.
func (b *Budget) Bytes() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.bytes
}

// Items returns how many holds there are.
func (b *Budget) Items() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.items
}

// TryAcquire takes n bytes if there is room and nobody waits.
//
//felix:hot
func (b *Budget) TryAcquire(n int64) bool {
	b.mu.Lock()
	ok := b.first == nil && b.fitsLocked(n)
	if ok {
		b.bytes += n
		b.items++
	}
	b.mu.Unlock()
	return ok
}

func (b *Budget) fitsLocked(n int64) bool {
	if b.items == 0 {
		return true
	}
	return b.bytes+n <= b.maxBytes && (b.maxItems == 0 || b.items < b.maxItems)
}

// Release gives n bytes of one hold back and serves those who wait.
//
//felix:hot
func (b *Budget) Release(n int64) {
	b.mu.Lock()
	b.bytes -= n
	b.items--
	if b.bytes < 0 || b.items < 0 {
		b.mu.Unlock()
		panic("admission: more released than was acquired")
	}
	b.serveLocked()
	b.mu.Unlock()
}

func (b *Budget) serveLocked() {
	for w := b.first; w != nil && b.fitsLocked(w.bytes); w = b.first {
		b.removeLocked(w)
		b.bytes += w.bytes
		b.items++
		close(w.granted)
	}
}

func (b *Budget) removeLocked(w *waiter) {
	if w.prev == nil {
		b.first = w.next
	} else {
		w.prev.next = w.next
	}
	if w.next == nil {
		b.last = w.prev
	} else {
		w.next.prev = w.prev
	}
	w.queued = false
}

// acquire takes n bytes, waiting until deadline (nil channel: none) or done.
func (b *Budget) acquire(n int64, deadline <-chan time.Time, done <-chan struct{}) bool {
	b.mu.Lock()
	if b.first == nil && b.fitsLocked(n) {
		b.bytes += n
		b.items++
		b.mu.Unlock()
		return true
	}
	w := &waiter{bytes: n, granted: make(chan struct{}), prev: b.last, queued: true}
	if b.last == nil {
		b.first = w
	} else {
		b.last.next = w
	}
	b.last = w
	b.mu.Unlock()
	select {
	case <-w.granted:
		return true
	case <-deadline:
	case <-done:
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !w.queued {
		return true // granted while giving up: the bytes are held, so the caller may as well use them
	}
	b.removeLocked(w)
	b.serveLocked() // it may have been the one that did not fit
	return false
}
