package admin

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/felix-go/felix/dataplane/stat"
	"github.com/felix-go/felix/internal/clock"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start serves on a free port of this machine.
func start(t *testing.T, cfg Config) *Server {
	t.Helper()
	cfg.Bind = "127.0.0.1:0"
	s, err := Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		s.Close(context.Background())
	})
	return s
}

// ask sends a request over the network.
func ask(t *testing.T, s *Server, method, path string) (int, string, http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+s.Addr().String()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body), resp.Header
}

// from asks as a peer at some address, with some Host and Authorization.
func from(s *Server, method, path, peer, host, authorization string) int {
	r := httptest.NewRequest(method, path, nil)
	r.RemoteAddr, r.Host = peer, host
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	w := httptest.NewRecorder()
	s.http.Handler.ServeHTTP(w, r)
	return w.Code
}

func TestHealth(t *testing.T) {
	var reasons atomic.Pointer[[]string]
	reasons.Store(&[]string{"metadata has not been loaded", "disk is full"})
	s := start(t, Config{Version: "1.2.3", Ready: func() []string { return *reasons.Load() }})
	want := func(path string, status int, body string) {
		t.Helper()
		got, text, header := ask(t, s, http.MethodGet, path)
		if got != status || text != body {
			t.Errorf("%s: %d %q, want %d %q", path, got, text, status, body)
		}
		if header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s may be cached", path)
		}
	}
	live := func() {
		t.Helper()
		want("/live", 200, "live\n")
		want("/livez", 200, "live\n")
	}
	for _, path := range []string{"/ready", "/readyz", "/healthz"} {
		want(path, 503, "metadata has not been loaded\ndisk is full\n")
	}
	live()
	reasons.Store(new([]string))
	for _, path := range []string{"/ready", "/readyz", "/healthz"} {
		want(path, 200, "ready\n")
	}
	_, body, _ := ask(t, s, http.MethodGet, "/readyz?verbose")
	if !strings.HasPrefix(body, "[+] ready\nversion: 1.2.3\nuptime: ") {
		t.Errorf("verbose: %q", body)
	}
	s.SetDraining()
	want("/ready", 503, "draining\n")
	reasons.Store(&[]string{"disk is full"})
	want("/ready", 503, "draining\ndisk is full\n")
	if status, body, _ := ask(t, s, http.MethodGet, "/ready?verbose"); status != 503 ||
		!strings.HasPrefix(body, "[-] draining\n[-] disk is full\n") {
		t.Errorf("verbose: %d %q", status, body)
	}
	live()
}

