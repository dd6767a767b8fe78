package catalog

import (
	"context"
	"sync"
	"sync/atomic"
)

// Catalog holds what exists, as far as this broker knows.
//
// There are two forms of the same facts. The tables hold every row the feeds have delivered, whether its
// parents are known or not. The view holds what is visible: the streams and caches whose tenant and namespace
// both exist. The view is a function of the tables, so it does not matter in which order the kinds arrive: a
// stream that comes before its namespace becomes visible with it, and what is left of a deleted namespace
// disappears at once, before its own rows say so.
//
//	Apply / Reset:  lock
//	                change the tables, note which namespaces are touched
//	                build those namespaces anew, copy the rest of the view by reference
//	                publish the view
//	                call the hooks with what is gone
//	lookup:         load the pointer, two map reads
//
// Whatever leaves the view, even for a moment, comes back as another object with another handle, because the
// rooms that were told of its end have ended it. A failed fetch calls nothing here, so the last view stands
// (control plane P23).
type Catalog struct {
	view   atomic.Pointer[view]
	seeded chan struct{} // closed when every kind has had its first snapshot

	mu        sync.Mutex // serialises writers; guards the following
	tables    tables
	pending   kindSet // kinds without a snapshot yet
	onChange  []func(streams []*Stream, caches []*Cache)
	onTenants []func(name string)
}

// kindSet is a set of resource kinds.
type kindSet uint8

const (
	tenantKind kindSet = 1 << iota
	namespaceKind
	streamKind
	cacheKind
	everyKind = tenantKind | namespaceKind | streamKind | cacheKind
)

// view is one state of the visible world. It is immutable.
type view struct {
	generation uint64
	tenants    map[string]struct{}
	spaces     map[spaceKey]*space
}

// spaceKey names a namespace. The two names are never joined, so no separator can be smuggled in.
type spaceKey struct{ tenant, namespace string }

// space is the content of one namespace. It is immutable.
type space struct {
	streams map[string]*Stream
	caches  map[string]*Cache
}

// New returns an empty catalog.
func New() *Catalog {
	c := &Catalog{seeded: make(chan struct{}), pending: everyKind, tables: newTables()}
	c.view.Store(&view{})
	return c
}

// Stream returns a stream by name, nil when it is not visible. The result is shared and must not be changed.
//
//felix:hot
func (c *Catalog) Stream(tenant, namespace, name []byte) *Stream {
	// The conversions copy nothing: the compiler sees that the key lives for one map read.
	s := c.view.Load().spaces[spaceKey{string(tenant), string(namespace)}]
	if s == nil {
		return nil
	}
	return s.streams[string(name)]
}

// Cache returns a cache by name, nil when it is not visible. The result is shared and must not be changed.
//
//felix:hot
func (c *Catalog) Cache(tenant, namespace, name []byte) *Cache {
	s := c.view.Load().spaces[spaceKey{string(tenant), string(namespace)}]
	if s == nil {
		return nil
	}
	return s.caches[string(name)]
}

// Tenant reports whether the tenant exists.
//
//felix:hot
func (c *Catalog) Tenant(name []byte) bool {
	_, ok := c.view.Load().tenants[string(name)]
	return ok
}

// Namespace reports whether the namespace and its tenant exist.
//
//felix:hot
func (c *Catalog) Namespace(tenant, name []byte) bool {
	return c.view.Load().spaces[spaceKey{string(tenant), string(name)}] != nil
}

// Generation changes whenever anything visible does. Whoever remembers the result of a lookup reads the
// generation before the lookup and looks up again when it differs.
//
//felix:hot
func (c *Catalog) Generation() uint64 { return c.view.Load().generation }

// Seeded reports whether every kind has had its first snapshot.
func (c *Catalog) Seeded() bool {
	select {
	case <-c.seeded:
		return true
	default:
		return false
	}
}

// WaitSeeded returns nil once the catalog is seeded, or the cause of ctx's end.
func (c *Catalog) WaitSeeded(ctx context.Context) error {
	select {
	case <-c.seeded:
		return nil
	default:
	}
	select {
	case <-c.seeded:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// OnChange adds a hook that learns of streams and caches that have left the view: deleted, replaced by
// another incarnation, or hidden with their namespace. It is called after the new view is visible, one change
// at a time, and must not call back into Apply, Reset or OnChange. A mere change of settings is not reported.
func (c *Catalog) OnChange(hook func(removedStreams []*Stream, removedCaches []*Cache)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.onChange = append(c.onChange, hook)
}

// OnTenantRemoved adds a hook that learns of tenants that are gone or replaced by another incarnation, under
// the rules of OnChange.
func (c *Catalog) OnTenantRemoved(hook func(name string)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.onTenants = append(c.onTenants, hook)
}
