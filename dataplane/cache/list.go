package cache

import (
	"bytes"
	"slices"
)

const (
	// MaxListKeys bounds one page of Keys.
	MaxListKeys = 10_000
	// maxListBytes bounds the keys of one page; a page always has room for one key.
	maxListBytes = 1 << 20
)

// Keys returns up to limit of the cache's keys that start with prefix and sort after after, in byte order,
// and whether there are more: then the last key is the next call's after. An empty prefix is every key. An
// empty after is the start, the empty key included. Expired entries are left out.
//
// limit is taken as at least 2 and at most MaxListKeys: a page that ended with the empty key could not be
// continued. A page ends early when its keys pass 1 MiB.
//
// It is a walk over the whole cache with one page of memory, for people and not for requests: each stripe's
// reader lock is held while that stripe's share is looked through. An entry that lives throughout the walk is
// seen; one that is put or removed meanwhile may or may not be.
func (c *Cache) Keys(prefix, after []byte, limit int) (keys [][]byte, more bool) {
	p := page{limit: min(max(limit, 2), MaxListKeys)}
	for i := range c.store.stripes {
		c.walk(&c.store.stripes[i], prefix, after, &p)
	}
	slices.SortFunc(p.keys, bytes.Compare)
	return p.keys, p.more
}

// walk offers st's share of the keys to p.
func (c *Cache) walk(st *stripe, prefix, after []byte, p *page) {
	st.mu.RLock()
	defer st.mu.RUnlock()
	t := c.tables[st.index]
	if t == nil {
		return
	}
	now := c.store.now()
	for e := range t.all {
		key := e.key()
		above := len(after) == 0 || bytes.Compare(key, after) > 0
		if above && bytes.HasPrefix(key, prefix) && !e.expired(now) {
			p.offer(key)
		}
	}
}

// page keeps the smallest keys it was offered: a heap with the largest on top, which is the next to be cut.
type page struct {
	keys  [][]byte
	limit int
	bytes int
	more  bool // a key was cut
}

// offer copies key if it belongs to the page.
func (p *page) offer(key []byte) {
	if len(p.keys) < p.limit {
		p.keys = append(p.keys, nil)
		p.up(len(p.keys)-1, bytes.Clone(key))
	} else {
		p.more = true
		if bytes.Compare(key, p.keys[0]) >= 0 {
			return
		}
		p.bytes -= len(p.keys[0])
		p.down(bytes.Clone(key))
	}
	p.bytes += len(key)
	for p.bytes > maxListBytes && len(p.keys) > 2 {
		last := len(p.keys) - 1
		moved := p.keys[last]
		p.bytes -= len(p.keys[0])
		p.keys = p.keys[:last]
		p.down(moved)
		// What was cut stays cut: no key above it may come in again.
		p.limit, p.more = last, true
	}
}

func (p *page) up(i int, key []byte) {
	for i > 0 && bytes.Compare(p.keys[(i-1)/2], key) < 0 {
		p.keys[i] = p.keys[(i-1)/2]
		i = (i - 1) / 2
	}
	p.keys[i] = key
}

// down puts key in place of the top.
func (p *page) down(key []byte) {
	i := 0
	for c := 1; c < len(p.keys); c = 2*i + 1 {
		if c+1 < len(p.keys) && bytes.Compare(p.keys[c+1], p.keys[c]) > 0 {
			c++
		}
		if bytes.Compare(p.keys[c], key) <= 0 {
			break
		}
		p.keys[i] = p.keys[c]
		i = c
	}
	p.keys[i] = key
}