// TestMetrics checks the scrape as a parser of the format would: every sample follows HELP and TYPE of its
// family, and no family comes twice.
func TestMetrics(t *testing.T) {
	stats := stat.NewSet()
	stats.Counter(`felix_test_total{result="ok"}`, "Things that happened.").Add(3)
	stats.Histogram("felix_test_seconds", "How long things took.", []float64{0.1, 1}).Observe(time.Millisecond)
	s := start(t, Config{Version: `1.2"3`, Stats: stats})
	start(t, Config{Version: "other", Stats: stat.NewSet()}) // a second broker in the process stays out of it
	status, body, header := ask(t, s, http.MethodGet, "/metrics")
	if status != 200 || !strings.HasPrefix(header.Get("Content-Type"), "text/plain; version=0.0.4") {
		t.Fatalf("%d %q", status, header)
	}
	for _, line := range []string{
		`felix_test_total{result="ok"} 3`, "# HELP felix_test_total Things that happened.",
		"# TYPE felix_test_total counter",
		"# TYPE felix_test_seconds histogram", `felix_test_seconds_bucket{le="0.1"} 1`,
		"# TYPE felix_build_info gauge",
		"# TYPE felix_uptime_seconds gauge", "# TYPE go_goroutines gauge",
	} {
		if !strings.Contains(body, line+"\n") {
			t.Errorf("the scrape lacks %s", line)
		}
	}
	if !strings.Contains(body, `felix_build_info{version="1.2\"3",goversion="go1`) ||
		strings.Contains(body, `version="other"`) {
		t.Error("wrong build info")
	}
	sample := regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{.*\})? (\S+)$`)
	types := map[string]string{}
	for line := range strings.Lines(body) {
		line = strings.TrimSuffix(line, "\n")
		if fields := strings.Fields(line); len(fields) == 4 && fields[1] == "TYPE" {
			if types[fields[2]] != "" {
				t.Errorf("family %s comes twice", fields[2])
			}
			types[fields[2]] = fields[3]
		}
		if strings.HasPrefix(line, "#") {
			continue
		}
		m := sample.FindStringSubmatch(line)
		if m == nil {
			t.Errorf("malformed line %q", line)
			continue
		}
		family := m[1]
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			if base, cut := strings.CutSuffix(family, suffix); cut && types[base] != "" {
				family = base
			}
		}
		if types[family] == "" {
			t.Errorf("sample %q without a TYPE before it", line)
		}
	}
}

func TestMethodsAndPaths(t *testing.T) {
	s := start(t, Config{LogLevel: new(slog.LevelVar)})
	for _, path := range []string{"/live", "/ready", "/metrics", "/debug/pprof/", "/debug/pprof/profile"} {
		for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"} {
			if got, _, _ := ask(t, s, method, path); got != 405 {
				t.Errorf("%s %s: %d, want 405", method, path, got)
			}
		}
	}
	for _, method := range []string{"GET", "POST", "DELETE"} {
		if got, _, _ := ask(t, s, method, "/v1/log-level?level=debug"); got != 405 {
			t.Errorf("%s of the log level: %d, want 405", method, got)
		}
	}
	if got, body, _ := ask(t, s, "HEAD", "/ready"); got != 200 || body != "" {
		t.Errorf("HEAD /ready: %d %q", got, body)
	}
	for _, path := range []string{
		"/", "/live/", "/metrics/x", "/debug", "/debug/vars", "/v1", "/livez/../debug/vars",
	} {
		if got, _, _ := ask(t, s, "GET", path); got != 404 {
			t.Errorf("GET %s: %d, want 404", path, got)
		}
	}
	without := start(t, Config{})
	if got, _, _ := ask(t, without, "PUT", "/v1/log-level?level=debug"); got != 404 {
		t.Errorf("log level without a level variable: %d", got)
	}
}

func TestProfiles(t *testing.T) {
	s := start(t, Config{})
	for _, path := range []string{
		"/debug/pprof/", "/debug/pprof/heap?debug=1", "/debug/pprof/goroutine?debug=1",
		"/debug/pprof/cmdline",
		"/debug/pprof/symbol", "/debug/pprof/mutex", "/debug/pprof/trace?seconds=0.01",
	} {
		if got, body, _ := ask(t, s, "GET", path); got != 200 || body == "" {
			t.Errorf("GET %s: %d, %d bytes", path, got, len(body))
		}
	}
	if got, _, _ := ask(t, s, "POST", "/debug/pprof/symbol"); got != 200 {
		t.Errorf("POST symbol: %d", got)
	}
	if _, body, _ := ask(t, s, "GET", "/debug/pprof/goroutine?debug=1"); !strings.Contains(body, `"role":"admin"`) {
		t.Error("the listener's goroutine has no role")
	}
}

// TestGuard asks for what needs trust from every kind of peer.
func TestGuard(t *testing.T) {
	guarded := [][2]string{
		{"GET", "/debug/pprof/cmdline"}, {"GET", "/debug/pprof/"}, {"PUT", "/v1/log-level?level=info"},
	}
	open := [][2]string{{"GET", "/live"}, {"GET", "/ready"}, {"GET", "/metrics"}}
	plain := start(t, Config{LogLevel: new(slog.LevelVar)})
	token := start(t, Config{LogLevel: new(slog.LevelVar), Token: "secret"})
	for _, c := range []struct {
		peer, host, authorization string
		plain, token              int
	}{
		{"127.0.0.1:1", "127.0.0.1:8080", "", 200, 200},
		{"127.9.9.9:1", "localhost", "", 200, 200},
		{"[::1]:1", "[::1]:8080", "", 200, 200},
		{"[::1]:1", "LOCALHOST:8080", "", 200, 200},
		{"[::ffff:127.0.0.1]:1", "10.0.0.1", "", 200, 200},
		{"127.0.0.1:1", "evil.example", "", 403, 401},
		{"127.0.0.1:1", "localhost.evil.example:8080", "", 403, 401},
		{"127.0.0.1:1", "", "", 403, 401},
		{"192.0.2.1:1", "127.0.0.1:8080", "", 403, 401},
		{"[2001:db8::1]:1", "localhost", "", 403, 401},
		{"[::ffff:192.0.2.1]:1", "localhost", "", 403, 401},
		{"@", "localhost", "", 403, 401},
		{"", "localhost", "", 403, 401},
		{"192.0.2.1:1", "broker:8080", "Bearer secret", 403, 200},
		{"192.0.2.1:1", "broker:8080", "Bearer secret ", 403, 401},
		{"192.0.2.1:1", "broker:8080", "Bearer secre", 403, 401},
		{"192.0.2.1:1", "broker:8080", "Bearer ", 403, 401},
		{"192.0.2.1:1", "broker:8080", "bearer secret", 403, 401},
		{"192.0.2.1:1", "broker:8080", "Basic secret", 403, 401},
		{"192.0.2.1:1", "broker:8080", "secret", 403, 401},
	} {
		for _, g := range guarded {
			if got := from(plain, g[0], g[1], c.peer, c.host, c.authorization); got != c.plain {
				t.Errorf("no token configured, %s from %+v: %d, want %d", g, c, got, c.plain)
			}
			if got := from(token, g[0], g[1], c.peer, c.host, c.authorization); got != c.token {
				t.Errorf("token configured, %s from %+v: %d, want %d", g, c, got, c.token)
			}
		}
		for _, o := range open {
			if got := from(token, o[0], o[1], c.peer, c.host, c.authorization); got != 200 {
				t.Errorf("%s from %+v: %d", o, c, got)
			}
		}
	}
}

func TestLogLevel(t *testing.T) {
	level := new(slog.LevelVar)
	clk := clock.NewManual(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	s := start(t, Config{LogLevel: level, Clock: clk})
	put := func(query string, status int, want slog.Level) {
		t.Helper()
		if got, body, _ := ask(t, s, "PUT", "/v1/log-level?"+query); got != status {
			t.Errorf("%s: %d %q, want %d", query, got, body, status)
		}
		if level.Level() != want {
			t.Errorf("%s: level is %s, want %s", query, level.Level(), want)
		}
	}
	for _, bad := range []string{
		"", "level=", "level=loud", "level=debug&for=", "level=debug&for=10", "level=debug&for=-1s",
		"level=debug&for=0s",
		"level=debug&for=25h", "level=debug&for=ever",
	} {
		put(bad, 400, slog.LevelInfo)
	}
	put("level=warn", 200, slog.LevelWarn)
	put("level=debug&for=10m", 200, slog.LevelDebug)
	put("level=error&for=20m", 200, slog.LevelError) // falls back to warn, not to debug
	clk.Advance(10 * time.Minute)
	if level.Level() != slog.LevelError {
		t.Errorf("the first timer ended the second level: %s", level.Level())
	}
	clk.Advance(10 * time.Minute)
	if level.Level() != slog.LevelWarn {
		t.Errorf("after the time: %s", level.Level())
	}
	put("level=debug&for=10m", 200, slog.LevelDebug)
	put("level=ERROR", 200, slog.LevelError) // for good; the timer is off
	clk.Advance(time.Hour)
	if level.Level() != slog.LevelError || clk.Timers() != 0 {
		t.Errorf("a level for good was ended: %s, %d timers", level.Level(), clk.Timers())
	}
	put("level=debug&for=10m", 200, slog.LevelDebug)
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if level.Level() != slog.LevelError || clk.Timers() != 0 {
		t.Errorf("Close left a temporary level: %s, %d timers", level.Level(), clk.Timers())
	}
}

func TestBindFailure(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, err = Start(Config{Bind: taken.Addr().String()})
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", taken.Addr().String())) {
		t.Fatalf("error is %v", err)
	}
}

// TestCloseCutsALongProfile ends the listener while somebody takes a profile of minutes.
func TestCloseCutsALongProfile(t *testing.T) {
	s := start(t, Config{})
	failed := make(chan error)
	go func() {
		resp, err := http.Get("http://" + s.Addr().String() + "/debug/pprof/trace?seconds=200")
		if err == nil {
			_, err = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
		failed <- err
	}()
	for { // until the handler runs
		if _, body, _ := ask(t, s, "GET", "/debug/pprof/goroutine?debug=2"); strings.Contains(body, "pprof.Trace(") {
			break
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Close(ctx); err == nil {
		t.Error("Close says that nothing was cut")
	}
	if err := <-failed; err == nil {
		t.Error("the profile ended well")
	}
	if _, err := http.Get("http://" + s.Addr().String() + "/live"); err == nil {
		t.Error("still listening")
	}
	// The handler notices on its own that its peer has gone.
	http.DefaultClient.CloseIdleConnections()
}

// TestOversizedHeader does not read what no client of this listener sends.
func TestOversizedHeader(t *testing.T) {
	s := start(t, Config{})
	r, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+s.Addr().String()+"/live", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X", strings.Repeat("x", 64<<10))
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if !slices.Contains([]int{431, 400}, resp.StatusCode) {
		t.Errorf("64 KiB of header: %d", resp.StatusCode)
	}
}
