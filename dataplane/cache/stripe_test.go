package cache

import (
	"fmt"
	"testing"
)

// A spare entry pins nothing and passes no history on, and a stripe keeps few of them.
func TestSparesAreScrubbedAndBounded(t *testing.T) {
	f := newFixture(t, Config{MaxBytes: 1 << 20})
	c := f.Open(1, 1)
	const n = 3 * maxSpares
	for i := range n {
		mustPut(t, c, fmt.Sprint(i), "v", mustTTL(1000))
		wantValue(t, c, fmt.Sprint(i), "v", 0)
	}
	for i := range n {
		v, _ := c.Delete([]byte(fmt.Sprint(i)))
		v.Ref.Release()
	}
	spares := 0
	for e := f.stripes[0].spare; e != nil; e = e.chain {
		spares++
		if e.block.Valid() || e.owner != nil || e.newer != nil || e.older != nil || e.hits.Load() != 0 ||
			e.due != 0 || e.expires != 0 || e.queue != queueNone {
			t.Fatalf("a spare keeps %+v", e)
		}
	}
	if spares != maxSpares || f.stripes[0].spares != spares {
		t.Errorf("%d spares, counted %d", spares, f.stripes[0].spares)
	}
}
