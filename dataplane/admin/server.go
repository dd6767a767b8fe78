package admin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	runtimepprof "runtime/pprof"
	"sync/atomic"
	"time"

	"github.com/VictoriaMetrics/metrics"
)

// Bounds of one request. A profile may take minutes to write; nothing else may.
const (
	readTimeout    = 10 * time.Second
	answerTimeout  = 10 * time.Second
	profileTimeout = 6 * time.Minute
	idleTimeout    = time.Minute
	maxHeaderBytes = 16 << 10
)

// Server serves these paths, and no others:
//
//	GET  /live  /livez              200 while the process answers
//	GET  /ready /readyz /healthz    200, or 503 with a reason per line; ?verbose says more
//	GET  /metrics                   Prometheus text
//	GET  /debug/pprof/...           profiles            this machine, or the token
//	PUT  /v1/log-level?level=&for=  the log level       this machine, or the token
//
// The listener is the last to go when the broker stops, so that operators see the drain.
type Server struct {
	cfg      Config
	http     *http.Server
	listener net.Listener
	done     chan struct{} // closed when the accept loop has ended
	draining atomic.Bool
	levels   levels
	numbers  *metrics.Set
	started  time.Duration
}

// Start listens and serves. The error says which address cannot be bound.
func Start(cfg Config) (*Server, error) {
	cfg = cfg.withDefaults()
	listener, err := net.Listen("tcp", cfg.Bind)
	if err != nil {
		return nil, fmt.Errorf("admin: cannot listen on %q: %w", cfg.Bind, err)
	}
	s := &Server{
		cfg: cfg, listener: listener, done: make(chan struct{}), started: cfg.Clock.Monotonic(),
		levels: levels{level: cfg.LogLevel, clock: cfg.Clock, logger: cfg.Logger},
	}
	s.numbers = s.newNumbers()
	s.http = &http.Server{
		Handler:           s.routes(),
		ReadHeaderTimeout: readTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      profileTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(cfg.Logger.Handler(), slog.LevelDebug),
	}
	go s.serve()
	return s, nil
}

func (s *Server) serve() {
	defer close(s.done)
	role := runtimepprof.Labels("role", "admin")
	runtimepprof.SetGoroutineLabels(runtimepprof.WithLabels(context.Background(), role))
	if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		s.cfg.Logger.Error("admin listener ended", "err", err)
	}
}

// Addr is the address that was bound.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// SetDraining makes /ready answer 503 `draining` from now on.
func (s *Server) SetDraining() { s.draining.Store(true) }

// Close stops listening and waits for requests in flight until ctx ends, then cuts them. A temporary log
// level ends.
func (s *Server) Close(ctx context.Context) error {
	err := s.http.Shutdown(ctx)
	if err != nil {
		s.http.Close()
		err = fmt.Errorf("admin: requests were cut: %w", err)
	}
	<-s.done
	s.levels.restore()
	return err
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	for _, path := range []string{"/live", "/livez"} {
		mux.HandleFunc("GET "+path, quick(s.live))
	}
	for _, path := range []string{"/ready", "/readyz", "/healthz"} {
		mux.HandleFunc("GET "+path, quick(s.ready))
	}
	mux.HandleFunc("GET /metrics", quick(s.metrics))
	if s.cfg.LogLevel != nil {
		mux.HandleFunc("PUT /v1/log-level", s.guard(quick(s.levels.put)))
	}
	mux.HandleFunc("GET /debug/pprof/", s.guard(pprof.Index))
	mux.HandleFunc("GET /debug/pprof/cmdline", s.guard(quick(pprof.Cmdline)))
	mux.HandleFunc("GET /debug/pprof/profile", s.guard(pprof.Profile))
	mux.HandleFunc("GET /debug/pprof/trace", s.guard(pprof.Trace))
	mux.HandleFunc("GET /debug/pprof/symbol", s.guard(quick(pprof.Symbol)))
	mux.HandleFunc("POST /debug/pprof/symbol", s.guard(quick(pprof.Symbol)))
	return mux
}

// quick bounds the time to write an answer, for handlers that have all of it at hand.
func quick(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		// A writer without deadlines, as in a test, is as good as one that never blocks.
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(answerTimeout))
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		h(w, r)
	}
}
