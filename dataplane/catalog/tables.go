package catalog

import (
	"maps"

	"github.com/felix-go/felix/dataplane/wire"
)

// tables hold every row of the feeds, visible or not.
type tables struct {
	tenants    parents[string, Tenant]
	namespaces parents[spaceKey, Namespace]
	streams    objects[Stream]
	caches     objects[Cache]
}

func newTables() tables {
	return tables{
		tenants: parents[string, Tenant]{
			rows:        make(map[string]uint64),
			key:         func(t *Tenant) string { return t.Name },
			incarnation: func(t *Tenant) uint64 { return t.Incarnation },
			touch:       func(u *update, name string) { u.tenants[name] = struct{}{} },
			gone:        func(u *update, name string) { u.goneTenants = append(u.goneTenants, name) },
		},
		namespaces: parents[spaceKey, Namespace]{
			rows:        make(map[spaceKey]uint64),
			key:         func(n *Namespace) spaceKey { return spaceKey{n.Tenant, n.Name} },
			incarnation: func(n *Namespace) uint64 { return n.Incarnation },
			touch:       func(u *update, key spaceKey) { u.touched[key] |= namespaceKind },
			gone:        func(*update, spaceKey) {},
		},
		streams: objects[Stream]{
			kind: streamKind,
			rows: make(map[spaceKey]map[string]*Stream),
			ident: func(s *Stream) ident {
				return ident{s.Tenant, s.Namespace, s.Name, s.Incarnation, &s.Handle}
			},
			gone: func(u *update, s *Stream) { u.goneStreams = append(u.goneStreams, s) },
		},
		caches: objects[Cache]{
			kind: cacheKind,
			rows: make(map[spaceKey]map[string]*Cache),
			ident: func(s *Cache) ident {
				return ident{s.Tenant, s.Namespace, s.Name, s.Incarnation, &s.Handle}
			},
			gone: func(u *update, s *Cache) { u.goneCaches = append(u.goneCaches, s) },
		},
	}
}

// parents is the table of tenants or of namespaces: which exist, in which incarnation.
type parents[K comparable, T any] struct {
	rows        map[K]uint64
	key         func(*T) K
	incarnation func(*T) uint64
	touch       func(*update, K)
	gone        func(*update, K)
}

func (p *parents[K, T]) apply(c *Change[T], u *update) {
	key, inc := p.key(&c.Item), p.incarnation(&c.Item)
	known, exists := p.rows[key]
	switch {
	case exists && inc < known: // about an earlier life
	case c.Deleted:
		if exists {
			p.drop(key, u)
		}
	default:
		p.put(key, inc, u)
	}
}

func (p *parents[K, T]) reset(all []T, u *update) {
	keep := make(map[K]struct{}, len(all))
	for i := range all {
		keep[p.key(&all[i])] = struct{}{}
		p.put(p.key(&all[i]), p.incarnation(&all[i]), u)
	}
	for key := range p.rows {
		if _, ok := keep[key]; !ok {
			p.drop(key, u)
		}
	}
}

func (p *parents[K, T]) put(key K, inc uint64, u *update) {
	known, exists := p.rows[key]
	if exists && known == inc {
		return
	}
	if exists {
		p.gone(u, key)
	}
	p.rows[key] = inc
	p.touch(u, key)
}

func (p *parents[K, T]) drop(key K, u *update) {
	delete(p.rows, key)
	p.gone(u, key)
	p.touch(u, key)
}

// objects is the table of streams or of caches. A row with a handle is visible; its struct is shared with
// readers and never changed. A row without one is the table's own.
type objects[T comparable] struct {
	kind  kindSet
	rows  map[spaceKey]map[string]*T
	last  wire.Handle // the last handle given; handles are not used again
	ident func(*T) ident
	gone  func(*update, *T)
}

// ident is what streams and caches have in common.
type ident struct {
	tenant, namespace, name string
	incarnation             uint64
	handle                  *wire.Handle
}

func (i ident) space() spaceKey { return spaceKey{i.tenant, i.namespace} }

func (o *objects[T]) apply(c *Change[T], u *update) {
	item := o.ident(&c.Item)
	known := o.rows[item.space()][item.name]
	switch {
	case known != nil && item.incarnation < o.ident(known).incarnation: // about an earlier life
	case !c.Deleted:
		o.put(c.Item, u)
	case known != nil:
		o.drop(item.space(), item.name, known, u)
	}
}

func (o *objects[T]) reset(all []T, u *update) {
	keep := make(map[spaceKey]map[string]struct{}, len(o.rows))
	for i := range all {
		id := o.ident(&all[i])
		if keep[id.space()] == nil {
			keep[id.space()] = make(map[string]struct{})
		}
		keep[id.space()][id.name] = struct{}{}
		o.put(all[i], u)
	}
	for key, rows := range o.rows {
		for name, row := range rows {
			if _, ok := keep[key][name]; !ok {
				o.drop(key, name, row, u)
			}
		}
	}
}

// put stores a row. The same life with other settings keeps its handle; another life waits for a new one.
func (o *objects[T]) put(item T, u *update) {
	id := o.ident(&item)
	key := id.space()
	*id.handle = 0
	if old := o.rows[key][id.name]; old != nil {
		was := o.ident(old)
		if was.incarnation == id.incarnation {
			*id.handle = *was.handle
		} else if *was.handle != 0 {
			o.gone(u, old)
		}
		if item == *old {
			return
		}
	}
	if o.rows[key] == nil {
		o.rows[key] = make(map[string]*T)
	}
	o.rows[key][id.name] = &item
	u.touched[key] |= o.kind
}

func (o *objects[T]) drop(key spaceKey, name string, row *T, u *update) {
	if *o.ident(row).handle != 0 {
		o.gone(u, row)
	}
	delete(o.rows[key], name)
	if len(o.rows[key]) == 0 {
		delete(o.rows, key)
	}
	u.touched[key] |= o.kind
}

// show returns a namespace's rows for the view, each with a handle.
func (o *objects[T]) show(key spaceKey) map[string]*T {
	for _, row := range o.rows[key] {
		if h := o.ident(row).handle; *h == 0 {
			o.last++
			*h = o.last
		}
	}
	return maps.Clone(o.rows[key])
}

// hide takes the handles of a namespace's rows away and appends what readers had of them to gone.
func (o *objects[T]) hide(key spaceKey, gone []*T) []*T {
	for name, row := range o.rows[key] {
		if *o.ident(row).handle == 0 {
			continue
		}
		hidden := *row
		*o.ident(&hidden).handle = 0
		o.rows[key][name] = &hidden
		gone = append(gone, row)
	}
	return gone
}
