package cluster

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/felix-go/felix/controlplane/api"
	"github.com/felix-go/felix/dataplane/auth"
	"github.com/felix-go/felix/dataplane/catalog"
	"github.com/felix-go/felix/dataplane/stat"
	"github.com/felix-go/felix/internal/clock"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// node is a broker's metadata side: the Sync under test and what it writes to.
type node struct {
	*Sync
	view  *catalog.Catalog
	stats *stat.Set
}

func start(t *testing.T, cp *controlPlane, change func(*Config)) *node {
	t.Helper()
	n := &node{view: catalog.New(), stats: stat.NewSet()}
	cfg := Config{API: cp.client(t), Catalog: n.view, Stats: n.stats}
	if change != nil {
		change(&cfg)
	}
	n.Sync = Start(cfg)
	t.Cleanup(n.Close)
	return n
}

// seeded returns a control plane with tenant t1, namespace ns, stream s and cache k, and a broker that knows
// them.
func seeded(t *testing.T) (*controlPlane, *node) {
	t.Helper()
	cp := newControlPlane(t)
	cp.write("tenants", "t1", api.OpCreated, tenant("t1", 1))
	cp.write("namespaces", "ns", api.OpCreated, namespace("ns", 2))
	cp.write("streams", "s", api.OpCreated, stream("s", 3))
	cp.write("caches", "k", api.OpCreated, cache("k", 4))
	n := start(t, cp, func(c *Config) { c.Clock = hurried{clock.Real()} })
	if err := n.view.WaitSeeded(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"tenants", "namespaces", "caches", "streams"} {
		cp.settle(kind)
	}
	return cp, n
}

// hurried is a clock whose waits are over at once, so that tests of failures do not wait for the backoff.
type hurried struct{ clock.Clock }

func (h hurried) NewTimer(time.Duration) clock.Timer { return h.Clock.NewTimer(0) }

func (n *node) stream(name string) *catalog.Stream {
	return n.view.Stream([]byte("t1"), []byte("ns"), []byte(name))
}

func (n *node) cache(name string) *catalog.Cache {
	return n.view.Cache([]byte("t1"), []byte("ns"), []byte(name))
}

func (n *node) count(t *testing.T, name string, want int64) {
	t.Helper()
	if got, ok := n.stats.Snapshot()[name]; !ok || got != want {
		t.Errorf("%s is %d (registered: %t), want %d", name, got, ok, want)
	}
}

func TestColdStartAndChanges(t *testing.T) {
	cp, n := seeded(t)
	if want := []string{"tenants", "namespaces", "caches", "streams"}; !slices.Equal(cp.asked, want) {
		t.Errorf("snapshots in the order %q, want %q", cp.asked, want)
	}
	s := n.stream("s")
	if s == nil || s.Shards != 2 || s.Jump || s.RetentionSeconds != 60 || s.Consistency != "Leader" ||
		n.cache("k") == nil {
		t.Fatalf("after the cold start: stream %+v, cache %+v", s, n.cache("k"))
	}

	jump := stream("j", 5)
	jump.Routing = api.RoutingJumpHash
	cp.write("streams", "j", api.OpCreated, jump)
	patched := stream("s", 3)
	patched.Retention = api.Retention{MaxSizeBytes: 1 << 20}
	cp.write("streams", "s", api.OpUpdated, patched)
	cp.write("caches", "k", api.OpDeleted, cache("k", 4))
	cp.settle("streams")
	cp.settle("caches")
	if j := n.stream("j"); j == nil || !j.Jump {
		t.Errorf("created stream is %+v", j)
	}
	if p := n.stream("s"); p.RetentionBytes != 1<<20 || p.RetentionSeconds != 0 || p.Handle != s.Handle {
		t.Errorf("patched stream is %+v, was %+v", p, s)
	}
	if n.cache("k") != nil {
		t.Error("the deleted cache is visible")
	}
	for i := range uint64(10) { // more than a page
		cp.write("streams", fmt.Sprint(i), api.OpCreated, stream(fmt.Sprint("many", i), 10+i))
	}
	cp.settle("streams")
	for i := range 10 {
		if n.stream(fmt.Sprint("many", i)) == nil {
			t.Errorf("stream %d of ten is missing", i)
		}
	}
	n.count(t, `felix_broker_catalog_sync_failures_total{kind="streams"}`, 0)
}

