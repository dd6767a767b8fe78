//go:build !race

package auth

import (
	"runtime"
	"testing"
)

func benchMatcher(tb testing.TB) *Matcher {
	m, err := Compile("t1", []string{
		"stream.publish:stream:t1/orders/*",
		"stream.publish:stream:t1/ns/a-rather-long-stream-name-of-more-than-32-bytes",
		"stream.subscribe:stream:t1/ns/s", "group.consume:group:t1/ns/s/g",
		"cache.read:cache:t1/ns/c/room1/*",
		"cache.read:cache:t1/ns/c/room2/*", "cache.read:cache:t1/ns/c/user:1*",
		"cache.read:cache:t1/ns/c/exact",
		"cache.write:cache:t1/ns/c", "node.view:cluster:*",
	})
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// TestAllocs gates every decision, yes and no, and the login with a remembered token at zero objects. A
// collection in the middle may add some, so one clean run is enough.
func TestAllocs(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	m := benchMatcher(t)
	ns, s, c := []byte("ns"), []byte("a-rather-long-stream-name-of-more-than-32-bytes"), []byte("c")
	long := []byte("room1/a-key-that-is-longer-than-the-32-bytes-the-compiler-keeps-on-the-stack")
	other := []byte("room3/a-key-that-is-longer-than-the-32-bytes-the-compiler-keeps-on-the-stack")

	w, key := newWorld(t), newSigner("k1")
	w.publish(key)
	tenant, token, ctx := []byte("t1"), []byte(key.token(nil)), t.Context()
	w.login(t, string(token))

	gates := map[string]func() bool{
		"stream yes": func() bool { return m.AllowStream(StreamPublish, ns, s) },
		"stream no":  func() bool { return !m.AllowStream(StreamSubscribe, ns, s) },
		"key yes":    func() bool { return m.AllowCacheKey(CacheRead, ns, c, long) },
		"key no":     func() bool { return !m.AllowCacheKey(CacheRead, ns, c, other) },
		"prefix yes": func() bool { return m.AllowCachePrefix(CacheRead, ns, c, long) },
		"prefix no":  func() bool { return !m.AllowCachePrefix(CacheRead, ns, c, other) },
		"cache yes":  func() bool { return m.AllowCache(CacheWrite, ns, c) },
		"group no":   func() bool { return !m.AllowGroup(GroupConsume, ns, s, long) },
		"node no":    func() bool { return !m.AllowNode(NodeManage, long) },
		"cluster":    func() bool { return m.AllowCluster(NodeView) && !m.AllowTenant(TenantManage) },
		"namespace":  func() bool { return !m.AllowNamespace(NamespaceManage, ns) },
		"remembered": func() bool { _, err := w.Verify(ctx, tenant, token); return err == nil },
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
			t.Errorf("%s: %v objects per decision, want 0", name, best)
		}
	}
}

func BenchmarkAuthAllowStream(b *testing.B) {
	m, ns, s := benchMatcher(b), []byte("ns"), []byte("a-rather-long-stream-name-of-more-than-32-bytes")
	b.ReportAllocs()
	for b.Loop() {
		m.AllowStream(StreamPublish, ns, s)
	}
}

func BenchmarkAuthAllowCacheKey(b *testing.B) {
	m, ns, c, key := benchMatcher(b), []byte("ns"), []byte("c"), []byte("room2/a")
	b.ReportAllocs()
	for b.Loop() {
		m.AllowCacheKey(CacheRead, ns, c, key)
	}
}
