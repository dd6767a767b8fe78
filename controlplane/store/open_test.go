package store

import (
	"context"
	"testing"
	"time"

	"github.com/felix-go/felix/controlplane/api"
)

func TestOpenRefusesBadConfig(t *testing.T) {
	for name, cfg := range map[string]Config{
		"nowhere":         {},
		"two places":      {DataDir: "x", Endpoints: []string{"http://127.0.0.1:1"}},
		"relative prefix": {DataDir: "x", Prefix: "felix/"},
		"open prefix":     {DataDir: "x", Prefix: "/felix"},
		"no retention":    {DataDir: "x", RetainChanges: -1},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Open(testContext(t), cfg)
			want(t, err, ErrConfig)
		})
	}
}

func TestOpenTwiceIsRefused(t *testing.T) {
	s := openEmbedded(t, Config{})
	_, err := Open(testContext(t), Config{DataDir: s.cfg.DataDir})
	want(t, err, ErrLocked)
}

func TestOpenGivesUpOnDeadEndpoints(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := Open(ctx, Config{Endpoints: []string{"127.0.0.1:1"}})
	want(t, err, ErrUnavailable)
}

func TestRestartKeepsEverything(t *testing.T) {
	ctx, dir := testContext(t), t.TempDir()
	s := open(t, Config{DataDir: dir})
	key := newKey(t)
	tenant, err := s.CreateTenant(ctx, api.Tenant{TenantID: "acme", DisplayName: "Acme"}, key)
	ok(t, err)
	ns := addNamespace(t, s, "acme", "prod")
	st := addStream(t, s, "acme", "prod", "orders")
	c := addCache(t, s, "acme", "prod", "sessions")
	s.Close()

	s = open(t, Config{DataDir: dir})
	defer s.Close()
	check(t, s.Tenants, tenant, "acme")
	check(t, s.Namespaces, ns, "acme", "prod")
	check(t, s.Streams, st, "acme", "prod", "orders")
	check(t, s.Caches, c, "acme", "prod", "sessions")
	keys, err := s.SigningKeys(ctx, "acme")
	ok(t, err)
	if len(keys) != 1 || keys[0].ID != key.ID || !keys[0].Current || !keys[0].Private.Equal(key.Private) {
		t.Fatalf("signing keys after the restart: %v, want %v", keys, key)
	}
	// The sequence goes on where it was.
	addStream(t, s, "acme", "prod", "payments")
	if rows := allChanges(t, s.Streams); len(rows) != 2 {
		t.Fatalf("%d change rows after the restart, want 2", len(rows))
	}
}

func check[T comparable](t *testing.T, table *Table[T], want T, names ...string) {
	t.Helper()
	got, err := table.Find(testContext(t), names...)
	ok(t, err)
	if got != want {
		t.Fatalf("got %+v, want %+v", got, want)
	}
}