// TestResyncs forces each of the three signs of missed rows. The broker takes exactly one new snapshot of
// that kind, its view is the server's, and what did not change keeps its handle.
func TestResyncs(t *testing.T) {
	for reason, miss := range map[string]func(l *log){
		"evicted": func(l *log) {
			l.write("s2", api.OpCreated, stream("s2", 10))
			l.write("gone", api.OpCreated, stream("gone", 11))
			l.write("gone", api.OpDeleted, stream("gone", 11))
			l.rows = l.rows[len(l.rows)-1:]
		},
		"all_evicted": func(l *log) {
			l.write("s2", api.OpCreated, stream("s2", 10))
			l.rows = nil
		},
		"reset": func(l *log) {
			l.next, l.rows = 0, nil
			l.write("s2", api.OpCreated, stream("s2", 10))
			l.rows = nil
		},
	} {
		t.Run(reason, func(t *testing.T) {
			cp, n := seeded(t)
			before := n.stream("s")
			cp.write("streams", "old", api.OpCreated, stream("old", 9))
			cp.settle("streams")
			cp.change("streams", func(l *log) {
				delete(l.state, "old")
				miss(l)
			})
			cp.settle("streams")
			if n.stream("s2") == nil || n.stream("gone") != nil || n.stream("old") != nil || n.stream("s") != before {
				t.Errorf("view: s2 %v, gone %v, old %v, s %v",
					n.stream("s2"), n.stream("gone"), n.stream("old"), n.stream("s"))
			}
			if c := cp.kinds["streams"].snapshots; c != 2 {
				t.Errorf("%d snapshots of streams, want the first and one more", c)
			}
			if c := cp.kinds["caches"].snapshots; c != 1 {
				t.Errorf("%d snapshots of caches", c)
			}
			for _, r := range []string{"evicted", "all_evicted", "reset"} {
				want := int64(0)
				if r == reason {
					want = 1
				}
				n.count(t, `felix_broker_catalog_resyncs_total{reason="`+r+`",kind="streams"}`, want)
			}
		})
	}
}

// TestFailedFeed fails one feed: the others go on, its cursor stands still, the view keeps what it had, and
// afterwards nothing is missing.
func TestFailedFeed(t *testing.T) {
	cp, n := seeded(t)
	var from int
	var cursor uint64
	cp.change("streams", func(l *log) {
		l.failing = true
		from, cursor = len(l.sinces), l.next
		l.write("s2", api.OpCreated, stream("s2", 10))
	})
	cp.write("caches", "k2", api.OpCreated, cache("k2", 11))
	cp.settle("caches")
	if n.cache("k2") == nil {
		t.Error("a failed feed holds another one back")
	}
	cp.until(func() bool { return len(cp.kinds["streams"].sinces) >= from+2 })
	if n.stream("s") == nil || n.stream("s2") != nil || !n.view.Seeded() {
		t.Error("a failed feed changed the view")
	}
	cp.change("streams", func(l *log) {
		for _, since := range l.sinces[from:] {
			if since != cursor {
				t.Errorf("asked from %d on while failing, the cursor was at %d", since, cursor)
			}
		}
		l.failing = false
	})
	cp.settle("streams")
	if n.stream("s2") == nil {
		t.Error("a change was lost in the failure")
	}
	if n.stats.Snapshot()[`felix_broker_catalog_sync_failures_total{kind="streams"}`] == 0 {
		t.Error("the failures are not counted")
	}
	n.count(t, `felix_broker_catalog_sync_failures_total{kind="caches"}`, 0)
	n.count(t, `felix_broker_catalog_resyncs_total{reason="evicted",kind="streams"}`, 0)
}

