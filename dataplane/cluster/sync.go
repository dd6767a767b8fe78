package cluster

import (
	"context"
	"runtime/pprof"
	"sync"

	"github.com/felix-go/felix/controlplane/api"
	"github.com/felix-go/felix/dataplane/catalog"
)

// Sync follows the four metadata feeds and writes what they say into the catalog.
//
// Each kind has its own cursor, and the kinds are consistent with each other only eventually; the catalog
// copes with that (control plane P18).
//
//	cold start   one snapshot after the other: tenants, namespaces, caches, streams; each is asked for until it
//	             comes
//	afterwards   one goroutine per kind: long-poll the changes from the cursor on, apply the page, move the
//	             cursor
//	missed rows  the page shows it in one of three ways (resync); then one snapshot replaces the kind
//	failure      wait, longer each time and never exactly as long as the other brokers; the cursor stands still
//	             and the catalog keeps what it has, so a failed fetch never empties the view (control plane P23)
//
// A change is applied before the cursor moves, and rows that come twice change nothing, so a feed may repeat
// itself but never skips.
type Sync struct {
	cfg  Config
	stop context.CancelFunc
	done chan struct{}
}

// Start starts following the feeds and returns at once; Catalog.WaitSeeded tells when the cold start is over.
func Start(cfg Config) *Sync {
	cfg = cfg.withDefaults()
	ctx, stop := context.WithCancel(context.Background())
	s := &Sync{cfg: cfg, stop: stop, done: make(chan struct{})}
	if cfg.Keys != nil {
		cfg.Catalog.OnTenantRemoved(cfg.Keys.Forget)
	}
	go s.run(ctx)
	return s
}

// Close ends the requests in flight and waits for the goroutines. The catalog keeps what it has.
func (s *Sync) Close() {
	s.stop()
	<-s.done
}

// follower is one feed, whatever its kind.
type follower interface {
	name() string
	seed(context.Context) bool
	follow(context.Context)
}

func (s *Sync) run(ctx context.Context) {
	defer close(s.done)
	label(ctx, "seed")
	feeds := s.feeds()
	for _, f := range feeds {
		if !f.seed(ctx) {
			return
		}
	}
	s.cfg.Logger.Info("metadata is loaded from the control plane")
	var loops sync.WaitGroup
	for _, f := range feeds {
		loops.Go(func() {
			label(ctx, f.name())
			f.follow(ctx)
		})
	}
	loops.Wait()
}

// label names the goroutine in profiles.
func label(ctx context.Context, kind string) {
	pprof.SetGoroutineLabels(pprof.WithLabels(ctx, pprof.Labels("role", "catalog-sync", "kind", kind)))
}

// feeds returns the feeds in the order of the cold start.
func (s *Sync) feeds() []follower {
	c, view := s.cfg.API, s.cfg.Catalog
	return []follower{
		newFeed(s, "tenants", c.TenantSnapshot, c.TenantChanges, convertTenant, view.ResetTenants,
			func(rows []catalog.Change[catalog.Tenant]) { view.Apply(catalog.Delta{Tenants: rows}) }),
		newFeed(s, "namespaces", c.NamespaceSnapshot, c.NamespaceChanges, convertNamespace,
			view.ResetNamespaces,
			func(rows []catalog.Change[catalog.Namespace]) { view.Apply(catalog.Delta{Namespaces: rows}) }),
		newFeed(s, "caches", c.CacheSnapshot, c.CacheChanges, convertCache, view.ResetCaches,
			func(rows []catalog.Change[catalog.Cache]) { view.Apply(catalog.Delta{Caches: rows}) }),
		newFeed(s, "streams", c.StreamSnapshot, c.StreamChanges, convertStream, view.ResetStreams,
			func(rows []catalog.Change[catalog.Stream]) { view.Apply(catalog.Delta{Streams: rows}) }),
	}
}

// resync returns why a page asked for from since on shows that rows were missed (control plane P19), or "".
func resync[T any](since uint64, page api.Changes[T]) string {
	switch {
	case page.NextSeq < since, len(page.Items) > 0 && page.Items[0].Seq < since:
		return resyncReset
	case len(page.Items) > 0 && page.Items[0].Seq > since:
		return resyncEvicted
	case len(page.Items) == 0 && page.NextSeq > since:
		return resyncAllEvicted
	}
	return ""
}

// The reasons for a new snapshot. They are label values of felix_broker_catalog_resyncs_total.
const (
	resyncEvicted    = "evicted"     // rows between the cursor and the first row are gone
	resyncAllEvicted = "all_evicted" // rows were written since, and all are gone
	resyncReset      = "reset"       // the sequence started over
)
