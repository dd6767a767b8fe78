package cache

import "github.com/felix-go/felix/dataplane/stat"

// register publishes the store's metrics. What stripes count for themselves is summed when somebody asks.
func (s *Store) register(set *stat.Set) {
	s.evictions = set.Counter("felix_cache_evictions_total", "Entries evicted to make room for others.")
	s.expired = set.Counter("felix_cache_expired_total", "Entries whose time to live ended them.")
	s.refused = set.Counter("felix_cache_refused_total", "Puts that did not fit under the limit.")
	set.CounterFunc("felix_cache_hits_total", "Reads that found a value.", func() uint64 {
		var n uint64
		for i := range s.stripes {
			n += s.stripes[i].hits.Load()
		}
		return n
	})
	set.CounterFunc("felix_cache_misses_total", "Reads that found nothing alive.", func() uint64 {
		var n uint64
		for i := range s.stripes {
			n += s.stripes[i].misses.Load()
		}
		return n
	})
	set.GaugeFunc("felix_cache_entries", "Entries, expired ones until they are swept.", func() int64 {
		var n int64
		for i := range s.stripes {
			n += s.stripes[i].entries.Load()
		}
		return n
	})
	set.GaugeFunc("felix_cache_bytes", "Bytes of keys, values and overhead.", s.used.Load)
	set.GaugeFunc("felix_cache_limit_bytes", "The limit of felix_cache_bytes; 0 is unlimited.", func() int64 {
		return s.config.MaxBytes
	})
}
