package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func stream(name string, incarnation uint64) Stream {
	return Stream{Tenant: "t1", Namespace: "ns", Name: name, Incarnation: incarnation, Shards: 1}
}

func cache(name string, incarnation uint64) Cache {
	return Cache{Tenant: "t1", Namespace: "ns", Name: name, Incarnation: incarnation, Shards: 1}
}

func put[T any](items ...T) (changes []Change[T]) {
	for _, item := range items {
		changes = append(changes, Change[T]{Item: item})
	}
	return changes
}

func del[T any](items ...T) (changes []Change[T]) {
	for _, item := range items {
		changes = append(changes, Change[T]{Deleted: true, Item: item})
	}
	return changes
}

func findStream(c *Catalog, name string) *Stream {
	return c.Stream([]byte("t1"), []byte("ns"), []byte(name))
}
func findCache(c *Catalog, name string) *Cache {
	return c.Cache([]byte("t1"), []byte("ns"), []byte(name))
}

// seeded returns a catalog with tenant t1 and namespace ns, and a log of what its hook says.
func seeded(t *testing.T) (*Catalog, *[]string) {
	t.Helper()
	c := New()
	c.ResetTenants([]Tenant{{"t1", 1}})
	c.ResetNamespaces([]Namespace{{"t1", "ns", 1}})
	c.ResetCaches(nil)
	if c.Seeded() {
		t.Fatal("seeded without streams")
	}
	c.ResetStreams(nil)
	if !c.Seeded() {
		t.Fatal("not seeded after four snapshots")
	}
	log := new([]string)
	c.OnChange(func(streams []*Stream, caches []*Cache) {
		for _, s := range streams {
			*log = append(*log, fmt.Sprintf("stream %s/%d", s.Name, s.Incarnation))
		}
		for _, s := range caches {
			*log = append(*log, fmt.Sprintf("cache %s/%d", s.Name, s.Incarnation))
		}
	})
	c.OnTenantRemoved(func(name string) { *log = append(*log, "tenant "+name) })
	return c, log
}

func wantLog(t *testing.T, log *[]string, want ...string) {
	t.Helper()
	slices.Sort(*log)
	if !slices.Equal(*log, want) {
		t.Fatalf("hooks said %q, want %q", *log, want)
	}
	*log = nil
}

func TestLifeOfAStream(t *testing.T) {
	c, log := seeded(t)
	c.Apply(Delta{Streams: put(stream("s", 10))})
	first := findStream(c, "s")
	if first == nil || first.Handle == 0 {
		t.Fatalf("created stream is %+v", first)
	}
	g := c.Generation()
	c.Apply(Delta{Streams: put(stream("s", 10))})
	if c.Generation() != g || findStream(c, "s") != first {
		t.Fatal("a repeated row changed the view")
	}

	patched := stream("s", 10)
	patched.RetentionBytes = 5
	c.Apply(Delta{Streams: put(patched)})
	second := findStream(c, "s")
	if second.Handle != first.Handle || second.RetentionBytes != 5 || first.RetentionBytes != 0 {
		t.Fatalf("patched stream is %+v, before it was %+v", second, first)
	}
	if c.Generation() == g {
		t.Fatal("a patch did not change the generation")
	}
	wantLog(t, log)

	c.Apply(Delta{Streams: append(del(stream("s", 10)), put(stream("s", 11))...)})
	third := findStream(c, "s")
	if third.Handle == first.Handle || third.Incarnation != 11 {
		t.Fatalf("re-created stream is %+v", third)
	}
	wantLog(t, log, "stream s/10")

	c.Apply(Delta{Streams: del(stream("s", 10))})
	if findStream(c, "s") != third {
		t.Fatal("a late row about an earlier life removed the stream")
	}
	c.Apply(Delta{Streams: del(stream("s", 11))})
	if findStream(c, "s") != nil {
		t.Fatal("deleted stream is visible")
	}
	wantLog(t, log, "stream s/11")
}

func TestKindsArriveInAnyOrder(t *testing.T) {
	c := New()
	c.Apply(Delta{Streams: put(stream("s", 10)), Caches: put(cache("k", 11))})
	if findStream(c, "s") != nil || findCache(c, "k") != nil {
		t.Fatal("visible without a namespace")
	}
	c.Apply(Delta{Namespaces: put(Namespace{"t1", "ns", 2})})
	if findStream(c, "s") != nil || c.Namespace([]byte("t1"), []byte("ns")) {
		t.Fatal("visible without a tenant")
	}
	c.Apply(Delta{Tenants: put(Tenant{"t1", 1})})
	if findStream(c, "s") == nil || findCache(c, "k") == nil || !c.Namespace([]byte("t1"), []byte("ns")) ||
		!c.Tenant([]byte("t1")) {
		t.Fatal("not visible although everything has arrived")
	}
	if c.Seeded() {
		t.Fatal("changes alone seeded the catalog")
	}
}

