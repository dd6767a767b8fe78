package cache

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// pages collects a listing page by page.
func pages(c *Cache, prefix string, limit int) (all []string, n int) {
	var after []byte
	for {
		keys, more := c.Keys([]byte(prefix), after, limit)
		n++
		for _, k := range keys {
			all = append(all, string(k))
		}
		if !more {
			return all, n
		}
		after = keys[len(keys)-1]
	}
}

func TestKeysPages(t *testing.T) {
	f := newFixture(t, Config{})
	c, other := f.Open(1, 1), f.Open(2, 1)
	r := rand.New(rand.NewPCG(21, 22))
	var want []string
	for i := range 2000 {
		k := fmt.Sprintf("%c%x", 'a'+r.IntN(3), r.Uint64())
		if i == 0 {
			k = ""
		}
		mustPut(t, c, k, "v", NoExpiry)
		mustPut(t, other, "other"+k, "v", NoExpiry)
		want = append(want, k)
	}
	slices.Sort(want)
	for _, prefix := range []string{"", "b", "c7", "none"} {
		var matching []string
		for _, k := range want {
			if strings.HasPrefix(k, prefix) {
				matching = append(matching, k)
			}
		}
		for _, limit := range []int{-1, 1, 2, 7, 100, 5000, 1 << 30} {
			got, n := pages(c, prefix, limit)
			if !slices.Equal(got, matching) {
				t.Fatalf("prefix %q limit %d: %d keys, want %d", prefix, limit, len(got), len(matching))
			}
			if per := min(max(limit, 2), MaxListKeys); n != max(1, (len(matching)+per-1)/per) {
				t.Errorf("prefix %q limit %d: %d keys in %d pages", prefix, limit, len(matching), n)
			}
		}
	}
}

// Pages are bounded in bytes too, and cutting one loses no key.
func TestKeysPageBytes(t *testing.T) {
	f := newFixture(t, Config{})
	c := f.Open(1, 1)
	r := rand.New(rand.NewPCG(23, 24))
	var want []string
	for range 100 {
		k := fmt.Sprintf("%016x", r.Uint64()) + strings.Repeat("x", r.IntN(65_000))
		mustPut(t, c, k, "", NoExpiry)
		want = append(want, k)
	}
	slices.Sort(want)
	got, n := pages(c, "", 1000)
	if !slices.Equal(got, want) || n < 3 {
		t.Errorf("%d keys in %d pages, want %d", len(got), n, len(want))
	}
	keys, more := c.Keys(nil, nil, 1000)
	if size := len(bytes.Join(keys, nil)); !more || size > maxListBytes {
		t.Errorf("a page of %d bytes, more %v", size, more)
	}
	// Keys beyond any page still come out, two at a time.
	huge := f.Open(2, 1)
	for i := range 5 {
		mustPut(t, huge, strings.Repeat("k", maxListBytes+i), "", NoExpiry)
	}
	if got, n := pages(huge, "", 1000); len(got) != 5 || n != 3 {
		t.Errorf("%d huge keys in %d pages", len(got), n)
	}
}

// Listed keys are the caller's.
func TestKeysAreCopies(t *testing.T) {
	f := newFixture(t, Config{})
	c := f.Open(1, 1)
	mustPut(t, c, "key", "value", NoExpiry)
	keys, _ := c.Keys(nil, nil, 10)
	copy(keys[0], "xxx")
	wantValue(t, c, "key", "value", 0)
	c.DeleteIf([]byte("key"), f.version.Load())
	if len(keys) != 1 || string(keys[0]) != "xxx" {
		t.Errorf("%q", keys)
	}
}

// Whatever the order and the sizes, a page is the beginning of the sorted keys.
func TestPageIsABeginning(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(25, seed))
		p := page{limit: 2 + r.IntN(60)}
		var want []string
		for range 80 {
			k := fmt.Sprintf("%08x", r.Uint32())
			if r.IntN(3) == 0 {
				k += strings.Repeat("x", r.IntN(200_000))
			}
			want = append(want, k)
			p.offer([]byte(k))
		}
		slices.Sort(want)
		slices.SortFunc(p.keys, bytes.Compare)
		size := 0
		for i, k := range p.keys {
			size += len(k)
			if string(k) != want[i] {
				t.Fatalf("seed %d: key %d of %d is not the next one", seed, i, len(p.keys))
			}
		}
		if p.bytes != size || size > maxListBytes || p.more != (len(p.keys) < len(want)) || len(p.keys) < 2 {
			t.Fatalf("seed %d: %d keys, %d bytes counted as %d, more %v", seed, len(p.keys), size, p.bytes, p.more)
		}
	}
}
