package client_test

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/felix-go/felix/controlplane/api"
	"github.com/felix-go/felix/controlplane/client"
	"github.com/felix-go/felix/controlplane/server"
	"github.com/felix-go/felix/controlplane/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var secret = strings.Repeat("0123456789abcdef", 4)

func testContext(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// startServer runs a control plane and returns a client with its credential.
func startServer(t *testing.T) (*server.Server, *client.Client) {
	t.Helper()
	s, err := store.Open(testContext(t), store.Config{DataDir: t.TempDir()})
	must(t, err)
	t.Cleanup(s.Close)
	srv, err := server.Start(server.Config{Store: s, OperatorToken: secret, Bind: "127.0.0.1:0"})
	must(t, err)
	t.Cleanup(func() { must(t, srv.Close(context.Background())) })
	return srv, connect(t, client.Config{BaseURL: srv.URL(), Token: secret})
}

func connect(t *testing.T, cfg client.Config) *client.Client {
	t.Helper()
	c, err := client.New(cfg)
	must(t, err)
	t.Cleanup(c.Close)
	return c
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func mustBe[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		must(t, err)
		return v
	}
}

func TestCatalog(t *testing.T) {
	_, c := startServer(t)
	ctx := testContext(t)
	tenant := mustBe[api.Tenant](t)(c.CreateTenant(ctx, api.CreateTenant{TenantID: "t", DisplayName: "T"}))
	ns := mustBe[api.Namespace](t)(c.CreateNamespace(ctx, "t", api.CreateNamespace{Namespace: "n"}))
	stream := mustBe[api.Stream](t)(c.CreateStream(ctx, "t", "n", api.CreateStream{
		Stream: "s", Shards: 3, Durable: true, Retention: &api.Retention{MaxAgeSeconds: 60},
	}))
	cache := mustBe[api.Cache](t)(c.CreateCache(ctx, "t", "n", api.CreateCache{Cache: "c"}))
	if stream.Shards != 3 || stream.Retention.MaxAgeSeconds != 60 || cache.Shards != 1 {
		t.Fatalf("made %+v, %+v", stream, cache)
	}

	if got := mustBe[api.Tenant](t)(c.Tenant(ctx, "t")); got != tenant {
		t.Errorf("tenant %+v", got)
	}
	if got := mustBe[api.Namespace](t)(c.Namespace(ctx, "t", "n")); got != ns {
		t.Errorf("namespace %+v", got)
	}
	if got := mustBe[api.Stream](t)(c.Stream(ctx, "t", "n", "s")); got != stream {
		t.Errorf("stream %+v", got)
	}
	if got := mustBe[api.Cache](t)(c.Cache(ctx, "t", "n", "c")); got != cache {
		t.Errorf("cache %+v", got)
	}
	quorum, name := api.ConsistencyQuorum, "C"
	stream = mustBe[api.Stream](t)(c.PatchStream(ctx, "t", "n", "s", api.StreamPatch{Consistency: &quorum}))
	cache = mustBe[api.Cache](t)(c.PatchCache(ctx, "t", "n", "c", api.CachePatch{DisplayName: &name}))
	if stream.Consistency != quorum || stream.Shards != 3 || cache.DisplayName != name {
		t.Errorf("patched %+v, %+v", stream, cache)
	}

	all := client.ListOptions{}
	if l := mustBe[api.List[api.Tenant]](t)(c.ListTenants(ctx, all)); len(l.Items) != 1 || l.Items[0] != tenant {
		t.Errorf("tenants %+v", l)
	}
	if l := mustBe[api.List[api.Namespace]](t)(c.ListNamespaces(ctx, "t", all)); len(l.Items) != 1 || l.Items[0] != ns {
		t.Errorf("namespaces %+v", l)
	}
	ls := mustBe[api.List[api.Stream]](t)(c.ListStreams(ctx, "t", "n", all))
	if len(ls.Items) != 1 || ls.Items[0] != stream {
		t.Errorf("streams %+v", ls)
	}
	if l := mustBe[api.List[api.Cache]](t)(c.ListCaches(ctx, "t", "n", all)); len(l.Items) != 1 || l.Items[0] != cache {
		t.Errorf("caches %+v", l)
	}

	must(t, c.DeleteStream(ctx, "t", "n", "s"))
	must(t, c.DeleteCache(ctx, "t", "n", "c"))
	must(t, c.DeleteNamespace(ctx, "t", "n"))
	must(t, c.DeleteTenant(ctx, "t"))
	must(t, c.Ready(ctx))
}

func TestPages(t *testing.T) {
	_, c := startServer(t)
	ctx := testContext(t)
	for i := range 7 {
		mustBe[api.Tenant](t)(c.CreateTenant(ctx, api.CreateTenant{TenantID: fmt.Sprintf("t%d", i)}))
	}
	var seen []string
	for o := (client.ListOptions{Limit: 3}); ; {
		page := mustBe[api.List[api.Tenant]](t)(c.ListTenants(ctx, o))
		for _, x := range page.Items {
			seen = append(seen, x.TenantID)
		}
		if o.Cursor = page.NextCursor; o.Cursor == "" {
			break
		}
	}
	if got := strings.Join(seen, " "); got != "t0 t1 t2 t3 t4 t5 t6" {
		t.Errorf("pages hold %s", got)
	}
}

func TestFeeds(t *testing.T) {
	srv, c := startServer(t)
	ctx := testContext(t)
	next := mustBe[api.Snapshot[api.Tenant]](t)(c.TenantSnapshot(ctx)).NextSeq
	type result struct {
		page api.Changes[api.Tenant]
		err  error
	}
	polled := make(chan result, 1)
	go func() {
		page, err := c.TenantChanges(ctx, next, time.Minute)
		polled <- result{page, err}
	}()
	mustBe[api.Tenant](t)(c.CreateTenant(ctx, api.CreateTenant{TenantID: "t"}))
	if got := <-polled; got.err != nil || len(got.page.Items) != 1 || client.NeedsSnapshot(next, got.page) {
		t.Fatalf("long poll %+v", got)
	}
	mustBe[api.Namespace](t)(c.CreateNamespace(ctx, "t", api.CreateNamespace{Namespace: "n"}))
	mustBe[api.Stream](t)(c.CreateStream(ctx, "t", "n", api.CreateStream{Stream: "s"}))
	mustBe[api.Cache](t)(c.CreateCache(ctx, "t", "n", api.CreateCache{Cache: "c"}))
	if p := mustBe[api.Changes[api.Namespace]](t)(c.NamespaceChanges(ctx, 0, 0)); p.Items[0].Item.Namespace != "n" {
		t.Errorf("namespaces %+v", p)
	}
	if p := mustBe[api.Changes[api.Stream]](t)(c.StreamChanges(ctx, 0, 0)); p.Items[0].Item.Stream != "s" {
		t.Errorf("streams %+v", p)
	}
	if p := mustBe[api.Changes[api.Cache]](t)(c.CacheChanges(ctx, 0, 0)); p.Items[0].Item.Cache != "c" {
		t.Errorf("caches %+v", p)
	}
	if s := mustBe[api.Snapshot[api.Namespace]](t)(c.NamespaceSnapshot(ctx)); len(s.Items) != 1 || s.NextSeq != 1 {
		t.Errorf("namespaces %+v", s)
	}
	if s := mustBe[api.Snapshot[api.Stream]](t)(c.StreamSnapshot(ctx)); len(s.Items) != 1 || s.NextSeq != 1 {
		t.Errorf("streams %+v", s)
	}
	if s := mustBe[api.Snapshot[api.Cache]](t)(c.CacheSnapshot(ctx)); len(s.Items) != 1 || s.NextSeq != 1 {
		t.Errorf("caches %+v", s)
	}

	srv.Drain()
	if p := mustBe[api.Changes[api.Tenant]](t)(c.TenantChanges(ctx, 1, time.Minute)); len(p.Items) != 0 {
		t.Errorf("poll of a draining server %+v", p)
	}
	if err := c.Ready(ctx); !client.IsUnavailable(err) {
		t.Errorf("ready while draining: %v", err)
	}
}

func TestNeedsSnapshot(t *testing.T) {
	row := func(seq uint64) []api.Change[api.Tenant] { return []api.Change[api.Tenant]{{Seq: seq}} }
	for name, tt := range map[string]struct {
		since uint64
		page  api.Changes[api.Tenant]
		want  bool
	}{
		"nothing new":    {5, api.Changes[api.Tenant]{NextSeq: 5}, false},
		"next row":       {5, api.Changes[api.Tenant]{Items: row(5), NextSeq: 6}, false},
		"rows evicted":   {5, api.Changes[api.Tenant]{Items: row(7), NextSeq: 8}, true},
		"all evicted":    {5, api.Changes[api.Tenant]{NextSeq: 8}, true},
		"sequence reset": {5, api.Changes[api.Tenant]{NextSeq: 2}, true},
	} {
		if got := client.NeedsSnapshot(tt.since, tt.page); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestTypedErrors(t *testing.T) {
	srv, c := startServer(t)
	ctx := testContext(t)
	_, err := c.Tenant(ctx, "none")
	if !client.IsNotFound(err) || client.IsConflict(err) {
		t.Errorf("unknown tenant: %v", err)
	}
	mustBe[api.Tenant](t)(c.CreateTenant(ctx, api.CreateTenant{TenantID: "t"}))
	_, err = c.CreateTenant(ctx, api.CreateTenant{TenantID: "t"})
	var e *client.Error
	if !client.IsConflict(err) || !errors.As(err, &e) || e.Status != 409 ||
		e.Code != api.CodeAlreadyExists || e.Message == "" {
		t.Errorf("name taken: %v", err)
	}
	_, err = c.CreateTenant(ctx, api.CreateTenant{TenantID: "a*"})
	if !client.IsInvalid(err) {
		t.Errorf("bad name: %v", err)
	}
	stranger := connect(t, client.Config{BaseURL: srv.URL(), Token: "wrong"})
	if _, err = stranger.ListTenants(ctx, client.ListOptions{}); !client.IsUnauthorized(err) {
		t.Errorf("wrong credential: %v", err)
	}
	// A name cannot climb to another endpoint.
	if err = c.DeleteNamespace(ctx, "t", "../../t"); !client.IsInvalid(err) {
		t.Errorf("climbing name: %v", err)
	}
	if err = c.DeleteNamespace(ctx, "t", ".."); err == nil {
		t.Error("climbing name was accepted")
	}
	mustBe[api.Tenant](t)(c.Tenant(ctx, "t"))

	dead := connect(t, client.Config{BaseURL: "http://127.0.0.1:1"})
	if err = dead.Ready(ctx); err == nil || errors.As(err, &e) && client.IsUnavailable(err) {
		t.Errorf("nobody there: %v", err)
	}
}

func TestKeysAndMint(t *testing.T) {
	srv, c := startServer(t)
	ctx := testContext(t)
	mustBe[api.Tenant](t)(c.CreateTenant(ctx, api.CreateTenant{TenantID: "t"}))
	minted := mustBe[api.MintResponse](t)(c.Mint(ctx, "t", api.MintRequest{
		Principal: "p", Permissions: []string{"stream.publish:stream:t/n/s"},
	}))
	if minted.FelixToken == "" || minted.ExpiresIn != 900 {
		t.Errorf("minted %+v", minted)
	}
	public := connect(t, client.Config{BaseURL: srv.URL()})
	keys, err := public.Keys(ctx, "t")
	must(t, err)
	if len(keys) != 1 {
		t.Errorf("keys %v", keys)
	}
	if _, err := public.Keys(ctx, "none"); !client.IsNotFound(err) {
		t.Errorf("keys of an unknown tenant: %v", err)
	}
	if _, err := public.Keys(ctx, "a/../t"); !client.IsInvalid(err) {
		t.Errorf("keys of a climbing name: %v", err)
	}
}

// What a broken or hostile server may answer.
func TestBadAnswers(t *testing.T) {
	ctx := testContext(t)
	var answer func(w http.ResponseWriter)
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { answer(w) }))
	defer ts.Close()
	c := connect(t, client.Config{BaseURL: ts.URL + "/", Token: secret})
	say := func(status int, body string) {
		answer = func(w http.ResponseWriter) {
			w.Header().Set("Location", ts.URL+"/elsewhere")
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}
	}

	say(200, `{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"k","x":"c2hvcnQ"}]}`)
	if _, err := c.Keys(ctx, "t"); !errors.Is(err, client.ErrBadAnswer) {
		t.Errorf("short key: %v", err)
	}
	say(200, `{"keys":[{"kty":"RSA","kid":"r","n":"AQAB"},{"kty":"OKP","crv":"X25519","kid":"x","x":"AA"}]}`)
	if keys, err := c.Keys(ctx, "t"); err != nil || len(keys) != 0 {
		t.Errorf("keys of other types: %v, %v", keys, err)
	}
	say(200, `{"keys":[`+strings.Repeat(" ", 64<<10)+`]}`)
	if _, err := c.Keys(ctx, "t"); !errors.Is(err, client.ErrAnswerTooLarge) {
		t.Errorf("huge key set: %v", err)
	}
	say(200, `not json`)
	if _, err := c.TenantSnapshot(ctx); !errors.Is(err, client.ErrBadAnswer) {
		t.Errorf("no JSON: %v", err)
	}
	say(502, `<html>bad gateway</html>`)
	var e *client.Error
	_, err := c.Tenant(ctx, "t")
	if !errors.As(err, &e) || e.Status != 502 || e.Code != "" || e.Message != "Bad Gateway" {
		t.Errorf("a proxy's error: %v", err)
	}
	say(307, ``)
	if _, err := c.Tenant(ctx, "t"); !errors.As(err, &e) || e.Status != 307 {
		t.Errorf("a redirect was followed: %v", err)
	}
}

func TestConfig(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "ca.pem")
	must(t, os.WriteFile(empty, []byte("no certificate"), 0o600))
	for _, cfg := range []client.Config{
		{}, {BaseURL: "127.0.0.1:8443"}, {BaseURL: "ftp://host"}, {BaseURL: "http://"},
		{BaseURL: "http://user:pw@host"},
		{BaseURL: "https://host", CAFile: "/none"}, {BaseURL: "https://host", CAFile: empty},
		{BaseURL: "https://host", CAFile: empty, HTTP: http.DefaultClient},
	} {
		if _, err := client.New(cfg); !errors.Is(err, client.ErrConfig) {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
}

func TestOwnCertificateAuthority(t *testing.T) {
	ts := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"status":"ok"}`)
	}))
	defer ts.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	must(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ts.Certificate().Raw}), 0o600))
	must(t, connect(t, client.Config{BaseURL: ts.URL, CAFile: ca}).Ready(testContext(t)))
	if err := connect(t, client.Config{BaseURL: ts.URL}).Ready(testContext(t)); err == nil {
		t.Error("an unknown certificate was trusted")
	}
	must(t, connect(t, client.Config{BaseURL: ts.URL, HTTP: ts.Client()}).Ready(testContext(t)))
}
