package server

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/pprof"
	"time"
)

// Limits of a connection. No answer takes longer than the longest poll and its reads.
const (
	headerTimeout  = 5 * time.Second
	bodyTimeout    = 15 * time.Second
	answerTimeout  = maxWait + requestTimeout + 5*time.Second
	idleTimeout    = 90 * time.Second
	maxHeaderBytes = 32 << 10
)

// Server is the API on a listener of its own.
type Server struct {
	handler *Handler
	http    *http.Server
	addr    net.Addr
	tls     bool
	done    chan struct{} // closed when the accept loop has returned
}

// Start listens and serves until Close.
func Start(cfg Config) (*Server, error) {
	h, err := New(cfg)
	if err != nil {
		return nil, err
	}
	cfg = h.cfg
	var certs *certificates
	if cfg.CertFile != "" {
		if certs, err = loadCertificates(cfg); err != nil {
			return nil, err
		}
	}
	ln, err := net.Listen("tcp", cfg.Bind)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %q: %w", cfg.Bind, err)
	}
	s := &Server{handler: h, addr: ln.Addr(), tls: certs != nil, done: make(chan struct{})}
	s.http = &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       bodyTimeout,
		WriteTimeout:      answerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(cfg.Logger.Handler(), slog.LevelDebug),
	}
	if certs != nil {
		s.http.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: certs.certificate}
	} else {
		cfg.Logger.Warn("control plane API is served without TLS: credentials travel in the clear",
			"addr", s.addr.String())
	}
	go pprof.Do(context.Background(), pprof.Labels("role", "controlplane-http"), func(context.Context) {
		s.serve(ln, cfg.Logger)
	})
	cfg.Logger.Info("control plane API is up", "url", s.URL())
	return s, nil
}

func (s *Server) serve(ln net.Listener, log *slog.Logger) {
	defer close(s.done)
	var err error
	if s.tls {
		err = s.http.ServeTLS(ln, "", "")
	} else {
		err = s.http.Serve(ln)
	}
	if err != http.ErrServerClosed {
		log.Error("control plane API stopped", "err", err)
	}
}

// Addr returns the address listened on.
func (s *Server) Addr() net.Addr { return s.addr }

// URL returns the base address for a client on this machine.
func (s *Server) URL() string {
	scheme := "http"
	if s.tls {
		scheme = "https"
	}
	host, port, _ := net.SplitHostPort(s.addr.String())
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return scheme + "://" + net.JoinHostPort(host, port)
}

// Drain makes readiness fail and ends every long poll. Requests are still answered.
func (s *Server) Drain() { s.handler.Drain() }

// Close drains, stops accepting, and waits for the requests in flight until ctx ends; then it cuts them
// off. The store stays open.
func (s *Server) Close(ctx context.Context) error {
	s.Drain()
	err := s.http.Shutdown(ctx)
	if err != nil {
		s.http.Close()
	}
	<-s.done
	return err
}
