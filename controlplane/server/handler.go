package server

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"path"
	"runtime/debug"
	"strings"
	"time"

	"github.com/felix-go/felix/controlplane/api"
)

// requestTimeout bounds the work on every request that does not wait on purpose.
const requestTimeout = 10 * time.Second

// Handler is the API as an http.Handler.
type Handler struct {
	cfg    Config
	log    *slog.Logger
	mux    *http.ServeMux
	secret [sha256.Size]byte // digest of the operator credential
	probe  probe
	counts *counters

	draining context.Context // ends with Drain
	drain    context.CancelFunc
}

// endpoint answers one request. Its error becomes the answer through refusalOf.
type endpoint func(r *http.Request) (answer, error)

// answer is a success: a status, and a body unless it is nil.
type answer struct {
	status int
	body   any
}

func okay(body any) answer { return answer{status: http.StatusOK, body: body} }

// New returns the API. It starts nothing.
func New(cfg Config) (*Handler, error) {
	cfg = cfg.withDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	h := &Handler{cfg: cfg, log: cfg.Logger, mux: http.NewServeMux()}
	h.probe = probe{ask: cfg.Store.Ping, clock: cfg.Clock}
	h.counts = newCounters(cfg.Stats)
	h.secret = sha256.Sum256([]byte(cfg.OperatorToken))
	h.draining, h.drain = context.WithCancel(context.Background())
	h.routes()
	return h, nil
}

// Drain makes readiness fail and ends every long poll at once. Requests are still answered, so that a
// load balancer has the time to look elsewhere.
func (h *Handler) Drain() { h.drain() }

func (h *Handler) isDraining() bool { return h.draining.Err() != nil }

// ServeHTTP implements http.Handler. The mux answers a path that is not clean by a redirect, without a
// look at the credential; no client of an API follows one, so it goes the way of unknown paths.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !clean(r.URL.EscapedPath()) {
		h.serve(w, r, classUnknown, h.unknown)
		return
	}
	h.mux.ServeHTTP(w, r)
}

// handle registers an endpoint.
func (h *Handler) handle(c class, pattern string, e endpoint) {
	h.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { h.serve(w, r, c, e) })
}

// serve takes one request through everything that endpoints have in common.
func (h *Handler) serve(w http.ResponseWriter, r *http.Request, c class, e endpoint) {
	rec := &recorder{ResponseWriter: w}
	started := h.cfg.Clock.Monotonic()
	defer func() {
		if p := recover(); p != nil {
			h.counts.panics.Inc()
			h.log.Error("request panicked", "route", r.Pattern, "err", p, "stack", string(debug.Stack()))
			if rec.status == 0 {
				h.fail(rec, r, refuse(http.StatusInternalServerError, api.CodeInternal, "internal error"))
			}
		}
		h.log.Debug("request", "method", r.Method, "route", r.Pattern, "code", rec.status,
			"dur", h.cfg.Clock.Monotonic()-started, "remote", r.RemoteAddr)
		h.counts.request(c, rec.status)
	}()
	if why := h.credentialFault(r); why != "" && !c.public() {
		h.counts.rejected(why)
		rec.Header().Set("WWW-Authenticate", "Bearer")
		h.fail(rec, r, refuse(http.StatusUnauthorized, api.CodeUnauthorized, "missing or invalid credential"))
		return
	}
	limit := requestTimeout
	if c == classFeed {
		limit += maxWait
	}
	ctx, cancel := context.WithTimeout(r.Context(), limit)
	defer cancel()
	r = r.WithContext(ctx)
	r.Body = http.MaxBytesReader(rec, r.Body, maxBodyBytes)
	a, err := e(r)
	if err != nil {
		h.fail(rec, r, err)
		return
	}
	h.answer(rec, a)
}

// credentialFault returns why the credential of a request is refused, for the counter only, or "". It
// compares in constant time: digests have one length, whatever the caller sent.
func (h *Handler) credentialFault(r *http.Request) string {
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	sum := sha256.Sum256([]byte(strings.TrimSpace(given)))
	same := subtle.ConstantTimeCompare(sum[:], h.secret[:]) == 1
	switch {
	case scheme == "":
		return "missing"
	case !strings.EqualFold(scheme, "Bearer"):
		return "scheme"
	case !same:
		return "credential"
	}
	return ""
}

func (h *Handler) answer(w http.ResponseWriter, a answer) {
	if a.body == nil {
		w.WriteHeader(a.status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(a.status)
	// Writing fails only when the caller has gone: there is nobody to tell.
	_ = json.NewEncoder(w).Encode(a.body)
}

func (h *Handler) fail(w http.ResponseWriter, r *http.Request, err error) {
	no := refusalOf(err)
	if no.allow != "" {
		w.Header().Set("Allow", no.allow)
	}
	gone := errors.Is(r.Context().Err(), context.Canceled) // the caller, not the store, gave up
	if no.status >= http.StatusInternalServerError && !gone {
		h.log.Warn("request failed", "method", r.Method, "path", r.URL.Path, "code", no.status, "err", err)
	}
	h.answer(w, answer{status: no.status, body: api.Error{Code: no.code, Message: no.text}})
}

// unknown answers paths and methods that no endpoint has.
func (h *Handler) unknown(r *http.Request) (answer, error) {
	if allowed := h.methods(r); len(allowed) > 0 {
		no := refuse(http.StatusMethodNotAllowed, api.CodeMethodNotAllowed,
			"this path does not take %s", r.Method)
		no.allow = strings.Join(allowed, ", ")
		return answer{}, no
	}
	return answer{}, refuse(http.StatusNotFound, api.CodeNotFound, "no such endpoint")
}

// methods returns the methods that the path of a request takes.
func (h *Handler) methods(r *http.Request) (allowed []string) {
	if !clean(r.URL.EscapedPath()) {
		return nil
	}
	trial := r.Clone(r.Context())
	for _, m := range []string{http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodDelete} {
		trial.Method = m
		if _, pattern := h.mux.Handler(trial); pattern != "/" {
			allowed = append(allowed, m)
		}
	}
	return allowed
}

// recorder remembers the status of an answer.
type recorder struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

// Unwrap serves http.ResponseController.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// clean reports whether the mux would serve the path as it is.
func clean(p string) bool {
	c := path.Clean(p)
	return strings.HasPrefix(p, "/") && (c == p || c+"/" == p)
}
