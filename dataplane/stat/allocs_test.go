//go:build !race

package stat

import (
	"testing"
	"time"
)

func TestAllocsNumbers(t *testing.T) {
	var c Counter
	var g Gauge
	h := NewHistogram([]float64{0.0001, 0.001, 0.01, 0.1, 1})
	if n := testing.AllocsPerRun(1000, func() { c.Inc(); c.Add(2); g.Add(-1); h.Observe(time.Millisecond) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
