package ring

// Waker is woken when something it waits for may have happened; a shard lane is one. Wake never blocks and may be called
// from any goroutine.
type Waker interface{ Wake() }

// Bell wakes one waiting goroutine. Rings that come before the waiter looks again count as one.
type Bell struct{ c chan struct{} }

// NewBell returns a silent bell.
func NewBell() *Bell { return &Bell{c: make(chan struct{}, 1)} }

// Ring wakes the waiter, now or at its next Wait. It never blocks.
//
//felix:hot
func (b *Bell) Ring() {
	select {
	case b.c <- struct{}{}:
	default:
	}
}

// C receives once for the rings since the last receive.
func (b *Bell) C() <-chan struct{} { return b.c }

// Wait returns true after a ring and false when done is closed.
//
//felix:hot
func (b *Bell) Wait(done <-chan struct{}) bool {
	select {
	case <-b.c:
		return true
	default:
	}
	select {
	case <-b.c:
		return true
	case <-done:
		return false
	}
}
