package cluster

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/felix-go/felix/controlplane/api"
	"github.com/felix-go/felix/controlplane/client"
)

// controlPlane plays the metadata feeds over HTTP. A test knows that a change has been applied when the
// broker asks for what comes after it (settle), so nothing here waits for time to pass.
type controlPlane struct {
	*httptest.Server

	mu     sync.Mutex // guards the following
	moved  *sync.Cond // something was asked
	closed chan struct{}
	kinds  map[string]*log
	asked  []string // every request for a snapshot, by kind
	keys   map[string]ed25519.PublicKey
}

// log is the feed of one kind.
type log struct {
	state map[string]any // by name
	rows  []row
	next  uint64
	wake  chan struct{} // closed at the next write

	failing bool // answers 503
	hanging bool // answers nothing
	hasty   bool // does not wait for changes

	polls     int
	sinces    []uint64
	settled   bool // the broker has asked for what comes after the last write
	snapshots int
}

type row struct {
	Seq  uint64 `json:"seq"`
	Op   api.Op `json:"op"`
	Item any    `json:"item"`
}

func newControlPlane(t *testing.T) *controlPlane {
	t.Helper()
	cp := &controlPlane{closed: make(chan struct{}), kinds: map[string]*log{}, keys: map[string]ed25519.PublicKey{}}
	cp.moved = sync.NewCond(&cp.mu)
	for _, kind := range []string{"tenants", "namespaces", "caches", "streams"} {
		cp.kinds[kind] = &log{state: map[string]any{}, next: 1, wake: make(chan struct{})}
	}
	cp.Server = httptest.NewServer(cp)
	t.Cleanup(func() {
		close(cp.closed)
		cp.Close()
	})
	return cp
}

func (cp *controlPlane) client(t *testing.T) *client.Client {
	t.Helper()
	c, err := client.New(client.Config{BaseURL: cp.URL, Token: "broker"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func (cp *controlPlane) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	part := strings.Split(strings.TrimPrefix(r.URL.Path, "/v1/"), "/")
	if strings.HasSuffix(r.URL.Path, "/jwks.json") {
		cp.jwks(w)
		return
	}
	cp.mu.Lock()
	l := cp.kinds[part[0]]
	if l == nil || len(part) != 2 || r.Header.Get("Authorization") != "Bearer broker" {
		cp.mu.Unlock()
		http.Error(w, "", http.StatusNotFound)
		return
	}
	since, _ := strconv.ParseUint(r.URL.Query().Get("since"), 10, 64)
	if part[1] == "snapshot" {
		cp.asked = append(cp.asked, part[0])
		l.snapshots++
	} else {
		l.polls++
		l.sinces = append(l.sinces, since)
	}
	for {
		l.settled = part[1] == "changes" && since == l.next && !l.failing
		cp.moved.Broadcast()
		if !l.hanging && (!l.settled || l.hasty) {
			break
		}
		wake := l.wake
		cp.mu.Unlock()
		select {
		case <-wake:
		case <-r.Context().Done():
			return
		case <-cp.closed:
			return
		}
		cp.mu.Lock()
	}
	defer cp.mu.Unlock()
	switch {
	case l.failing:
		w.WriteHeader(http.StatusServiceUnavailable)
		json.NewEncoder(w).Encode(api.Error{Code: api.CodeUnavailable})
	case part[1] == "snapshot":
		items := []any{}
		for _, item := range l.state {
			items = append(items, item)
		}
		json.NewEncoder(w).Encode(map[string]any{"items": items, "next_seq": l.next})
	default:
		rows := []row{}
		for _, row := range l.rows {
			if row.Seq >= since && len(rows) < 3 { // small pages
				rows = append(rows, row)
			}
		}
		next := l.next
		if len(rows) > 0 {
			next = rows[len(rows)-1].Seq + 1
		}
		json.NewEncoder(w).Encode(map[string]any{"items": rows, "next_seq": next})
	}
}

func (cp *controlPlane) jwks(w http.ResponseWriter) {
	cp.mu.Lock()
	defer cp.mu.Unlock()
	var set api.JWKS
	for id, key := range cp.keys {
		set.Keys = append(set.Keys, api.JWK{
			KeyType: "OKP", Curve: "Ed25519", Algorithm: "EdDSA", Use: "sig", KeyID: id,
			X: base64.RawURLEncoding.EncodeToString(key),
		})
	}
	json.NewEncoder(w).Encode(set)
}

// change does something to the log of a kind and wakes who waits for it.
func (cp *controlPlane) change(kind string, do func(l *log)) {
	cp.mu.Lock()
	defer cp.mu.Unlock()
	l := cp.kinds[kind]
	do(l)
	l.settled = false
	close(l.wake)
	l.wake = make(chan struct{})
}

// write commits one row.
func (cp *controlPlane) write(kind, name string, op api.Op, item any) {
	cp.change(kind, func(l *log) { l.write(name, op, item) })
}

func (l *log) write(name string, op api.Op, item any) {
	l.rows = append(l.rows, row{Seq: l.next, Op: op, Item: item})
	l.next++
	if op == api.OpDeleted {
		delete(l.state, name)
	} else {
		l.state[name] = item
	}
}

// settle waits until the broker has applied everything of a kind and asks for more.
func (cp *controlPlane) settle(kind string) {
	cp.until(func() bool { return cp.kinds[kind].settled })
}

// until waits for a condition that requests of the broker bring about.
func (cp *controlPlane) until(done func() bool) {
	cp.mu.Lock()
	defer cp.mu.Unlock()
	for !done() {
		cp.moved.Wait()
	}
}

func tenant(name string, incarnation uint64) api.Tenant {
	return api.Tenant{TenantID: name, Incarnation: incarnation}
}

func namespace(name string, incarnation uint64) api.Namespace {
	return api.Namespace{TenantID: "t1", Namespace: name, Incarnation: incarnation}
}

func stream(name string, incarnation uint64) api.Stream {
	return api.Stream{
		TenantID: "t1", Namespace: "ns", Stream: name, Incarnation: incarnation, Shards: 2,
		Routing: api.RoutingModulo, Consistency: api.ConsistencyLeader, Retention: api.Retention{MaxAgeSeconds: 60},
	}
}

func cache(name string, incarnation uint64) api.Cache {
	return api.Cache{TenantID: "t1", Namespace: "ns", Cache: name, Incarnation: incarnation, Shards: 1}
}

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
