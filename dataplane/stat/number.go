package stat

import (
	"sync/atomic"
	"time"
)

// cacheLine is what two neighbours must not share when different owners write them.
const cacheLine = 64

// Counter only grows. The zero value is ready.
type Counter struct {
	v atomic.Uint64
	_ [cacheLine - 8]byte
}

// Inc adds one.
//
//felix:hot
func (c *Counter) Inc() { c.v.Add(1) }

// Add adds n.
//
//felix:hot
func (c *Counter) Add(n uint64) { c.v.Add(n) }

// Load returns the sum.
func (c *Counter) Load() uint64 { return c.v.Load() }

// Gauge goes up and down. The zero value is ready.
type Gauge struct {
	v atomic.Int64
	_ [cacheLine - 8]byte
}

// Add adds n, which may be negative.
//
//felix:hot
func (g *Gauge) Add(n int64) { g.v.Add(n) }

// Set replaces the value.
func (g *Gauge) Set(n int64) { g.v.Store(n) }

// Load returns the value.
func (g *Gauge) Load() int64 { return g.v.Load() }

// Histogram counts durations in fixed buckets, without a lock and without allocating.
type Histogram struct {
	bounds  []float64 // seconds, ascending, immutable
	nanos   []int64   // the same in nanoseconds
	buckets []atomic.Uint64
	sum     atomic.Int64 // nanoseconds
}

// NewHistogram returns a histogram with the given upper bounds in seconds, ascending; a last bucket takes what is larger. It
// panics when the bounds are not ascending.
func NewHistogram(bounds []float64) *Histogram {
	h := &Histogram{bounds: append([]float64(nil), bounds...), buckets: make([]atomic.Uint64, len(bounds)+1)}
	for i, b := range h.bounds {
		if i > 0 && b <= h.bounds[i-1] {
			panic("stat: histogram bounds must ascend")
		}
		h.nanos = append(h.nanos, int64(b*float64(time.Second)))
	}
	return h
}

// Observe counts d in the first bucket whose bound is not below it.
//
//felix:hot
func (h *Histogram) Observe(d time.Duration) {
	i, j := 0, len(h.nanos)
	for i < j {
		if m := (i + j) / 2; int64(d) <= h.nanos[m] {
			j = m
		} else {
			i = m + 1
		}
	}
	h.buckets[i].Add(1)
	h.sum.Add(int64(d))
}

// Count returns how many durations were observed.
func (h *Histogram) Count() (n uint64) {
	for i := range h.buckets {
		n += h.buckets[i].Load()
	}
	return n
}