// TestFailedResync fails the snapshot that missed rows call for: the old view stands until it comes.
func TestFailedResync(t *testing.T) {
	cp, n := seeded(t)
	cp.change("streams", func(l *log) {
		l.write("s2", api.OpCreated, stream("s2", 10))
		l.rows = nil
	})
	// From here on a snapshot may be on its way; both orders must end well.
	cp.change("streams", func(l *log) { l.failing = true })
	cp.until(func() bool { return cp.kinds["streams"].polls+cp.kinds["streams"].snapshots >= 5 })
	if n.stream("s") == nil {
		t.Error("the view lost a stream")
	}
	cp.change("streams", func(l *log) { l.failing = false })
	cp.settle("streams")
	if n.stream("s") == nil || n.stream("s2") == nil {
		t.Error("the view is not the server's")
	}
}

// TestColdStartWaits starts while the first feed fails: no other is asked, and the catalog is not seeded.
func TestColdStartWaits(t *testing.T) {
	cp := newControlPlane(t)
	cp.write("tenants", "t1", api.OpCreated, tenant("t1", 1))
	cp.change("tenants", func(l *log) { l.failing = true })
	n := start(t, cp, func(c *Config) { c.Clock = hurried{clock.Real()} })
	cp.until(func() bool { return cp.kinds["tenants"].snapshots >= 3 })
	if n.view.Seeded() || n.view.Tenant([]byte("t1")) {
		t.Error("seeded by failures")
	}
	cp.change("tenants", func(l *log) {
		if slices.ContainsFunc(cp.asked, func(kind string) bool { return kind != "tenants" }) {
			t.Errorf("asked for %q while tenants were missing", cp.asked)
		}
		l.failing = false
	})
	if err := n.view.WaitSeeded(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestHastyServer checks that a server that does not wait for changes is not asked in a tight loop.
func TestHastyServer(t *testing.T) {
	cp := newControlPlane(t)
	kinds := []string{"tenants", "namespaces", "caches", "streams"}
	for _, kind := range kinds {
		cp.change(kind, func(l *log) { l.hasty = true })
	}
	clk := pauses{clock.NewManual(epoch), make(chan struct{}, 100)}
	start(t, cp, func(c *Config) { c.Clock = clk })
	for polls := 1; polls <= 3; polls++ {
		for range kinds { // every feed pauses after its poll
			<-clk.begun
		}
		cp.mu.Lock()
		for _, kind := range kinds {
			if got := cp.kinds[kind].polls; got != polls {
				t.Errorf("%s was asked %d times, want %d", kind, got, polls)
			}
		}
		cp.mu.Unlock()
		clk.Advance(quickPause)
	}
}

// pauses is a clock that tells when a feed begins to wait.
type pauses struct {
	*clock.Manual
	begun chan struct{}
}

func (p pauses) NewTimer(d time.Duration) clock.Timer {
	t := p.Manual.NewTimer(d)
	p.begun <- struct{}{}
	return t
}

// TestSilentServer ends requests that are neither answered nor refused.
func TestSilentServer(t *testing.T) {
	cp := newControlPlane(t)
	cp.change("tenants", func(l *log) { l.hanging = true })
	clk := pauses{clock.NewManual(epoch), make(chan struct{}, 100)}
	n := start(t, cp, func(c *Config) { c.Clock = clk })
	cp.until(func() bool { return cp.kinds["tenants"].snapshots == 1 })
	clk.Advance(snapshotLimit)
	<-clk.begun
	cp.change("tenants", func(l *log) { l.hanging = false })
	clk.Advance(longestWait)
	if err := n.view.WaitSeeded(t.Context()); err != nil {
		t.Fatal(err)
	}
	n.count(t, `felix_broker_catalog_sync_failures_total{kind="tenants"}`, 1)
}

// TestCloseAtAnyTime closes before, during and after the cold start; the leak check in TestMain does the
// rest.
func TestCloseAtAnyTime(t *testing.T) {
	cp := newControlPlane(t)
	Start(Config{API: cp.client(t), Catalog: catalog.New()}).Close()

	cp.change("namespaces", func(l *log) { l.hanging = true })
	n := start(t, cp, nil)
	cp.until(func() bool { return cp.kinds["namespaces"].snapshots > 0 })
	n.Close()
	if n.view.Seeded() {
		t.Error("seeded by Close")
	}
	n.Close()

	cp2, n2 := seeded(t)
	n2.Close()
	cp2.Server.CloseClientConnections()
	if n2.stream("s") == nil {
		t.Error("Close emptied the view")
	}
	n2.count(t, `felix_broker_catalog_sync_failures_total{kind="streams"}`, 0)
}

// TestDeletedTenantLosesItsKeys deletes a tenant, and re-creates one between two looks.
func TestDeletedTenantLosesItsKeys(t *testing.T) {
	cp := newControlPlane(t)
	cp.write("tenants", "t1", api.OpCreated, tenant("t1", 1))
	keys := auth.NewKeys(auth.KeysConfig{})
	defer keys.Close()
	start(t, cp, func(c *Config) { c.Keys = keys })
	cp.settle("tenants")
	v := auth.NewVerifier(auth.Config{Keys: keys})
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	token := sign(private)
	login := func() {
		t.Helper()
		if err := keys.Set("t1", map[string]ed25519.PublicKey{"k1": public}); err != nil {
			t.Fatal(err)
		}
		if _, err := v.Verify(t.Context(), []byte("t1"), token); err != nil {
			t.Fatal(auth.Reason(err))
		}
	}
	reason := func() string {
		_, err := v.Verify(t.Context(), []byte("t1"), token)
		return auth.Reason(err)
	}
	login()
	cp.write("tenants", "t2", api.OpCreated, tenant("t2", 2))
	cp.settle("tenants")
	if r := reason(); r != "" {
		t.Fatalf("another tenant's creation ended the login: %s", r)
	}
	cp.write("tenants", "t1", api.OpDeleted, tenant("t1", 1))
	cp.settle("tenants")
	if r := reason(); r != "keys_unavailable" {
		t.Fatalf("token of the deleted tenant: %q", r)
	}
	login()
	cp.write("tenants", "t1", api.OpCreated, tenant("t1", 3))
	cp.settle("tenants")
	login()
	cp.change("tenants", func(l *log) {
		l.write("t1", api.OpDeleted, tenant("t1", 3))
		l.write("t1", api.OpCreated, tenant("t1", 4))
		l.rows = nil // seen only as a snapshot
	})
	cp.settle("tenants")
	if r := reason(); r != "keys_unavailable" {
		t.Fatalf("token of the tenant's earlier life: %q", r)
	}
}

// TestKeysFromTheControlPlane logs in with keys that come over HTTP.
func TestKeysFromTheControlPlane(t *testing.T) {
	cp, n := seeded(t)
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	cp.keys["k1"] = public
	keys := auth.NewKeys(auth.KeysConfig{
		Fetch: cp.client(t).Keys,
		Known: func(tenant string) (bool, bool) { return n.view.Tenant([]byte(tenant)), n.view.Seeded() },
	})
	defer keys.Close()
	v := auth.NewVerifier(auth.Config{Keys: keys})
	if _, err := v.Verify(t.Context(), []byte("t1"), sign(private)); err != nil {
		t.Fatal(auth.Reason(err))
	}
}

// sign returns a token of tenant t1 that is good for a while.
func sign(key ed25519.PrivateKey) []byte {
	part := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		return base64.RawURLEncoding.EncodeToString(b)
	}
	text := part(map[string]any{"alg": "EdDSA", "kid": "k1"}) + "." + part(map[string]any{
		"iss": "felix-auth", "aud": "felix-broker", "tid": "t1", "exp": time.Now().Add(time.Hour).Unix(),
	})
	return []byte(text + "." + base64.RawURLEncoding.EncodeToString(ed25519.Sign(key, []byte(text))))
}

// TestUnusableRows leaves out what this broker does not understand, and takes the rest of the page.
func TestUnusableRows(t *testing.T) {
	cp, n := seeded(t)
	mapping, none, many := stream("mapping", 10), stream("none", 11), stream("many", 12)
	mapping.Routing, none.Shards, many.Shards = "rendezvous", 0, maxShards+1
	nameless := stream("", 13)
	cp.change("streams", func(l *log) {
		for _, s := range []api.Stream{mapping, none, many, nameless, stream("good", 14)} {
			l.write(s.Stream, api.OpCreated, s)
		}
	})
	cp.settle("streams")
	for _, name := range []string{"mapping", "none", "many", ""} {
		if n.stream(name) != nil {
			t.Errorf("%q is visible", name)
		}
	}
	if n.stream("good") == nil || n.stream("s") == nil {
		t.Error("a usable stream is missing")
	}
	n.count(t, `felix_broker_catalog_rows_refused_total{kind="streams"}`, 4)
	none.Shards = 0
	cp.write("streams", "none", api.OpDeleted, none) // a deletion is taken as it is
	cp.settle("streams")
	n.count(t, `felix_broker_catalog_rows_refused_total{kind="streams"}`, 4)
}

// TestBadPage does not go round in circles with a page that leaves the cursor behind its rows.
func TestBadPage(t *testing.T) {
	page := api.Changes[api.Stream]{NextSeq: 7, Items: []api.Change[api.Stream]{{Seq: 7}}}
	if err := check(page); err != errBadPage {
		t.Errorf("check is %v", err)
	}
	page.NextSeq = 8
	if err := check(page); err != nil {
		t.Errorf("check is %v", err)
	}
	if err := check(api.Changes[api.Stream]{NextSeq: 7}); err != nil {
		t.Errorf("check of an empty page is %v", err)
	}
}

func TestBackoff(t *testing.T) {
	b := backoff{}
	for i, most := range []time.Duration{100, 200, 400, 800, 1600, 3200, 5000, 5000} {
		most *= time.Millisecond
		if d := b.next(); d < most/2 || d > most {
			t.Errorf("wait %d is %s, want %s to %s", i, d, most/2, most)
		}
	}
	b.failures = 1 << 40
	if d := b.next(); d < longestWait/2 || d > longestWait {
		t.Errorf("after very many failures the wait is %s", d)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if pause(ctx, clock.NewManual(epoch), time.Hour) {
		t.Error("a pause outlived its context")
	}
}

// TestRandomHistory writes at random while feeds fail, drop rows and start over; in the end the view is the
// server's.
func TestRandomHistory(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	cp, n := seeded(t)
	names := []string{"a", "b", "c", "d"}
	alive := map[string]uint64{}
	for i := range uint64(200) {
		name := names[rng.IntN(len(names))]
		cp.change("streams", func(l *log) {
			if inc := alive[name]; inc != 0 {
				l.write(name, api.OpDeleted, stream(name, inc))
				delete(alive, name)
			} else {
				alive[name] = 100 + i
				l.write(name, api.OpCreated, stream(name, 100+i))
			}
			switch rng.IntN(10) {
			case 0:
				l.rows = nil
			case 1:
				l.rows = l.rows[len(l.rows)/2:]
			}
			l.failing = rng.IntN(20) == 0
		})
		if rng.IntN(4) == 0 {
			cp.change("streams", func(l *log) { l.failing = false })
			cp.settle("streams")
			if rng.IntN(4) == 0 { // a sequence that starts over is seen only from above
				cp.change("streams", func(l *log) { l.rows, l.next = nil, rng.Uint64N(l.next) })
				cp.settle("streams")
			}
		}
	}
	cp.change("streams", func(l *log) { l.failing = false })
	cp.settle("streams")
	for _, name := range names {
		s := n.stream(name)
		if inc := alive[name]; (s != nil) != (inc != 0) || s != nil && s.Incarnation != inc {
			t.Errorf("%s is %+v, want incarnation %d", name, s, inc)
		}
	}
}
