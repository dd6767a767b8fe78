package cache

const (
	// maxHits is where an entry's use counter saturates: as many rounds of the main queue an entry survives
	// unread.
	maxHits = 3
	// promoteHits is how many reads in the small queue admit an entry to the main queue.
	promoteHits = 2
	// smallShare: the small queue is drained while it holds more than 1/smallShare of the stripe's bytes.
	smallShare = 10
	// maxChances bounds how many entries one put moves instead of evicting them. Beyond it the next entry
	// leaves whatever it has deserved.
	maxChances = 64
	// maxTries is how often a put looks again after it found nothing to evict.
	maxTries = 2
)

// reserve adds n bytes, at most MaxBytes, to used, evicting entries if the policy allows, or changes nothing
// and reports false.
//
// What is evicted is not given back to used first: its bytes pass to the reservation directly, so that
// concurrent puts cannot take each other's room, the limit holds throughout, and every round of the loop
// brings this put nearer. Work is bounded: an entry gives at least EntryOverhead bytes, so a put evicts at
// most n/EntryOverhead + 1 entries, moves at most maxChances, and holds a lock for at most batchEntries at a
// time.
//
//	take what room there is
//	while bytes are missing:
//		choose a stripe                        // the key's own, unless it holds less than its share
//		take out entries that have expired     // under any policy
//		else evict by the policy               // not under PolicyNone
//
// S3-FIFO per stripe: new entries enter the small queue, or the main queue if the ghost history knows them.
// While the small queue holds more than a tenth, its oldest entry is judged: read at least twice, it moves to
// the main queue; else it leaves and the ghost history notes it. Otherwise the oldest of the main queue is
// judged: its uses are lowered by one and it starts over, or, at zero, it leaves. Reads only raise a
// saturating counter, which the reader lock allows.
//
// The stripes follow keys, so a large value may leave its stripe with nothing to give. Therefore bytes are
// taken from stripes that hold at least the average, starting with the key's own: with even keys that is the
// key's own stripe half of the time and one of the next few otherwise, and no stripe is drained for the
// others.
func (s *Store) reserve(home *stripe, n int64) bool {
	got := s.takeRoom(n)
	if got == n {
		return true
	}
	chances := maxChances
	for tries := 0; got < n && tries < maxTries; {
		if st := s.giver(home); st != nil {
			if freed := s.reclaim(st, n-got, &chances); freed > 0 {
				got += freed
				continue
			}
		}
		// Everything there is belongs to running puts, or others emptied the stripe in between: room may have
		// come back.
		got += s.takeRoom(n - got)
		tries++
	}
	if got < n {
		s.used.Add(-got)
		return false
	}
	s.used.Add(n - got)
	return true
}

// takeRoom adds as much of n as there is room for to used.
//
//felix:hot
func (s *Store) takeRoom(n int64) int64 {
	for {
		used := s.used.Load()
		got := min(n, s.config.MaxBytes-used)
		if got <= 0 {
			return 0
		}
		if s.used.CompareAndSwap(used, used+got) {
			return got
		}
	}
}

// giver chooses the stripe to take bytes from, nil when none has any to give.
func (s *Store) giver(home *stripe) *stripe {
	n := uint32(len(s.stripes))
	start := s.hand.Add(1)
	if s.config.Policy == PolicyNone {
		now := s.now()
		for k := range n {
			if st := &s.stripes[(start+k)%n]; st.soonest.Load() <= int64(now) {
				return st
			}
		}
		return nil
	}
	fair := max(1, s.used.Load()/int64(n))
	if home.bytes.Load() >= fair {
		return home
	}
	// Reservations of running puts are in used but in no stripe, so all stripes may be below the average.
	var most *stripe
	var mostBytes int64
	for k := range n {
		st := &s.stripes[(start+k)%n]
		b := st.bytes.Load()
		if b >= fair {
			return st
		}
		if b > mostBytes {
			most, mostBytes = st, b
		}
	}
	return most
}

// reclaim takes entries out of st until want bytes are free or the batch is full, and returns the bytes,
// which stay in used for the caller.
func (s *Store) reclaim(st *stripe, want int64, chances *int) int64 {
	var dead batch
	st.mu.Lock()
	if len(st.due.line) > 0 {
		now := s.now()
		for dead.bytes < want && !dead.full() && st.expire(now, &dead) {
		}
	}
	expired := dead.n
	if s.config.Policy != PolicyNone {
		for dead.bytes < want && !dead.full() {
			e := st.victim(chances)
			if e == nil {
				break
			}
			dead.add(e.charge(), st.remove(e))
		}
	}
	st.mu.Unlock()
	dead.release()
	s.expired.Add(uint64(expired))
	s.evictions.Add(uint64(dead.n - expired))
	return dead.bytes
}

// victim chooses the entry that leaves next, nil when the stripe is empty. Under LRU the small queue is empty
// and no entry of the main queue has a second chance.
func (st *stripe) victim(chances *int) *entry {
	for {
		if e := st.small.oldest; e != nil &&
			(st.main.oldest == nil || st.small.bytes*smallShare > st.small.bytes+st.main.bytes) {
			if e.hits.Load() < promoteHits || *chances == 0 {
				st.ghost.add(e.owner.tag(e.hash), int(st.entries.Load()))
				return e
			}
			*chances--
			e.hits.Store(0)
			st.small.unlink(e)
			st.main.push(e, queueMain)
			continue
		}
		e := st.main.oldest
		if e == nil {
			return nil
		}
		hits := e.hits.Load()
		if hits == 0 || *chances == 0 || e.owner.store.config.Policy == PolicyLRU {
			return e
		}
		*chances--
		e.hits.Store(hits - 1)
		st.main.unlink(e)
		st.main.push(e, queueMain)
	}
}
