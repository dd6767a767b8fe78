package cache

import "hash/maphash"

// Get returns the key's value, retained for the caller, or false when the key has no entry or an expired one.
// It copies and allocates nothing.
//
//felix:hot
func (c *Cache) Get(key []byte) (Value, bool) {
	s := c.store
	hash := maphash.Bytes(s.seed, key)
	st := s.stripe(hash)
	if s.config.Policy == PolicyLRU {
		return c.getMoving(st, hash, key)
	}
	st.mu.RLock()
	e := c.find(st, hash, key)
	// The clock is a system call on some machines: only entries that expire pay for it.
	if e == nil || e.expires != 0 && e.expired(s.now()) {
		st.mu.RUnlock()
		st.misses.Add(1)
		return Value{}, false
	}
	v := e.value()
	e.touch()
	st.mu.RUnlock()
	st.hits.Add(1)
	return v, true
}

// getMoving is Get under LRU, where a use moves the entry to the front of its stripe's queue.
//
//felix:hot
func (c *Cache) getMoving(st *stripe, hash uint64, key []byte) (Value, bool) {
	st.mu.Lock()
	e := c.find(st, hash, key)
	if e == nil || e.expires != 0 && e.expired(c.store.now()) {
		st.mu.Unlock()
		st.misses.Add(1)
		return Value{}, false
	}
	v := e.value()
	st.use(e)
	st.mu.Unlock()
	st.hits.Add(1)
	return v, true
}

// use counts a use of e: a hit for S3-FIFO, the move to the front for LRU.
//
//felix:hot
func (st *stripe) use(e *entry) {
	e.touch()
	if e.queue == queueMain && e.newer != nil && e.owner.store.config.Policy == PolicyLRU {
		st.main.unlink(e)
		st.main.push(e, queueMain)
	}
}
