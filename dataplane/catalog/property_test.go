package catalog

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/felix-go/felix/dataplane/wire"
)

// model is the control plane: one history of creations and deletions, from which every kind has a feed.
type model struct {
	clock      uint64
	tenants    map[string]uint64
	namespaces map[spaceKey]uint64
	streams    map[spaceKey]map[string]Stream
}

// TestViewFollowsTheFeeds replays a random history to a catalog: each kind's rows in their own order, the
// kinds interleaved at random, in pages of random size, with pages that come twice and snapshots in between.
// Along the way no handle serves two streams and the hook reports exactly what disappears; in the end the
// view is the model.
func TestViewFollowsTheFeeds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &model{
			tenants:    map[string]uint64{},
			namespaces: map[spaceKey]uint64{},
			streams:    map[spaceKey]map[string]Stream{},
		}
		var tenants []Change[Tenant]
		var namespaces []Change[Namespace]
		var streams []Change[Stream]
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			m.step(t, &tenants, &namespaces, &streams)
		}

		c := New()
		live := map[wire.Handle]string{} // every handle ever seen, and whose it was
		visible := map[wire.Handle]struct{}{}
		c.OnChange(func(gone []*Stream, _ []*Cache) {
			for _, s := range gone {
				if _, ok := visible[s.Handle]; !ok {
					t.Fatalf("reported as gone, but was not visible: %+v", *s)
				}
				delete(visible, s.Handle)
			}
		})
		look := func() {
			now := 0
			for key := range m.everyName() {
				s := c.Stream([]byte(key[0]), []byte(key[1]), []byte(key[2]))
				if s == nil {
					continue
				}
				now++
				owner := s.Tenant + "/" + s.Namespace + "/" + s.Name + "/" + string(rune(s.Incarnation))
				if before, ok := live[s.Handle]; ok && before != owner {
					t.Fatalf("handle %d served %s and %s", s.Handle, before, owner)
				}
				live[s.Handle] = owner
				visible[s.Handle] = struct{}{}
			}
			if now != len(visible) {
				t.Fatalf("%d streams visible, %d not reported as gone", now, len(visible))
			}
		}
		for len(tenants)+len(namespaces)+len(streams) > 0 {
			var d Delta
			d.Tenants, tenants = page(t, tenants)
			d.Namespaces, namespaces = page(t, namespaces)
			d.Streams, streams = page(t, streams)
			c.Apply(d)
			look()
			if rapid.Bool().Draw(t, "again") {
				g := c.Generation()
				c.Apply(Delta{Streams: lastPerName(d.Streams)})
				if c.Generation() != g {
					t.Fatal("repeated rows changed the view")
				}
			}
		}
		m.check(t, c)
		before := c.Generation()
		m.snapshot(c)
		if c.Generation() != before || !c.Seeded() {
			t.Fatal("a snapshot of the final state changed the view")
		}
	})
}

