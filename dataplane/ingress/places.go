package ingress

import (
	"sync"
	"sync/atomic"

	"github.com/felix-go/felix/dataplane/cache"
	"github.com/felix-go/felix/dataplane/catalog"
	"github.com/felix-go/felix/dataplane/fanout"
	"github.com/felix-go/felix/dataplane/shard"
	"github.com/felix-go/felix/dataplane/stat"
	"github.com/felix-go/felix/dataplane/stream"
	"github.com/felix-go/felix/dataplane/wire"
)

// shardPlace is one stream shard: its state and the lane that orders its work. The lane's owner is the shardPlace.
type shardPlace struct {
	of    *streamPlace
	state *stream.Shard
	lane  *shard.Lane
}

// streamPlace is a stream that has been used on this broker. Immutable after it is published in the table.
type streamPlace struct {
	desc   *catalog.Stream
	shards []*shardPlace
	full   *fullCounters
}

// fullCounters count the publishes of one tenant for which there was no room.
type fullCounters struct{ refused, dropped *stat.Counter }

// maxTenantLabels bounds the tenants that have metrics of their own; the rest share the label _overflow.
const maxTenantLabels = 100

// cachePlace is a cache that has been used on this broker, with one lane per cache shard.
type cachePlace struct {
	desc  *catalog.Cache
	state *cache.Cache
	lanes []*shard.Lane
}

// Places maps dense catalog handles to the running state of streams and caches. Lookups load one pointer and index a slice;
// a place is made at its first use and ends when the catalog drops or re-creates its object (handles are never reused, so an
// old handle cannot reach a new incarnation).
type Places struct {
	scheduler *shard.Scheduler
	streamCfg stream.Config
	caches    *cache.Store

	streamTable atomic.Pointer[[]*streamPlace]
	cacheTable  atomic.Pointer[[]*cachePlace]

	stats *stat.Set

	mu     sync.Mutex // guards changes of the tables and the following
	closed bool
	full   map[string]*fullCounters // by tenant
}

// A removed object leaves a mark in its slot, so that a reader that still holds its description cannot open it again.
var (
	goneStream = &streamPlace{}
	goneCache  = &cachePlace{}
)

// NewPlaces returns an empty table.
func NewPlaces(scheduler *shard.Scheduler, streams stream.Config, caches *cache.Store, stats *stat.Set) *Places {
	return &Places{scheduler: scheduler, streamCfg: streams, caches: caches, stats: stats, full: make(map[string]*fullCounters)}
}

func (p *Places) fullLocked(tenant string) *fullCounters {
	if f := p.full[tenant]; f != nil {
		return f
	}
	if len(p.full) >= maxTenantLabels && tenant != "_overflow" {
		return p.fullLocked("_overflow")
	}
	counter := func(action string) *stat.Counter {
		return p.stats.Counter(stat.Label(stat.Label("felix_tenant_publish_queue_full_total", "tenant", tenant), "action", action),
			"Publishes for which a tenant had no room, by what became of them.")
	}
	f := &fullCounters{refused: counter("refused"), dropped: counter("dropped")}
	p.full[tenant] = f
	return f
}

// stream returns the place of d, nil when d has been removed.
//
//felix:hot
func (p *Places) stream(d *catalog.Stream) *streamPlace {
	if t := p.streamTable.Load(); t != nil && int(d.Handle) < len(*t) {
		if place := (*t)[d.Handle]; place != nil {
			if place == goneStream {
				return nil
			}
			return place
		}
	}
	return p.openStream(d)
}

// cache returns the place of d, nil when d has been removed.
//
//felix:hot
func (p *Places) cache(d *catalog.Cache) *cachePlace {
	if t := p.cacheTable.Load(); t != nil && int(d.Handle) < len(*t) {
		if place := (*t)[d.Handle]; place != nil {
			if place == goneCache {
				return nil
			}
			return place
		}
	}
	return p.openCache(d)
}

func (p *Places) openStream(d *catalog.Stream) *streamPlace {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	old := load(&p.streamTable)
	if int(d.Handle) < len(old) && old[d.Handle] != nil {
		if old[d.Handle] == goneStream {
			return nil
		}
		return old[d.Handle]
	}
	place := &streamPlace{desc: d, full: p.fullLocked(d.Tenant)}
	tenant := p.scheduler.Tenant(d.Tenant)
	for range max(d.Shards, 1) {
		sp := &shardPlace{of: place, state: stream.New(p.streamCfg)}
		sp.lane = p.scheduler.NewLane(tenant, sp)
		place.shards = append(place.shards, sp)
	}
	store(&p.streamTable, old, d.Handle, place)
	return place
}

func (p *Places) openCache(d *catalog.Cache) *cachePlace {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	old := load(&p.cacheTable)
	if int(d.Handle) < len(old) && old[d.Handle] != nil {
		if old[d.Handle] == goneCache {
			return nil
		}
		return old[d.Handle]
	}
	place := &cachePlace{desc: d, state: p.caches.Open(d.Handle, d.Incarnation)}
	tenant := p.scheduler.Tenant(d.Tenant)
	for range max(d.Shards, 1) {
		place.lanes = append(place.lanes, p.scheduler.NewLane(tenant, place))
	}
	store(&p.cacheTable, old, d.Handle, place)
	return place
}

// Removed ends the places of objects that the catalog no longer has: subscribers get `stream_deleted`, queued jobs are
// refused, cached entries are given back. It is the catalog's change hook.
func (p *Places) Removed(streams []*catalog.Stream, caches []*catalog.Cache) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, d := range streams {
		t := load(&p.streamTable)
		if int(d.Handle) < len(t) && t[d.Handle] != nil {
			t[d.Handle].end(fanout.EndDeleted)
		}
		store(&p.streamTable, t, d.Handle, goneStream)
	}
	for _, d := range caches {
		t := load(&p.cacheTable)
		if int(d.Handle) < len(t) && t[d.Handle] != nil && t[d.Handle] != goneCache {
			for _, l := range t[d.Handle].lanes {
				l.Close()
			}
			p.caches.Drop(d.Handle, d.Incarnation)
		}
		store(&p.cacheTable, t, d.Handle, goneCache)
	}
}

// Close ends every place; nothing opens afterwards.
func (p *Places) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, place := range load(&p.streamTable) {
		if place != nil {
			place.end(fanout.EndShutdown)
		}
	}
	for _, place := range load(&p.cacheTable) {
		if place != nil && place != goneCache {
			for _, l := range place.lanes {
				l.Close()
			}
			p.caches.Drop(place.desc.Handle, place.desc.Incarnation)
		}
	}
	p.streamTable.Store(nil)
	p.cacheTable.Store(nil)
}

func (s *streamPlace) end(e fanout.End) {
	for _, sp := range s.shards {
		sp.state.End(e)
		sp.lane.Close()
	}
}

func load[T any](t *atomic.Pointer[[]*T]) []*T {
	if p := t.Load(); p != nil {
		return *p
	}
	return nil
}

// store publishes a copy of old with v at h.
func store[T any](t *atomic.Pointer[[]*T], old []*T, h wire.Handle, v *T) {
	next := make([]*T, max(len(old), int(h)+1))
	copy(next, old)
	next[h] = v
	t.Store(&next)
}
