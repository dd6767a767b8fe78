package fanout

import "sync/atomic"

// Egress is the budget of everything that waits for subscribers in the process, in queues and in prefaces. It counts
// each batch once, however many subscribers it waits for, because its bytes are shared.
//
// While the budget is used up, a queue that holds more than its fair share (the budget divided by the open queues)
// is treated as full; the others go on. What queues hold is at least what the budget counts for them, so when queues
// use it up at least one of them is above its share: the largest queue always drops first, an empty one never does.
//
// A preface cannot be dropped, so it is charged without asking, and whoever starts subscriptions refuses those that
// need one while the budget is Exhausted. Prefaces and queues together thus stay below twice the budget and a ring.
type Egress struct {
	max    int64
	used   atomic.Int64
	queues atomic.Int64
}

// NewEgress returns a budget of maxBytes; 0 means no limit.
func NewEgress(maxBytes int64) *Egress { return &Egress{max: maxBytes} }

// Bytes returns the bytes of all batches that wait for at least one subscriber.
func (g *Egress) Bytes() int64 { return g.used.Load() }

// Exhausted reports whether the budget is used up: no subscription with a backlog should start now.
func (g *Egress) Exhausted() bool { return g.max > 0 && g.used.Load() >= g.max }

// refuses reports whether a queue that holds held bytes may not take size more.
//
//felix:hot
func (g *Egress) refuses(held, size int64) bool {
	if g == nil || g.max == 0 || held == 0 || g.used.Load()+size <= g.max {
		return false
	}
	return held+size > g.max/max(g.queues.Load(), 1)
}

// enter charges a batch that waits for one more subscriber.
//
//felix:hot
func (g *Egress) enter(e *Envelope) {
	if g != nil && e.queued.Add(1) == 1 {
		g.used.Add(int64(e.Size()))
	}
}

// leave ends the charge of one subscriber. REQUIRES: the caller holds a count of e.
//
//felix:hot
func (g *Egress) leave(e *Envelope) {
	if g != nil && e.queued.Add(-1) == 0 {
		g.used.Add(-int64(e.Size()))
	}
}

func (g *Egress) open() {
	if g != nil {
		g.queues.Add(1)
	}
}

func (g *Egress) close() {
	if g != nil {
		g.queues.Add(-1)
	}
}