// step makes one thing happen in the control plane; deleting a parent deletes what is inside (control plane
// P15).
func (m *model) step(
	t *rapid.T, tenants *[]Change[Tenant], namespaces *[]Change[Namespace], streams *[]Change[Stream],
) {
	m.clock++
	tenant := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "tenant")
	key := spaceKey{tenant, rapid.SampledFrom([]string{"x", "y"}).Draw(t, "namespace")}
	dropStream := func(key spaceKey, name string) {
		*streams = append(*streams, Change[Stream]{Deleted: true, Item: m.streams[key][name]})
		delete(m.streams[key], name)
	}
	dropSpace := func(key spaceKey) {
		for _, name := range []string{"s", "t"} {
			if _, ok := m.streams[key][name]; ok {
				dropStream(key, name)
			}
		}
		*namespaces = append(*namespaces,
			Change[Namespace]{Deleted: true, Item: Namespace{key.tenant, key.namespace, m.namespaces[key]}})
		delete(m.namespaces, key)
	}
	if m.tenants[tenant] == 0 {
		m.tenants[tenant] = m.clock
		*tenants = append(*tenants, Change[Tenant]{Item: Tenant{tenant, m.clock}})
		return
	}
	if rapid.IntRange(0, 9).Draw(t, "drop tenant") == 0 {
		for _, n := range []string{"x", "y"} {
			if m.namespaces[spaceKey{tenant, n}] != 0 {
				dropSpace(spaceKey{tenant, n})
			}
		}
		*tenants = append(*tenants, Change[Tenant]{Deleted: true, Item: Tenant{tenant, m.tenants[tenant]}})
		delete(m.tenants, tenant)
		return
	}
	if m.namespaces[key] == 0 {
		m.namespaces[key] = m.clock
		*namespaces = append(*namespaces, Change[Namespace]{Item: Namespace{key.tenant, key.namespace, m.clock}})
		return
	}
	if rapid.IntRange(0, 9).Draw(t, "drop namespace") == 0 {
		dropSpace(key)
		return
	}
	name := rapid.SampledFrom([]string{"s", "t"}).Draw(t, "stream")
	s, exists := m.streams[key][name]
	switch {
	case !exists:
		s = Stream{Tenant: key.tenant, Namespace: key.namespace, Name: name, Incarnation: m.clock, Shards: 1}
	case rapid.Bool().Draw(t, "patch"):
		s.RetentionBytes++
	default:
		dropStream(key, name)
		return
	}
	if m.streams[key] == nil {
		m.streams[key] = map[string]Stream{}
	}
	m.streams[key][name] = s
	*streams = append(*streams, Change[Stream]{Item: s})
}

func (m *model) everyName() map[[3]string]struct{} {
	names := map[[3]string]struct{}{}
	for _, t := range []string{"a", "b"} {
		for _, n := range []string{"x", "y"} {
			names[[3]string{t, n, "s"}], names[[3]string{t, n, "t"}] = struct{}{}, struct{}{}
		}
	}
	return names
}

func (m *model) check(t *rapid.T, c *Catalog) {
	for n := range m.everyName() {
		want, exists := m.streams[spaceKey{n[0], n[1]}][n[2]]
		got := c.Stream([]byte(n[0]), []byte(n[1]), []byte(n[2]))
		if exists != (got != nil) {
			t.Fatalf("%v: visible %t, exists %t", n, got != nil, exists)
		}
		if exists {
			want.Handle = got.Handle
			if *got != want {
				t.Fatalf("%v is %+v, want %+v", n, *got, want)
			}
		}
		if c.Tenant([]byte(n[0])) != (m.tenants[n[0]] != 0) ||
			c.Namespace([]byte(n[0]), []byte(n[1])) != (m.namespaces[spaceKey{n[0], n[1]}] != 0) {
			t.Fatalf("%v: wrong parents", n)
		}
	}
}

func (m *model) snapshot(c *Catalog) {
	var tenants []Tenant
	for name, inc := range m.tenants {
		tenants = append(tenants, Tenant{name, inc})
	}
	var namespaces []Namespace
	for key, inc := range m.namespaces {
		namespaces = append(namespaces, Namespace{key.tenant, key.namespace, inc})
	}
	var streams []Stream
	for _, byName := range m.streams {
		for _, s := range byName {
			streams = append(streams, s)
		}
	}
	c.ResetTenants(tenants)
	c.ResetNamespaces(namespaces)
	c.ResetCaches(nil)
	c.ResetStreams(streams)
}

func page[T any](t *rapid.T, rows []Change[T]) (page, rest []Change[T]) {
	n := rapid.IntRange(0, min(3, len(rows))).Draw(t, "page")
	return rows[:n], rows[n:]
}

// lastPerName keeps the rows that a replay of the page leaves standing: a page that comes twice as a whole
// would end in the same state, but pass through older ones.
func lastPerName(rows []Change[Stream]) []Change[Stream] {
	last := map[[3]string]Change[Stream]{}
	for _, r := range rows {
		last[[3]string{r.Item.Tenant, r.Item.Namespace, r.Item.Name}] = r
	}
	var kept []Change[Stream]
	for _, r := range last {
		kept = append(kept, r)
	}
	return kept
}
