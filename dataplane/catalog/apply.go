package catalog

import "maps"

// Apply makes changes visible, all at once. Rows that change nothing, such as a page that comes twice, or a
// row about an older incarnation than the known one, are ignored.
func (c *Catalog) Apply(d Delta) {
	c.write(0, func(u *update) {
		t := &c.tables
		for i := range d.Tenants {
			t.tenants.apply(&d.Tenants[i], u)
		}
		for i := range d.Namespaces {
			t.namespaces.apply(&d.Namespaces[i], u)
		}
		for i := range d.Streams {
			t.streams.apply(&d.Streams[i], u)
		}
		for i := range d.Caches {
			t.caches.apply(&d.Caches[i], u)
		}
	})
}

// ResetTenants replaces every tenant by a snapshot. The snapshot wins over what is known, also where its
// incarnations are older: the control plane may have been restored from a backup.
func (c *Catalog) ResetTenants(all []Tenant) {
	c.write(tenantKind, func(u *update) { c.tables.tenants.reset(all, u) })
}

// ResetNamespaces is ResetTenants for namespaces.
func (c *Catalog) ResetNamespaces(all []Namespace) {
	c.write(namespaceKind, func(u *update) { c.tables.namespaces.reset(all, u) })
}

// ResetStreams is ResetTenants for streams.
func (c *Catalog) ResetStreams(all []Stream) {
	c.write(streamKind, func(u *update) { c.tables.streams.reset(all, u) })
}

// ResetCaches is ResetTenants for caches.
func (c *Catalog) ResetCaches(all []Cache) {
	c.write(cacheKind, func(u *update) { c.tables.caches.reset(all, u) })
}

// write runs one change of the tables and publishes what follows from it. seeds are the kinds that the change
// seeds.
func (c *Catalog) write(seeds kindSet, change func(*update)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	u := &update{touched: make(map[spaceKey]kindSet), tenants: make(map[string]struct{})}
	change(u)
	if len(u.touched) > 0 || len(u.tenants) > 0 {
		c.view.Store(c.build(c.view.Load(), u))
		c.call(u)
	}
	if c.pending != 0 {
		if c.pending &^= seeds; c.pending == 0 {
			close(c.seeded)
		}
	}
}

func (c *Catalog) call(u *update) {
	for _, name := range u.goneTenants {
		for _, hook := range c.onTenants {
			hook(name)
		}
	}
	if len(u.goneStreams) == 0 && len(u.goneCaches) == 0 {
		return
	}
	for _, hook := range c.onChange {
		hook(u.goneStreams, u.goneCaches)
	}
}

// update is the trace of one change.
type update struct {
	touched map[spaceKey]kindSet // namespaces to build anew, and the kinds in them that changed
	tenants map[string]struct{}  // tenants that came or went

	goneTenants []string
	goneStreams []*Stream
	goneCaches  []*Cache
}

// build returns the view that follows old.
func (c *Catalog) build(old *view, u *update) *view {
	t := &c.tables
	next := &view{generation: old.generation + 1, tenants: old.tenants, spaces: maps.Clone(old.spaces)}
	if next.spaces == nil {
		next.spaces = make(map[spaceKey]*space)
	}
	if len(u.tenants) > 0 {
		next.tenants = make(map[string]struct{}, len(t.tenants.rows))
		for name := range t.tenants.rows {
			next.tenants[name] = struct{}{}
		}
		for key := range t.namespaces.rows {
			if _, ok := u.tenants[key.tenant]; ok {
				u.touched[key] |= streamKind | cacheKind
			}
		}
	}
	for key, kinds := range u.touched {
		c.buildSpace(next, key, kinds, u)
	}
	return next
}

// buildSpace shows or hides one namespace. kinds are those whose rows may differ from the old view.
func (c *Catalog) buildSpace(next *view, key spaceKey, kinds kindSet, u *update) {
	t := &c.tables
	_, hasTenant := t.tenants.rows[key.tenant]
	_, hasSpace := t.namespaces.rows[key]
	if !hasTenant || !hasSpace {
		delete(next.spaces, key)
		u.goneStreams = t.streams.hide(key, u.goneStreams)
		u.goneCaches = t.caches.hide(key, u.goneCaches)
		return
	}
	s := &space{}
	if old := next.spaces[key]; old != nil {
		*s = *old
	} else {
		kinds |= streamKind | cacheKind
	}
	if kinds&streamKind != 0 {
		s.streams = t.streams.show(key)
	}
	if kinds&cacheKind != 0 {
		s.caches = t.caches.show(key)
	}
	next.spaces[key] = s
}
