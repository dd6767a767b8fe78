//go:build !race

package ingress

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/felix-go/felix/dataplane/wire"
	"github.com/felix-go/felix/internal/invariants"
)

// The gates of this room. The walk of a whole publish through real sockets is gated in brokertest
// (TestAllocsPerDeliveredMessage).
func TestAllocsReader(t *testing.T) {
	if invariants.Enabled {
		return // leak tracking allocates by design
	}
	for name, size := range map[string]int{"small": 256, "large": 40_000} {
		src := &looping{frame: bytes.Repeat(frameOf(wire.FlagPublishBatch, make([]byte, size)), 8)}
		r, _ := newReader(src, 1<<20, false)
		gate(t, name, func() {
			var fr frame
			if err := r.next(&fr); err != nil {
				t.Fatal(err)
			}
			if fr.own.Valid() {
				fr.own.Release()
			}
		})
	}
}

// gate demands that some run allocates nothing: a collection may empty a pool in any one.
func gate(t *testing.T, name string, f func()) {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	best := 1.0
	for range 5 {
		if best = min(best, testing.AllocsPerRun(1000, f)); best == 0 {
			return
		}
	}
	t.Errorf("%s: %v allocations per operation", name, best)
}
