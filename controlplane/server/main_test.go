package server

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/felix-go/felix/controlplane/api"
	"github.com/felix-go/felix/controlplane/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// secret is the operator credential of every test server.
const secret = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func testContext(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func testLogger(t *testing.T) *slog.Logger {
	return slog.New(slog.NewTextHandler(t.Output(), nil))
}

func openStore(t *testing.T, cfg store.Config) *store.Store {
	t.Helper()
	cfg.DataDir = t.TempDir()
	s, err := store.Open(testContext(t), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// rig is a running server and a way to talk to it.
type rig struct {
	t      *testing.T
	store  *store.Store
	server *Server
	http   *http.Client
}

func start(t *testing.T) *rig {
	return startWith(t, store.Config{}, Config{Bind: "127.0.0.1:0"})
}

func startWith(t *testing.T, sc store.Config, cfg Config) *rig {
	t.Helper()
	r := &rig{t: t, store: openStore(t, sc), http: &http.Client{Transport: &http.Transport{}}}
	cfg.Store, cfg.OperatorToken, cfg.Logger = r.store, secret, testLogger(t)
	var err error
	if r.server, err = Start(cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.http.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := r.server.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return r
}

// reply is an answer read to its end.
type reply struct {
	status int
	header http.Header
	body   string
}

// send does one request with the operator credential, and body as it is.
func (r *rig) send(method, path, body string) reply {
	r.t.Helper()
	return r.sendAs("Bearer "+secret, method, path, body)
}

func (r *rig) sendAs(authorization, method, path, body string) reply {
	r.t.Helper()
	out, err := r.try(authorization, method, path, body)
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

func (r *rig) try(authorization, method, path, body string) (reply, error) {
	req, err := http.NewRequestWithContext(testContext(r.t), method, r.server.URL()+path, strings.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	resp, err := r.http.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return reply{status: resp.StatusCode, header: resp.Header, body: string(b)}, err
}

// must sends and checks the status.
func (r *rig) must(status int, method, path, body string) reply {
	r.t.Helper()
	out := r.send(method, path, body)
	if out.status != status {
		r.t.Fatalf("%s %s %.200s: %d %s, want %d", method, path, body, out.status, out.body, status)
	}
	return out
}

// refused sends and checks that the answer is an error body with this status and code.
func (r *rig) refused(status int, code, method, path, body string) api.Error {
	r.t.Helper()
	out := r.must(status, method, path, body)
	e := into[api.Error](r.t, out)
	if e.Code != code || e.Message == "" {
		r.t.Fatalf("%s %s %.200s: error %s, want code %s", method, path, body, out.body, code)
	}
	return e
}

func into[T any](t *testing.T, out reply) T {
	t.Helper()
	var v T
	dec := json.NewDecoder(bytes.NewReader([]byte(out.body)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("answer %s: %v", out.body, err)
	}
	if ct := out.header.Get("Content-Type"); ct != "application/json" {
		t.Fatalf("content type %q", ct)
	}
	return v
}

// basic makes tenant t and namespace n.
func (r *rig) basic() {
	r.t.Helper()
	r.must(201, "POST", "/v1/tenants", `{"tenant_id":"t","display_name":"T"}`)
	r.must(201, "POST", "/v1/tenants/t/namespaces", `{"namespace":"n"}`)
}

const (
	streamsOf = "/v1/tenants/t/namespaces/n/streams"
	cachesOf  = "/v1/tenants/t/namespaces/n/caches"
)
