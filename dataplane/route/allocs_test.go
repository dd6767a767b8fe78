//go:build !race

package route

import (
	"runtime"
	"testing"

	"github.com/felix-go/felix/dataplane/catalog"
)

// TestAllocs gates decisions, yes and no, at zero objects.
func TestAllocs(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	r, s, c := New(), &catalog.Stream{Shards: 3}, &catalog.Cache{Shards: 3}
	best := -1.0
	for range 5 {
		n := testing.AllocsPerRun(100, func() {
			if !r.Stream(s, 2).Local || r.Cache(c, 3).Local {
				t.Fatal("wrong decision")
			}
		})
		if best < 0 || n < best {
			best = n
		}
	}
	if best != 0 {
		t.Errorf("%v objects per decision, want 0", best)
	}
}
