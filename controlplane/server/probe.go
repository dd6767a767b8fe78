package server

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/felix-go/felix/controlplane/api"
	"github.com/felix-go/felix/internal/clock"
)

// Bounds of the readiness probe (section 3.7).
const (
	probeTimeout = 2 * time.Second
	probeCache   = time.Second
)

// probe remembers the last answer of the store, so that probes cannot load it.
type probe struct {
	ask   func(context.Context) error // Store.Ping
	clock clock.Clock

	mu    sync.Mutex // held while asking: probes that come meanwhile share the answer
	asked bool
	when  time.Duration // monotonic time of the answer
	err   error
}

// live answers whenever the process can. It touches no store.
func (h *Handler) live(*http.Request) (answer, error) {
	return okay(api.Health{Status: "ok"}), nil
}

// ready answers whether the instance may take traffic. Draining is answered first.
func (h *Handler) ready(*http.Request) (answer, error) {
	if h.isDraining() {
		return notReady("draining"), nil
	}
	if err := h.askStore(); err != nil {
		return notReady("the store does not answer"), nil
	}
	return okay(api.Health{Status: "ok"}), nil
}

func notReady(reason string) answer {
	body := api.Health{Status: "unavailable", Reason: reason}
	return answer{status: http.StatusServiceUnavailable, body: body}
}

// askStore is bounded by a deadline of its own: the result is shared, so no caller may cut it short.
func (h *Handler) askStore() error {
	p := &h.probe
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.asked && p.clock.Monotonic()-p.when < probeCache {
		return p.err
	}
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	p.err = p.ask(ctx)
	p.asked, p.when = true, p.clock.Monotonic()
	return p.err
}
