package cache

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

func TestSweepBringsMemoryBack(t *testing.T) {
	f := newFixture(t, Config{})
	c := f.Open(1, 1)
	for i := range 3000 {
		ttl := NoExpiry
		if i%3 > 0 {
			ttl = mustTTL(uint64(1000 * (i % 3)))
		}
		mustPut(t, c, fmt.Sprint(i), "value", ttl)
	}
	for _, left := range []int64{3000, 2000, 1000, 1000} {
		if f.sweep() {
			t.Error("a pass did not finish")
		}
		if c.Len() != left || f.arena.Outstanding() != left {
			t.Errorf("%d entries, %d blocks, want %d", c.Len(), f.arena.Outstanding(), left)
		}
		mustAudit(t, f)
		f.clock.Advance(time.Second)
	}
}

func TestSweepPassIsBounded(t *testing.T) {
	f := newFixture(t, Config{})
	c := f.Open(1, 1)
	const n = 2*sweepEntries + 100
	for i := range n {
		mustPut(t, c, fmt.Sprint(i), "", mustTTL(1))
	}
	f.clock.Advance(time.Second)
	passes := 1
	for f.sweep() {
		passes++
		// One batch may run over.
		if gone := n - c.Len(); gone > int64(passes*(sweepEntries+batchEntries)) {
			t.Fatalf("%d entries gone after %d passes", gone, passes)
		}
	}
	if passes != 3 || c.Len() != 0 {
		t.Errorf("%d passes, %d entries left", passes, c.Len())
	}
	mustAudit(t, f)
}

func TestSweepRunsByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openFixture(Config{})
		f.Start()
		c := f.Open(1, 1)
		for i := range 2 * sweepEntries {
			mustPut(t, c, fmt.Sprint(i), "", mustTTL(1500))
		}
		mustPut(t, c, "stays", "", NoExpiry)
		step := func(d time.Duration) int64 {
			synctest.Wait()
			f.clock.Advance(d)
			synctest.Wait()
			return c.Len()
		}
		if n := step(sweepInterval); n != 2*sweepEntries+1 {
			t.Errorf("%d entries before their time", n)
		}
		// A full pass is followed by another one soon.
		if n := step(sweepInterval); n > sweepEntries+1 || n == 1 {
			t.Errorf("%d entries after one pass", n)
		}
		for range 3 {
			step(sweepPause)
		}
		if n := c.Len(); n != 1 || f.arena.Outstanding() != 1 {
			t.Errorf("%d entries, %d blocks left", n, f.arena.Outstanding())
		}
		if err := f.end(); err != nil {
			t.Error(err)
		}
	})
}
