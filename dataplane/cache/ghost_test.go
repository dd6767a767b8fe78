package cache

import "testing"

func TestGhostRemembersRecentOnes(t *testing.T) {
	const entries = 256
	var g ghost
	if g.take(7, entries) {
		t.Error("an empty history knows a tag")
	}
	tag := func(i int) uint32 { return uint32(i) * 0x01000193 }
	for i := range 1000 {
		g.add(tag(i), entries)
	}
	known := 0
	for i := 1000 - entries; i < 1000; i++ {
		if g.take(tag(i), entries) {
			known++
		}
	}
	// Buckets of four slots overflow now and then; most of the window must be there.
	if known < entries*3/4 {
		t.Errorf("%d of the last %d are known", known, entries)
	}
	for i := range 1000 - entries {
		if g.take(tag(i), entries) {
			t.Fatalf("tag %d is known outside the window", i)
		}
	}
	if g.take(tag(999), entries) {
		t.Error("a tag is known twice")
	}
}

func TestGhostFollowsPopulation(t *testing.T) {
	var g ghost
	for _, c := range []struct{ entries, slots int }{
		{0, 64}, {1, 64}, {64, 64}, {65, 128}, {5000, 8192}, {3000, 8192}, {100, 128},
	} {
		g.add(1, c.entries)
		if len(g.slots) != c.slots {
			t.Errorf("%d slots for %d entries, want %d", len(g.slots), c.entries, c.slots)
		}
	}
	g.turn = 1<<32 - 1
	g.add(2, 100)
	if !g.take(2, 100) {
		t.Error("the turn of the counter loses a tag")
	}
}
