package store

import (
	"fmt"
	"net/url"
	"sync"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"

	"github.com/felix-go/felix/controlplane/api"
)

// startEtcd runs an etcd that listens, as an installation of its own would, and returns its endpoint.
func startEtcd(t *testing.T) (endpoint string, stop func()) {
	t.Helper()
	local := url.URL{Scheme: "http", Host: "127.0.0.1:0"}
	cfg := embed.NewConfig()
	cfg.Dir = t.TempDir()
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = nil, []url.URL{local}
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = []url.URL{local}, []url.URL{local}
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	cfg.TickMs, cfg.ElectionMs = memberTickMillis, memberElectionMillis
	cfg.EnableGRPCGateway = false
	cfg.ZapLoggerBuilder = embed.NewZapLoggerBuilder(newZap(testLogger(t)))
	e, err := embed.StartEtcd(cfg)
	ok(t, err)
	stop = sync.OnceFunc(e.Close)
	t.Cleanup(stop)
	<-e.Server.ReadyNotify()
	return e.Clients[0].Addr().String(), stop
}

func TestInstancesShareOneEtcd(t *testing.T) {
	endpoint, _ := startEtcd(t)
	ctx := testContext(t)
	var instances []*Store
	for range 3 {
		s := open(t, Config{Endpoints: []string{endpoint}})
		defer s.Close()
		instances = append(instances, s)
	}
	stranger := open(t, Config{Endpoints: []string{endpoint}, Prefix: "/another/"})
	defer stranger.Close()

	// A write through one instance wakes a waiter of another.
	woken := make(chan error, 1)
	go func() { woken <- instances[1].Tenants.Wait(ctx, 0) }()
	addTenant(t, instances[0], "t")
	ok(t, <-woken)
	addNamespace(t, instances[1], "t", "n")

	// Writers of all instances get one dense sequence.
	const writers, each = 20, 5
	together(t, writers, func(i int) error {
		s := instances[i%len(instances)]
		for j := range each {
			st := api.Stream{TenantID: "t", Namespace: "n", Stream: fmt.Sprintf("s-%d-%d", i, j)}
			if _, err := s.CreateStream(ctx, st); err != nil {
				return err
			}
		}
		return nil
	})
	for _, s := range instances {
		if rows := allChanges(t, s.Streams); len(rows) != writers*each {
			t.Fatalf("%d change rows, want %d", len(rows), writers*each)
		}
	}
	if rows := allChanges(t, stranger.Tenants); len(rows) != 0 {
		t.Fatalf("another prefix sees %v", rows)
	}
}

// When etcd is put back to an older state below a running instance, its waiters neither spin nor sleep
// through later changes.
func TestEtcdGoesBack(t *testing.T) {
	s, ctx := openEmbedded(t, Config{}), testContext(t)
	for i := range 5 {
		addTenant(t, s, fmt.Sprintf("t%d", i))
	}
	// What the restore of a backup looks like from here: the hub knows a revision that etcd does not.
	s.hub.advance(tenants, 90, 1_000_000)
	page, err := s.Tenants.Changes(ctx, 90)
	ok(t, err)
	if len(page.Items) != 0 || page.NextSeq != 5 {
		t.Fatalf("page %+v", page)
	}
	woken := make(chan error, 1)
	go func() { woken <- s.Tenants.Wait(ctx, 5) }()
	select {
	case err := <-woken:
		t.Fatalf("the wait did not wait: %v", err)
	default:
	}
	_, err = s.etcd.client.Put(ctx, s.keys.cursor(tenants), "6") // another instance writes
	ok(t, err)
	ok(t, <-woken)
}

