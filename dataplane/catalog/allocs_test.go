//go:build !race

package catalog

import (
	"runtime"
	"testing"
)

// TestAllocs gates the lookups at zero objects. A collection in the middle may add some, so one clean run is
// enough.
func TestAllocs(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	c := New()
	long := "a-namespace-name-that-is-longer-than-the-32-bytes-the-compiler-keeps-on-the-stack"
	c.Apply(Delta{
		Tenants:    put(Tenant{"t1", 1}),
		Namespaces: put(Namespace{"t1", long, 1}),
		Streams:    put(Stream{Tenant: "t1", Namespace: long, Name: long, Incarnation: 1}),
		Caches:     put(Cache{Tenant: "t1", Namespace: long, Name: long, Incarnation: 1}),
	})
	tenant, namespace, missing := []byte("t1"), []byte(long), []byte(long+"-not")
	gates := map[string]func() bool{
		"Stream":         func() bool { return c.Stream(tenant, namespace, namespace) != nil },
		"Cache":          func() bool { return c.Cache(tenant, namespace, namespace) != nil },
		"Tenant":         func() bool { return c.Tenant(tenant) },
		"Namespace":      func() bool { return c.Namespace(tenant, namespace) },
		"missing stream": func() bool { return c.Stream(tenant, namespace, missing) == nil },
		"generation":     func() bool { return c.Generation() != 0 && !c.Seeded() },
	}
	for name, f := range gates {
		if !f() {
			t.Fatalf("%s: wrong answer", name)
		}
		best := -1.0
		for range 5 {
			if n := testing.AllocsPerRun(100, func() { f() }); best < 0 || n < best {
				best = n
			}
		}
		if best != 0 {
			t.Errorf("%s: %v objects per lookup, want 0", name, best)
		}
	}
}

func BenchmarkCatalogStream(b *testing.B) {
	c := New()
	c.Apply(Delta{
		Tenants:    put(Tenant{"t1", 1}),
		Namespaces: put(Namespace{"t1", "ns", 1}),
		Streams:    put(stream("orders", 1)),
	})
	tenant, namespace, name := []byte("t1"), []byte("ns"), []byte("orders")
	b.ReportAllocs()
	for b.Loop() {
		c.Stream(tenant, namespace, name)
	}
}
