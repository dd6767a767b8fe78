package brokertest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/felix-go/felix/controlplane/api"
	"github.com/felix-go/felix/controlplane/client"
	"github.com/felix-go/felix/dataplane/broker"
)

// Namespace is the namespace that every node's tenant has from the start.
const Namespace = "default"

// Node is a running broker with a tenant of its own.
type Node struct {
	*broker.Broker
	// Tenant is this node's tenant; names do not meet those of other tests.
	Tenant string
	// API is a client of the control plane with every right.
	API *client.Client
	// Config is what the broker was started with.
	Config broker.Config

	t   testing.TB
	raw []*Raw // guarded by shared
}

// Start starts a broker on a free loopback port and stops it at the end of the test, where every block of message memory
// must be back. edit may change the configuration before the start.
func Start(t testing.TB, edit func(*broker.Config)) *Node {
	t.Helper()
	p := sharedPlane(t)
	shared.Lock()
	shared.tenants++
	tenant := fmt.Sprintf("t%d", shared.tenants)
	shared.Unlock()
	cfg := broker.Config{StateDir: t.TempDir(), ControlPlaneURL: p.server.URL(), ControlPlaneToken: p.token,
		AdminBind: "127.0.0.1:0", DrainTimeout: 10 * time.Second}
	cfg.Transport.Addr = "127.0.0.1:0"
	cfg.Stream.RingMaxRecords, cfg.Stream.RingMaxBytes = 4096, 1<<20
	if edit != nil {
		edit(&cfg)
	}
	n := &Node{Tenant: tenant, API: p.api, Config: cfg, t: t}
	ctx, cancel := n.timeout()
	defer cancel()
	if _, err := p.api.CreateTenant(ctx, api.CreateTenant{TenantID: tenant}); err != nil {
		t.Fatalf("brokertest: tenant: %v", err)
	}
	if _, err := p.api.CreateNamespace(ctx, tenant, api.CreateNamespace{Namespace: Namespace}); err != nil {
		t.Fatalf("brokertest: namespace: %v", err)
	}
	n.start()
	t.Cleanup(n.Stop)
	return n
}

func (n *Node) start() {
	n.t.Helper()
	ctx, cancel := n.timeout()
	defer cancel()
	b, err := broker.Start(ctx, n.Config)
	if err != nil {
		n.t.Fatalf("brokertest: %v", err)
	}
	n.Broker = b
	if err := b.Ready(ctx); err != nil {
		n.t.Fatalf("brokertest: not ready: %v", err)
	}
	n.wait("the tenant", func() bool { return b.Catalog().Namespace([]byte(n.Tenant), []byte(Namespace)) })
}

// Stop drains and stops the broker and checks that its message memory is back. It is called at the end of the test.
func (n *Node) Stop() {
	n.t.Helper()
	ctx, cancel := n.timeout()
	defer cancel()
	if err := n.Close(ctx); err != nil {
		n.t.Errorf("brokertest: close: %v", err)
	}
	if left := n.Arena().Outstanding(); left != 0 {
		n.t.Errorf("brokertest: %d blocks were never released\n%s", left, n.Arena().Leaks())
	}
}

// Restart stops the broker and starts another one on the same state, certificate, reset key and address.
func (n *Node) Restart() {
	n.t.Helper()
	addr := n.DialAddr()
	n.Stop()
	n.Config.Transport.Addr = addr
	n.start()
}

// Stream creates a stream and waits until the broker knows it.
func (n *Node) Stream(name string, shards uint32) {
	n.t.Helper()
	ctx, cancel := n.timeout()
	defer cancel()
	if _, err := n.API.CreateStream(ctx, n.Tenant, Namespace, api.CreateStream{Stream: name, Shards: shards}); err != nil {
		n.t.Fatalf("brokertest: stream %q: %v", name, err)
	}
	n.wait("stream "+name, func() bool {
		return n.Catalog().Stream([]byte(n.Tenant), []byte(Namespace), []byte(name)) != nil
	})
}

// Cache creates a cache and waits until the broker knows it.
func (n *Node) Cache(name string, shards uint32) {
	n.t.Helper()
	ctx, cancel := n.timeout()
	defer cancel()
	if _, err := n.API.CreateCache(ctx, n.Tenant, Namespace, api.CreateCache{Cache: name, Shards: shards}); err != nil {
		n.t.Fatalf("brokertest: cache %q: %v", name, err)
	}
	n.wait("cache "+name, func() bool {
		return n.Catalog().Cache([]byte(n.Tenant), []byte(Namespace), []byte(name)) != nil
	})
}

// Token mints a broker token of this node's tenant with the permissions, "action:object" each. Without any it may use
// every stream and cache of the tenant.
func (n *Node) Token(permissions ...string) string {
	n.t.Helper()
	if len(permissions) == 0 {
		permissions = []string{"stream.publish:stream:" + n.Tenant + "/*/*", "stream.subscribe:stream:" + n.Tenant + "/*/*",
			"cache.read:cache:" + n.Tenant + "/*/*", "cache.write:cache:" + n.Tenant + "/*/*"}
	}
	ctx, cancel := n.timeout()
	defer cancel()
	r, err := n.API.Mint(ctx, n.Tenant, api.MintRequest{Principal: "test", Permissions: permissions, TTLSeconds: 3600})
	if err != nil {
		n.t.Fatalf("brokertest: token: %v", err)
	}
	return r.FelixToken
}

// HangupAll closes every raw connection of the test.
func (n *Node) HangupAll() {
	shared.Lock()
	all := n.raw
	n.raw = nil
	shared.Unlock()
	for _, r := range all {
		r.Hangup()
	}
}

// Count returns one number of the broker by its full metric name.
func (n *Node) Count(name string) int64 { return n.Stats().Snapshot()[name] }

// restGauges are the gauges that are exactly zero when every client has left.
var restGauges = []string{"felix_client_connections", "felix_client_streams", "felix_sub_active_connections",
	"felix_sub_connection_subscribers", "felix_broker_ingress_queue_depth", "felix_broker_out_ack_depth",
	"felix_sub_queue_len", "felix_egress_bytes", "felix_publish_inflight_bytes", "felix_quic_connections",
	"felix_quic_handshakes", "felix_quic_window_granted_bytes"}

// Quiesce waits until every gauge that counts clients and their work is exactly zero, and fails the test naming those that
// never get there. Call it after every client has gone.
func (n *Node) Quiesce() {
	n.t.Helper()
	var left map[string]int64
	ok := n.poll(func() bool {
		left = map[string]int64{}
		s := n.Stats().Snapshot()
		for _, g := range restGauges {
			if v, known := s[g]; !known || v != 0 {
				left[g] = v
			}
		}
		return len(left) == 0
	})
	if !ok {
		n.t.Errorf("brokertest: gauges not at zero: %s", describe(left))
	}
}

func describe(m map[string]int64) string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(m)) {
		fmt.Fprintf(&b, "%s=%d ", k, m[k])
	}
	return b.String()
}

func (n *Node) timeout() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), 30*time.Second)
}

// wait polls until ok, or fails the test.
func (n *Node) wait(what string, ok func() bool) {
	n.t.Helper()
	if !n.poll(ok) {
		n.t.Fatalf("brokertest: %s did not appear", what)
	}
}

func (n *Node) poll(ok func() bool) bool {
	for end := time.Now().Add(20 * time.Second); ; {
		if ok() {
			return true
		}
		if time.Now().After(end) {
			return false
		}
		time.Sleep(2 * time.Millisecond)
	}
}
