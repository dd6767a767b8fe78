package cache

import (
	"hash/maphash"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"

	"github.com/felix-go/felix/dataplane/stat"
	"github.com/felix-go/felix/dataplane/wire"
)

// Store is all the caches of one broker. Its goals: a read that copies nothing and allocates nothing, a byte
// limit that holds at every moment, and no operation whose work grows with the size of the cache.
//
// The keys of all caches are spread over stripes by a seeded hash, each stripe with one lock. A cache has a
// table in every stripe it uses; eviction queues and deadlines are per stripe and span the caches.
//
//	Get:  hash, reader lock, find, expiry, retain the block, count the use, unlock
//	Put:  hash, reader lock: what does the key hold now, may a condition refuse already; unlock
//	      reserve the difference in bytes, evicting what the policy allows; on failure Full, nothing changed
//	      copy key and value into a block
//	      lock: find again, check the condition, take a version, set the deadline, replace or insert; unlock
//	      give back what was reserved too much, release the old block
//
// Invariants:
//
//   - used = the charges of all entries + what running puts have reserved, and used <= MaxBytes. Room is reserved
//     before the lock, so nothing can fail inside it. The look at the old entry is a guess; if the entry changed
//     before the lock, the put reserves its whole charge and tries once more, which then always suffices.
//   - An entry owns one reference of its block. Whoever takes an entry out owns that reference; readers have their
//     own, so that nothing they hold is ever cut, reused or changed.
//   - A check and the write that depends on it happen under one hold of the stripe's lock.
//
// Versions come from one counter for all caches that starts at the wall clock in microseconds and is bumped
// under the lock: strictly growing per key, never reused in a run even by a cache that is dropped and created
// again, and, unless the clock was set back across a restart, above every version of earlier runs. They are
// never 0.
//
// Time to live is measured on the boot clock, which no step of the wall clock touches and which counts time
// spent suspended: an entry can neither die early nor come back. See sweep.
type Store struct {
	config  Config
	seed    maphash.Seed
	shift   uint // hash >> shift is the stripe
	stripes []stripe

	used    atomic.Int64
	version atomic.Uint64
	hand    atomic.Uint32 // where the search for a stripe to evict from goes on

	evictions, expired, refused *stat.Counter

	mu sync.Mutex
	// mu guards the following.
	caches map[identity]*Cache
	closed bool
	stop   chan struct{} // nil until Start
	done   chan struct{}
}

// identity tells caches apart. A re-created cache has another incarnation and starts empty.
type identity struct {
	handle      wire.Handle
	incarnation uint64
}

// Cache is one cache of the store. Its methods may be called by any number of goroutines; each is one step as
// far as its key is concerned.
type Cache struct {
	store *Store
	id    identity
	salt  uint32

	entries, bytes atomic.Int64
	dropped        atomic.Bool // read under a stripe's lock before an insert

	// tables has one place per stripe, guarded by that stripe's lock, nil until the first put: an empty cache
	// costs 8 bytes per stripe.
	tables []*table
}

// New returns an empty store without goroutines. REQUIRES: cfg.Validate() == nil.
func New(cfg Config) *Store {
	if err := cfg.Validate(); err != nil {
		panic(err)
	}
	log2 := stripesFor(cfg.MaxBytes)
	s := &Store{
		config:  cfg.withDefaults(),
		seed:    maphash.MakeSeed(),
		shift:   64 - log2,
		stripes: make([]stripe, 1<<log2),
		caches:  make(map[identity]*Cache),
	}
	for i := range s.stripes {
		s.stripes[i].init(i)
	}
	s.version.Store(uint64(max(0, s.config.Clock.Now().UnixMicro())))
	s.register(s.config.Stats)
	return s
}

// Open returns the cache with this catalog handle and incarnation, empty when it is new. The caller keeps it:
// Open takes a lock that all caches share. After Close it returns a cache that holds nothing and answers puts
// with Gone.
func (s *Store) Open(handle wire.Handle, incarnation uint64) *Cache {
	id := identity{handle, incarnation}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.caches[id]
	if c == nil {
		c = &Cache{store: s, id: id, tables: make([]*table, len(s.stripes))}
		c.salt = bits.ReverseBytes32(uint32(handle)*0x9E3779B1) ^ uint32(incarnation)
		if s.closed {
			c.dropped.Store(true)
			return c
		}
		s.caches[id] = c
	}
	return c
}

// Drop removes the cache and everything in it. Whoever still has the *Cache finds it empty for good. Work is
// done in bounded holds of one stripe at a time; Drop returns when all memory but that of values still held
// has come back. A later Open of the same identity makes a new cache, so the caller sees to it that a late
// request does not open what the catalog dropped.
func (s *Store) Drop(handle wire.Handle, incarnation uint64) {
	id := identity{handle, incarnation}
	s.mu.Lock()
	c := s.caches[id]
	delete(s.caches, id)
	s.mu.Unlock()
	if c != nil {
		s.drop(c)
	}
}

// drop empties c. A put that did not see the mark holds the lock of its stripe, so it is finished before that
// stripe is emptied here.
func (s *Store) drop(c *Cache) {
	c.dropped.Store(true)
	for i := range s.stripes {
		for s.dropSome(c, &s.stripes[i]) {
		}
	}
}

// dropSome takes up to one batch of c's entries out of st and reports whether there are more.
func (s *Store) dropSome(c *Cache, st *stripe) bool {
	var dead batch
	st.mu.Lock()
	t := c.tables[st.index]
	for t != nil && t.live > 0 && !dead.full() {
		e := t.any()
		dead.add(e.charge(), st.remove(e))
	}
	more := t != nil && t.live > 0
	if !more {
		c.tables[st.index] = nil
	}
	st.mu.Unlock()
	s.used.Add(-dead.bytes)
	dead.release()
	return more
}

// Close stops the sweep, drops every cache and makes the store refuse more. Values that readers hold stay
// valid.
func (s *Store) Close() {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	s.closed = true
	caches := s.caches
	s.caches = nil
	s.mu.Unlock()
	if s.stop != nil {
		close(s.stop)
		<-s.done
	}
	for _, c := range caches {
		s.drop(c)
	}
}

//felix:hot
func (s *Store) stripe(hash uint64) *stripe { return &s.stripes[hash>>s.shift] }

//felix:hot
func (s *Store) now() time.Duration { return s.config.Clock.Boot() }

// tag is the fingerprint of a key of this cache in the ghost history.
//
//felix:hot
func (c *Cache) tag(hash uint64) uint32 { return uint32(hash>>24) ^ c.salt }

// find looks a key up in its stripe, whose lock the caller holds.
//
//felix:hot
func (c *Cache) find(st *stripe, hash uint64, key []byte) *entry {
	t := c.tables[st.index]
	if t == nil {
		return nil
	}
	e := *t.head(t.bucket(hash))
	for e != nil && !e.is(c, hash, key) {
		e = e.chain
	}
	return e
}

// Len is the number of entries, those included that have expired and were not swept yet.
func (c *Cache) Len() int64 { return c.entries.Load() }

// Bytes is what the entries of Len count against the limit.
func (c *Cache) Bytes() int64 { return c.bytes.Load() }