func TestDeletedParentsHideAtOnce(t *testing.T) {
	c, log := seeded(t)
	c.Apply(Delta{Streams: put(stream("s", 10)), Caches: put(cache("k", 11))})
	before := findStream(c, "s").Handle

	c.Apply(Delta{Namespaces: del(Namespace{"t1", "ns", 1})})
	if findStream(c, "s") != nil || findCache(c, "k") != nil {
		t.Fatal("visible in a deleted namespace")
	}
	wantLog(t, log, "cache k/11", "stream s/10")

	c.Apply(Delta{Namespaces: put(Namespace{"t1", "ns", 2})})
	if s := findStream(c, "s"); s == nil || s.Handle == before {
		t.Fatalf("stream came back as %+v, handle before %d", s, before)
	}
	c.Apply(Delta{Tenants: del(Tenant{"t1", 1})})
	if findStream(c, "s") != nil || c.Namespace([]byte("t1"), []byte("ns")) || c.Tenant([]byte("t1")) {
		t.Fatal("visible in a deleted tenant")
	}
	wantLog(t, log, "cache k/11", "stream s/10", "tenant t1")

	c.Apply(Delta{Streams: del(stream("s", 10)), Caches: del(cache("k", 11))})
	wantLog(t, log)
}

func TestSnapshotIsTheWholeTruth(t *testing.T) {
	c, log := seeded(t)
	c.ResetStreams([]Stream{stream("a", 10), stream("b", 11), stream("c", 12)})
	b := findStream(c, "b")
	g := c.Generation()
	c.ResetStreams([]Stream{stream("a", 10), stream("b", 11), stream("c", 12)})
	if c.Generation() != g {
		t.Fatal("an equal snapshot changed the view")
	}
	// From a restored control plane: a is gone, c has an older incarnation than the known one, d is new.
	c.ResetStreams([]Stream{stream("b", 11), stream("c", 5), stream("d", 13)})
	if findStream(c, "a") != nil || findStream(c, "b") != b || findStream(c, "d") == nil {
		t.Fatal("the view is not the snapshot")
	}
	if s := findStream(c, "c"); s == nil || s.Incarnation != 5 {
		t.Fatalf("c is %+v", s)
	}
	wantLog(t, log, "stream a/10", "stream c/12")

	c.ResetTenants([]Tenant{{"t1", 7}, {"t2", 1}})
	wantLog(t, log, "tenant t1")
	c.ResetTenants([]Tenant{{"t1", 7}})
	wantLog(t, log, "tenant t2")
	c.ResetNamespaces(nil)
	wantLog(t, log, "stream b/11", "stream c/5", "stream d/13")
}

func TestNamesAreNotJoined(t *testing.T) {
	c := New()
	c.Apply(Delta{
		Tenants:    put(Tenant{"t1", 1}, Tenant{"t1/ns", 1}),
		Namespaces: put(Namespace{"t1", "ns", 1}, Namespace{"t1/ns", "x", 1}),
		Streams:    put(stream("x/s", 1)),
	})
	if c.Stream([]byte("t1/ns"), []byte("x"), []byte("s")) != nil {
		t.Fatal("a slash in a name reached another namespace")
	}
}

func TestWaitSeeded(t *testing.T) {
	c := New()
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	cancel(cause)
	if err := c.WaitSeeded(ctx); !errors.Is(err, cause) {
		t.Fatalf("got %v, want the cause", err)
	}
	done := make(chan error)
	go func() { done <- c.WaitSeeded(t.Context()) }()
	c.ResetTenants(nil)
	c.ResetNamespaces(nil)
	c.ResetCaches(nil)
	c.ResetStreams(nil)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if err := c.WaitSeeded(ctx); err != nil {
		t.Fatalf("seeded, and yet %v", err)
	}
}

// TestHooksSeeTheNewView checks the order that ingress relies on: when a stream is reported as gone, a lookup
// no longer finds it.
func TestHooksSeeTheNewView(t *testing.T) {
	c, _ := seeded(t)
	c.Apply(Delta{Streams: put(stream("s", 10))})
	called := false
	c.OnChange(func(gone []*Stream, _ []*Cache) {
		called = true
		if s := findStream(c, "s"); s == gone[0] {
			t.Error("the hook still finds what is gone")
		}
	})
	c.Apply(Delta{Streams: put(stream("s", 11))})
	if !called {
		t.Fatal("no hook")
	}
}

// TestReadersDuringChanges is for the race detector: what a reader gets is consistent whenever it looks.
func TestReadersDuringChanges(t *testing.T) {
	c, _ := seeded(t)
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if s := findStream(c, "s"); s != nil && (s.Handle == 0 || s.Name != "s") {
					t.Errorf("a reader got %+v", s)
					return
				}
				c.Generation()
				c.Tenant([]byte("t1"))
			}
		})
	}
	for i := range uint64(500) {
		switch i % 4 {
		case 0:
			c.Apply(Delta{Streams: put(stream("s", i))})
		case 1:
			c.Apply(Delta{Namespaces: del(Namespace{"t1", "ns", i})})
		case 2:
			c.Apply(Delta{Namespaces: put(Namespace{"t1", "ns", i})})
		case 3:
			c.ResetStreams([]Stream{stream("s", i)})
		}
	}
	close(stop)
	readers.Wait()
}
