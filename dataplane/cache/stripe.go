package cache

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/felix-go/felix/dataplane/arena"
	"github.com/felix-go/felix/internal/invariants"
)

// maxSpares is how many entry records a stripe keeps for its next new keys; the rest go to the collector, so
// that the memory of a large cache comes back with its entries.
const maxSpares = 32

// stripe is one lock's share of the store: the entries of every cache whose key hashes here, their eviction
// queues and their deadlines. Caches share stripes, so that one order of age covers all of them and a limit
// needs no shares per cache.
type stripe struct {
	index int // in Store.stripes and Cache.tables

	mu sync.RWMutex
	// mu guards the following.
	small, main queue
	ghost       ghost
	due         deadlines
	spare       *entry // chained
	spares      int

	// Written under mu, read without it.
	bytes   atomic.Int64 // sum of charges
	entries atomic.Int64
	soonest atomic.Int64 // earliest deadline as boot time, math.MaxInt64 without any

	// Counted beside the lock, whose cache line the caller owns anyway, and summed when they are read.
	hits, misses atomic.Uint64

	_ [64]byte // neighbours are written by others
}

// insert enters e, whose key, hash, owner and sizes are set, into the table and the queue that the policy
// says.
//
//felix:hot
func (st *stripe) insert(s *Store, t *table, e *entry) {
	t.insert(e)
	switch {
	case s.config.MaxBytes == 0 || s.config.Policy == PolicyNone:
	case s.config.Policy == PolicyLRU || st.ghost.take(e.owner.tag(e.hash), int(st.entries.Load())):
		st.main.push(e, queueMain)
	default:
		st.small.push(e, queueSmall)
	}
	st.entries.Add(1)
	st.count(e.owner, 1, e.charge())
}

// count adds to the byte counters of the stripe and the cache, and to the cache's number of entries.
//
//felix:hot
func (st *stripe) count(c *Cache, entries, bytes int64) {
	st.bytes.Add(bytes)
	c.bytes.Add(bytes)
	if entries != 0 {
		c.entries.Add(entries)
	}
}

// remove takes e out of everything and returns its block, which the caller releases or hands on. The caller
// accounts for its charge in Store.used.
//
//felix:hot
func (st *stripe) remove(e *entry) arena.Ref {
	block, c := e.block, e.owner
	c.tables[st.index].remove(e)
	if q := st.queueOf(e); q != nil {
		q.unlink(e)
	}
	if e.due != 0 {
		st.setDeadline(e, 0)
	}
	st.entries.Add(-1)
	st.count(c, -1, -e.charge())
	invariants.Check(st.bytes.Load() >= 0 && c.bytes.Load() >= 0, "cache: byte counter below zero")
	st.give(e)
	return block
}

// queueOf is the queue that e is in, nil for none.
//
//felix:hot
func (st *stripe) queueOf(e *entry) *queue {
	switch e.queue {
	case queueSmall:
		return &st.small
	case queueMain:
		return &st.main
	}
	return nil
}

//felix:hot
func (st *stripe) setDeadline(e *entry, at time.Duration) {
	if at == 0 && e.due == 0 {
		return
	}
	st.due.set(e, at)
	st.soonest.Store(st.due.soonest())
}

// take returns an empty entry.
//
//felix:hot
func (st *stripe) take() *entry {
	e := st.spare
	if e == nil {
		return new(entry)
	}
	st.spare, e.chain = e.chain, nil
	st.spares--
	return e
}

// give scrubs e, so that it pins nothing, and keeps it for the next take.
//
//felix:hot
func (st *stripe) give(e *entry) {
	if st.spares >= maxSpares {
		return
	}
	*e = entry{chain: st.spare}
	st.spare = e
	st.spares++
}

func (st *stripe) init(index int) {
	st.index = index
	st.soonest.Store(math.MaxInt64)
}
