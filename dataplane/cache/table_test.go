package cache

import (
	"math/rand/v2"
	"testing"
)

func TestTableGrowsAndShrinks(t *testing.T) {
	const n = 5000
	r := rand.New(rand.NewPCG(1, 2))
	tab := newTable()
	entries := make([]*entry, n)
	check := func(present []*entry) {
		t.Helper()
		seen := make(map[*entry]bool)
		for e := range tab.all {
			seen[e] = true
		}
		if len(seen) != len(present) || int(tab.live) != len(present) {
			t.Fatalf("walk sees %d, live %d, want %d", len(seen), tab.live, len(present))
		}
		for _, e := range present {
			p := *tab.head(tab.bucket(e.hash))
			for p != nil && p != e {
				p = p.chain
			}
			if p == nil {
				t.Fatalf("entry with hash %#x is not in its bucket", e.hash)
			}
		}
	}
	for i := range entries {
		entries[i] = &entry{hash: r.Uint64()}
		if i%7 == 0 && i > 0 {
			entries[i].hash = entries[i-1].hash // full collisions stay apart by key
		}
		tab.insert(entries[i])
	}
	check(entries)
	if tab.buckets != n {
		t.Errorf("%d buckets for %d entries", tab.buckets, n)
	}
	r.Shuffle(n, func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
	for i, e := range entries {
		tab.remove(e)
		if i%500 == 0 {
			check(entries[i+1:])
			if tab.buckets > 2*tab.live+firstBuckets {
				t.Errorf("%d buckets for %d entries", tab.buckets, tab.live)
			}
		}
	}
	if tab.any() != nil || tab.buckets != firstBuckets || len(tab.segments) != 1 {
		t.Errorf("empty table: entry %v, %d buckets, %d segments", tab.any(), tab.buckets, len(tab.segments))
	}
}

func TestTableAnyDrains(t *testing.T) {
	tab := newTable()
	r := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		tab.insert(&entry{hash: r.Uint64()})
	}
	for range 1000 {
		e := tab.any()
		if e == nil {
			t.Fatalf("no entry while %d are live", tab.live)
		}
		tab.remove(e)
	}
	if tab.any() != nil {
		t.Error("an entry is left")
	}
}
