package cache

import "math/bits"

// firstBuckets is the smallest size of a table.
const firstBuckets = 8

// table is the index of one cache's entries in one stripe: linear hashing with chains through the entries.
//
// It grows and shrinks by one bucket per insert or remove, so that no put ever pays for a rehash of
// everything, and its memory follows the number of entries down again. A Go map was refused: it needs a
// string per key, which is either an allocation per new key or a pointer into a block that an overwrite
// replaces, and it never shrinks.
//
//	segment 0 holds buckets 0..7, segment i buckets 8<<(i-1) .. (8<<i)-1
//	bucket n (n >= 8) was split from n without its highest bit
//
// The stripe's lock guards it.
type table struct {
	segments [][]*entry
	buckets  uint32 // in use, at least firstBuckets
	live     uint32 // entries
}

func newTable() *table {
	return &table{segments: [][]*entry{make([]*entry, firstBuckets)}, buckets: firstBuckets}
}

// bucket is the index of the chain for hash h.
//
//felix:hot
func (t *table) bucket(h uint64) uint32 {
	mask := uint32(1)<<bits.Len32(t.buckets-1) - 1
	b := uint32(h) & mask
	if b >= t.buckets {
		b &= mask >> 1
	}
	return b
}

// head is the place of bucket b's first entry.
//
//felix:hot
func (t *table) head(b uint32) **entry {
	s := bits.Len32(b / firstBuckets)
	if s > 0 {
		b -= firstBuckets << (s - 1)
	}
	return &t.segments[s][b]
}

//felix:hot
func (t *table) insert(e *entry) {
	h := t.head(t.bucket(e.hash))
	e.chain, *h = *h, e
	t.live++
	if t.live > t.buckets {
		t.split()
	}
}

//felix:hot
func (t *table) remove(e *entry) {
	p := t.head(t.bucket(e.hash))
	for *p != e {
		p = &(*p).chain
	}
	*p, e.chain = e.chain, nil
	t.live--
	// Two at a time, because a table at half load has two buckets per entry to give back.
	for range 2 {
		if t.buckets > firstBuckets && t.live < t.buckets/2 {
			t.merge()
		}
	}
}

// split adds one bucket and moves the entries that belong to it.
func (t *table) split() {
	n := t.buckets
	if capacity := uint32(firstBuckets) << (len(t.segments) - 1); n == capacity {
		t.segments = append(t.segments, make([]*entry, capacity))
	}
	t.buckets++
	p, to := t.head(parent(n)), t.head(n)
	for *p != nil {
		e := *p
		if t.bucket(e.hash) != n {
			p = &e.chain
			continue
		}
		*p = e.chain
		e.chain, *to = *to, e
	}
}

// merge gives the last bucket back to the one it came from.
func (t *table) merge() {
	n := t.buckets - 1
	from, p := t.head(n), t.head(parent(n))
	for *p != nil {
		p = &(*p).chain
	}
	*p, *from = *from, nil
	t.buckets = n
	if last := len(t.segments) - 1; last > 0 && n == firstBuckets<<(last-1) {
		t.segments[last] = nil
		t.segments = t.segments[:last]
	}
}

// parent is the bucket from which bucket n was split.
func parent(n uint32) uint32 { return n &^ (1 << (bits.Len32(n) - 1)) }

// any returns some entry, nil when there is none. Entries are found near the end, because a table is at least
// half full.
func (t *table) any() *entry {
	if t.live == 0 {
		return nil
	}
	for b := t.buckets; b > 0; b-- {
		if e := *t.head(b - 1); e != nil {
			return e
		}
	}
	return nil
}

// all yields every entry, in no order.
func (t *table) all(yield func(*entry) bool) {
	for b := range t.buckets {
		for e := *t.head(b); e != nil; e = e.chain {
			if !yield(e) {
				return
			}
		}
	}
}
