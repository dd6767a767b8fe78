package cache

import (
	"hash/maphash"
	"time"

	"github.com/felix-go/felix/dataplane/arena"
	"github.com/felix-go/felix/internal/invariants"
)

// put is one put on its way through the store. It lives on the caller's stack, and so may the key and the
// value: the block that becomes the entry's travels apart from it, because the compiler judges what escapes
// by whole structs.
type put struct {
	key, value  []byte
	ttl         TTL
	conditional bool
	condition   Condition

	hash   uint64
	charge int64
	held   int64 // bytes reserved, always 0 without a limit
}

// Put stores value under key, replacing the entry and its expiry. The time to live counts from its
// completion. The result is Applied with the new version, Full, or Gone. key and value are copied; an empty
// key is a key.
//
//felix:hot
func (c *Cache) Put(key, value []byte, ttl TTL) (version uint64, r Result) {
	p := put{key: key, value: value, ttl: ttl}
	return c.put(&p)
}

// PutIf is Put if the condition holds: check and write are one step. Refused comes with the version of the
// current entry, 0 when there is none.
//
//felix:hot
func (c *Cache) PutIf(key, value []byte, ttl TTL, condition Condition) (version uint64, r Result) {
	p := put{key: key, value: value, ttl: ttl, conditional: true, condition: condition}
	return c.put(&p)
}

//felix:hot
func (c *Cache) put(p *put) (uint64, Result) {
	s := c.store
	invariants.Check(p.ttl >= 0 && p.ttl <= MaxTTL, "cache: time to live not from ParseTTL")
	p.hash = maphash.Bytes(s.seed, p.key)
	p.charge = chargeOf(len(p.key), len(p.value))
	st := s.stripe(p.hash)

	old, version, r := c.look(p, st)
	if r != Applied {
		return version, r
	}
	if s.config.MaxBytes > 0 && p.charge > old {
		if p.charge > s.config.MaxBytes || !s.reserve(st, p.charge-old) {
			s.refused.Inc()
			return 0, Full
		}
		p.held = p.charge - old
	}
	block := s.config.Arena.Acquire(max(len(p.value)+len(p.key), 1))
	b := block.Bytes()
	copy(b[copy(b, p.value):], p.key)
	version, r = c.install(p, st, block)
	if r != Applied {
		s.used.Add(-p.held)
		block.Release()
	}
	return version, r
}

// look tells what the key's entry counts now, 0 without one. It also refuses early, so that nothing is
// evicted or copied for a put whose condition fails; install decides anyway, so a check that would cost a
// clock reading for neither is left to it.
//
//felix:hot
func (c *Cache) look(p *put, st *stripe) (old int64, current uint64, r Result) {
	s := c.store
	if !p.conditional && s.config.MaxBytes == 0 {
		return 0, 0, Applied
	}
	st.mu.RLock()
	defer st.mu.RUnlock()
	e := c.find(st, p.hash, p.key)
	if e != nil {
		old = e.charge()
	}
	if c.dropped.Load() {
		return 0, 0, Gone
	}
	if !p.conditional || e != nil && e.expires != 0 && p.charge <= old {
		return old, 0, Applied
	}
	var now time.Duration
	if e != nil && e.expires != 0 {
		now = s.now()
	}
	if current, ok := p.admits(e, now); !ok {
		return old, current, Refused
	}
	return old, 0, Applied
}

// admits checks the condition against e, nil for none, and returns the version that refuses it.
//
//felix:hot
func (p *put) admits(e *entry, now time.Duration) (current uint64, ok bool) {
	if !p.conditional {
		return 0, true
	}
	if e == nil || e.expired(now) {
		return 0, p.condition.Absent
	}
	return e.version, !p.condition.Absent && e.version == p.condition.Version
}

// install makes the put visible with block, [value][key]. On another result than Applied nothing changed, and
// block and bytes are the caller's.
//
//felix:hot
func (c *Cache) install(p *put, st *stripe, block arena.Ref) (version uint64, r Result) {
	s := c.store
	for {
		st.mu.Lock()
		if c.dropped.Load() {
			st.mu.Unlock()
			return 0, Gone
		}
		e := c.find(st, p.hash, p.key)
		// The time of the check is the time of the put: read once, under the lock, and only where somebody
		// expires.
		var now time.Duration
		if p.ttl != NoExpiry || e != nil && e.expires != 0 {
			now = s.now()
		}
		if current, ok := p.admits(e, now); !ok {
			st.mu.Unlock()
			return current, Refused
		}
		grows := p.charge
		if e != nil {
			grows -= e.charge()
		}
		if s.config.MaxBytes == 0 || grows <= p.held {
			version, replaced := c.write(p, st, e, block, now)
			st.mu.Unlock()
			s.used.Add(grows - p.held)
			if replaced.Valid() {
				replaced.Release()
			}
			return version, Applied
		}
		// Slow path: the entry that was looked at has shrunk or gone. The whole charge is enough for
		// anything.
		st.mu.Unlock()
		if !s.reserve(st, p.charge-p.held) {
			s.refused.Inc()
			return 0, Full
		}
		p.held = p.charge
	}
}

// write replaces or inserts the entry, under the stripe's lock, and returns the block that was replaced.
//
//felix:hot
func (c *Cache) write(
	p *put, st *stripe, e *entry, block arena.Ref, now time.Duration,
) (version uint64, replaced arena.Ref) {
	s := c.store
	if e == nil {
		e = st.take()
		e.owner, e.hash = c, p.hash
		e.set(p, block)
		if c.tables[st.index] == nil {
			c.tables[st.index] = newTable()
		}
		st.insert(s, c.tables[st.index], e)
	} else {
		replaced = e.block
		grows := p.charge - e.charge()
		if q := st.queueOf(e); q != nil {
			q.bytes += grows
		}
		st.count(c, 0, grows)
		e.set(p, block)
		if e.expired(now) {
			s.expired.Inc() // its time ended it, not this put
			e.hits.Store(0)
		} else {
			st.use(e)
		}
	}
	e.version = s.version.Add(1)
	st.setDeadline(e, p.ttl.deadline(now))
	return e.version, replaced
}

//felix:hot
func (e *entry) set(p *put, block arena.Ref) {
	e.block, e.keyLen, e.valueLen = block, uint32(len(p.key)), uint32(len(p.value))
}