func TestUnavailable(t *testing.T) {
	endpoint, stop := startEtcd(t)
	s := open(t, Config{Endpoints: []string{endpoint}})
	defer s.Close()
	addTenant(t, s, "t")
	ok(t, s.Ping(testContext(t)))
	stop()

	ctx, cancel := shortContext(t)
	defer cancel()
	want(t, s.Ping(ctx), ErrUnavailable)
	_, err := s.Tenants.Find(ctx, "t")
	want(t, err, ErrUnavailable)
	_, _, err = s.Tenants.List(ctx, "", 10)
	want(t, err, ErrUnavailable)
	_, err = s.Tenants.Snapshot(ctx)
	want(t, err, ErrUnavailable)
	_, err = s.Tenants.Changes(ctx, 0)
	want(t, err, ErrUnavailable)
	_, err = s.SigningKeys(ctx, "t")
	want(t, err, ErrUnavailable)
	_, err = s.CreateTenant(ctx, api.Tenant{TenantID: "u"}, newKey(t))
	want(t, err, ErrUnavailable)
	want(t, s.DeleteTenant(ctx, "t"), ErrUnavailable)
}

func TestUnreadableRecords(t *testing.T) {
	s, ctx := openEmbedded(t, Config{}), testContext(t)
	addTenant(t, s, "t")
	put := func(key, value string) {
		_, err := s.etcd.client.Put(ctx, key, value)
		ok(t, err)
	}
	put(s.keys.object(tenants, "t"), "{")
	_, err := s.Tenants.Find(ctx, "t")
	want(t, err, ErrCorrupt)
	_, _, err = s.Tenants.List(ctx, "", 10)
	want(t, err, ErrCorrupt)
	_, err = s.Tenants.Snapshot(ctx)
	want(t, err, ErrCorrupt)

	put(s.keys.change(tenants, 0), "{")
	_, err = s.Tenants.Changes(ctx, 0)
	want(t, err, ErrCorrupt)
	put(s.keys.change(tenants, 0), `{"op":"created","item":7}`)
	_, err = s.Tenants.Changes(ctx, 0)
	want(t, err, ErrCorrupt)

	put(s.keys.keys("t"), "{")
	_, err = s.SigningKeys(ctx, "t")
	want(t, err, ErrCorrupt)
	put(s.keys.keys("t"), `[{"seed":"AAAA"}]`)
	_, err = s.SigningKeys(ctx, "t")
	want(t, err, ErrCorrupt)

	put(s.keys.cursor(tenants), "seven")
	_, err = s.Tenants.Changes(ctx, 0)
	want(t, err, ErrCorrupt)
	_, err = s.CreateTenant(ctx, api.Tenant{TenantID: "u"}, newKey(t))
	want(t, err, ErrCorrupt)
	_, err = s.etcd.client.Delete(ctx, s.keys.prefix, clientv3.WithPrefix())
	ok(t, err)
}

// Close under load: every call ends, with an answer or with ErrUnavailable, and none of them meets a
// database that is gone.
func TestCloseUnderLoad(t *testing.T) {
	s, ctx := openEmbedded(t, Config{}), testContext(t)
	addTenant(t, s, "t")
	addNamespace(t, s, "t", "n")
	started := make(chan struct{}, 16)
	finished := make(chan error, 16)
	for i := range 16 {
		go func() {
			for j := 0; ; j++ {
				name := fmt.Sprintf("s-%d-%d", i, j)
				_, err := s.CreateStream(ctx, api.Stream{TenantID: "t", Namespace: "n", Stream: name})
				if err == nil {
					_, err = s.Streams.Snapshot(ctx)
				}
				if j == 0 {
					started <- struct{}{}
				}
				if err != nil {
					finished <- err
					return
				}
			}
		}()
	}
	for range 16 {
		<-started
	}
	s.Close()
	for range 16 {
		want(t, <-finished, ErrUnavailable)
	}
	want(t, s.Ping(ctx), ErrUnavailable)
	s.Close() // again
}

// A snapshot whose revision was compacted away below it starts over; this is how it can tell.
func TestCompactionIsRecognised(t *testing.T) {
	s, ctx := openEmbedded(t, Config{}), testContext(t)
	addTenant(t, s, "t")
	_, err := s.etcd.client.Compact(ctx, int64(addTenant(t, s, "u").Incarnation))
	ok(t, err)
	_, err = s.etcd.get(ctx, s.keys.object(tenants, "t"), clientv3.WithRev(1))
	want(t, err, rpctypes.ErrCompacted)
	want(t, err, ErrUnavailable)
}
