package cache

import "hash/maphash"

// Delete removes the key's entry and returns the value it held, which the caller then owns, or false when
// there was none or an expired one.
//
//felix:hot
func (c *Cache) Delete(key []byte) (Value, bool) {
	v, _, r := c.take(key, 0, false)
	return v, r == Applied
}

// DeleteIf removes the key's entry if it has this version: check and write are one step. Otherwise the result
// is Refused with the version of the current entry, 0 when there is none.
//
//felix:hot
func (c *Cache) DeleteIf(key []byte, version uint64) (current uint64, r Result) {
	v, current, r := c.take(key, version, true)
	if r == Applied {
		v.Ref.Release()
	}
	return current, r
}

// take removes an entry. An expired one goes too, as expired, and is not returned.
//
//felix:hot
func (c *Cache) take(key []byte, version uint64, conditional bool) (v Value, current uint64, r Result) {
	s := c.store
	hash := maphash.Bytes(s.seed, key)
	st := s.stripe(hash)
	st.mu.Lock()
	e := c.find(st, hash, key)
	if e == nil {
		st.mu.Unlock()
		return Value{}, 0, Refused
	}
	dead := e.expires != 0 && e.expired(s.now())
	if conditional && !dead && e.version != version {
		current = e.version
		st.mu.Unlock()
		return Value{}, current, Refused
	}
	v = Value{Version: e.version, ExpiresAt: e.expires}
	valueLen, charge := int(e.valueLen), e.charge()
	// The entry's reference passes to the caller, so nothing is retained.
	block := st.remove(e)
	st.mu.Unlock()
	s.used.Add(-charge)
	if dead {
		s.expired.Inc()
		block.Release()
		return Value{}, 0, Refused
	}
	v.Ref = block.Slice(valueLen)
	return v, 0, Applied
}
