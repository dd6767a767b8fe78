package cache

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

func TestDeadlinesKeepOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var d deadlines
	want := make(map[*entry]time.Duration)
	entries := make([]*entry, 300)
	for i := range entries {
		entries[i] = new(entry)
	}
	for range 20_000 {
		e := entries[r.IntN(len(entries))]
		switch at := time.Duration(r.IntN(1000)); {
		case r.IntN(4) > 0 && at > 0:
			d.set(e, at)
			want[e] = at
		default:
			d.set(e, 0)
			delete(want, e)
		}
		soonest := int64(math.MaxInt64)
		for _, at := range want {
			soonest = min(soonest, int64(at))
		}
		if d.soonest() != soonest || len(d.line) != len(want) {
			t.Fatalf("soonest %d of %d, want %d of %d", d.soonest(), len(d.line), soonest, len(want))
		}
	}
	for last := time.Duration(0); len(d.line) > 0; {
		x := d.line[0]
		if x.at < last || want[x.e] != x.at || x.e.expires != x.at {
			t.Fatalf("popped %v after %v, want %v", x.at, last, want[x.e])
		}
		last = x.at
		d.remove(x.e)
	}
}

func TestDeadlinesGiveMemoryBack(t *testing.T) {
	var d deadlines
	entries := make([]*entry, 10_000)
	for i := range entries {
		entries[i] = new(entry)
		d.set(entries[i], time.Duration(i+1))
	}
	for _, e := range entries {
		d.remove(e)
	}
	if cap(d.line) > minLine {
		t.Errorf("an empty line keeps %d places", cap(d.line))
	}
}
