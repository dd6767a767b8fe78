package server

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/felix-go/felix/controlplane/api"
	"github.com/felix-go/felix/controlplane/store"
	"github.com/felix-go/felix/dataplane/stat"
)

// Without a valid credential every endpoint gives one and the same answer, whatever exists (rule P6).
func TestCredentialComesFirst(t *testing.T) {
	r := start(t)
	r.basic()
	r.must(201, "POST", streamsOf, `{"stream":"s"}`)
	credentials := []string{
		"", "Bearer", "Bearer ", "Bearer wrong", "Bearer " + secret[1:], "Bearer " + secret + "0",
		"Basic " + secret,
		secret, "Bearer " + strings.ToUpper(secret), "Bearer\t" + secret,
	}
	requests := [][2]string{
		{"GET", "/v1/tenants"}, {"POST", "/v1/tenants"}, {"GET", "/v1/tenants/t"},
		{"GET", "/v1/tenants/unknown"},
		{"DELETE", "/v1/tenants/t"}, {"GET", "/v1/tenants/a*"}, {"GET", "/v1/tenants/t/namespaces/n"},
		{"GET", streamsOf + "/s"}, {"GET", streamsOf + "/unknown"}, {"PATCH", streamsOf + "/s"},
		{"DELETE", cachesOf + "/c"},
		{"GET", "/v1/streams/snapshot"}, {"GET", "/v1/streams/changes?since=x"},
		{"POST", "/v1/tenants/t/token/mint"},
		{"POST", "/v1/tenants/unknown/token/mint"}, {"GET", "/v1/nothing"}, {"PUT", "/v1/tenants/t"},
		{"GET", "/"},
		{"GET", "//v1/tenants"}, {"GET", "/v1/../v1/tenants/t"}, {"GET", "/v1/tenants/t/"},
	}
	want := fmt.Sprintf(`{"code":%q,"message":"missing or invalid credential"}`+"\n", api.CodeUnauthorized)
	for _, c := range credentials {
		for _, q := range requests {
			out := r.sendAs(c, q[0], q[1], `{`)
			challenge := out.header.Get("WWW-Authenticate")
			if out.status != http.StatusUnauthorized || out.body != want || challenge != "Bearer" {
				t.Errorf("%s %s as %q: %d %s", q[0], q[1], c, out.status, out.body)
			}
		}
	}
	if out := r.sendAs("bearer "+secret, "GET", "/v1/tenants/t", ""); out.status != 200 {
		t.Errorf("the scheme is not case-insensitive: %d", out.status)
	}
}

func TestPublicEndpoints(t *testing.T) {
	r := start(t)
	r.basic()
	for _, path := range []string{
		"/v1/system/live", "/v1/system/ready", "/v1/system/health", "/v1/tenants/t/.well-known/jwks.json",
	} {
		if out := r.sendAs("", "GET", path, ""); out.status != 200 {
			t.Errorf("GET %s: %d %s", path, out.status, out.body)
		}
	}
}

func TestUnknownPathsAndMethods(t *testing.T) {
	r := start(t)
	for _, path := range []string{
		"/", "/v1", "/v2/tenants", "/v1/tenants/", "//v1/tenants", "/v1/./tenants", "/v1/tenants/t/streams",
	} {
		r.refused(404, api.CodeNotFound, "GET", path, "")
	}
	for _, q := range [][2]string{
		{"PUT", "/v1/tenants"}, {"PATCH", "/v1/tenants/t"}, {"POST", "/v1/streams/snapshot"}, {"POST", "/v1/system/live"},
	} {
		r.refused(405, api.CodeMethodNotAllowed, q[0], q[1], "")
	}
	if allow := r.send("PUT", "/v1/tenants", "").header.Get("Allow"); allow != "GET, POST" {
		t.Errorf("Allow: %s", allow)
	}
}

// A panic in an endpoint is an answer, not a lost connection.
func TestPanicIsAnswered(t *testing.T) {
	r := start(t)
	r.server.handler.handle(classCatalog, "GET /v1/panic", func(*http.Request) (answer, error) { panic("boom") })
	r.refused(500, api.CodeInternal, "GET", "/v1/panic", "")
	r.must(200, "GET", "/v1/tenants", "")
}

// The credential is in no line of the log.
func TestLogHasNoSecret(t *testing.T) {
	var log strings.Builder
	h := newHandler(t, &log)
	for _, q := range [][2]string{{"GET", "/v1/tenants"}, {"POST", "/v1/tenants"}, {"GET", "/v1/panic"}} {
		serveOnce(h, q[0], q[1], `{"tenant_id":"t"}`)
	}
	if log.Len() == 0 || strings.Contains(log.String(), secret) {
		t.Fatalf("log: %s", log.String())
	}
}

func TestCounters(t *testing.T) {
	set := stat.NewSet()
	r := startWith(t, store.Config{}, Config{Bind: "127.0.0.1:0", Stats: set})
	r.basic()
	r.send("GET", "/v1/tenants/none", "")
	r.send("GET", "/v1/tenants/snapshot", "")
	r.send("GET", "/v1/none", "")
	r.sendAs("", "GET", "/v1/tenants", "")
	r.sendAs("Basic x", "GET", "/v1/tenants", "")
	r.sendAs("Bearer x", "GET", "/v1/tenants", "")
	r.sendAs("", "GET", "/v1/system/live", "")
	want := map[string]int64{
		`felix_controlplane_auth_rejected_total{reason="missing"}`:      1,
		`felix_controlplane_auth_rejected_total{reason="scheme"}`:       1,
		`felix_controlplane_auth_rejected_total{reason="credential"}`:   1,
		`felix_controlplane_requests_total{route="catalog",code="201"}`: 2,
		`felix_controlplane_requests_total{route="catalog",code="404"}`: 1,
		`felix_controlplane_requests_total{route="catalog",code="401"}`: 3,
		`felix_controlplane_requests_total{route="feed",code="200"}`:    1,
		`felix_controlplane_requests_total{route="probe",code="200"}`:   1,
		`felix_controlplane_requests_total{route="unknown",code="404"}`: 1,
		`felix_controlplane_panics_total`:                               0,
		`felix_controlplane_polls_waiting`:                              0,
	}
	if got := set.Snapshot(); !maps.Equal(got, want) {
		t.Errorf("counters %v\nwant %v", got, want)
	}
}
