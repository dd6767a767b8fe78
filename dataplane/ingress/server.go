package ingress

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/felix-go/felix/dataplane/transport"
)

// Server serves client connections. New starts nothing; Serve runs an accept loop, Sweep the one timer of all connections.
type Server struct {
	cfg    Config
	rooms  Rooms
	n      *counters
	places *Places
	ids    atomic.Uint64 // subscription ids, one counter for the process

	mu       sync.Mutex // guards the following
	conns    map[*conn]struct{}
	draining bool
	wg       sync.WaitGroup // connections
}

// New returns a server that serves nothing yet.
func New(cfg Config, rooms Rooms, places *Places) *Server {
	return &Server{cfg: cfg.withDefaults(), rooms: rooms, places: places, n: newCounters(rooms.Stats),
		conns: make(map[*conn]struct{})}
}

// Serve accepts connections of l until ctx ends or the listener closes. A connection that fails its handshake never comes
// out of Accept and ends nothing.
func (s *Server) Serve(ctx context.Context, l *transport.Listener) error {
	for {
		t, err := l.Accept(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		s.wg.Add(1)
		go func() {
			defer s.wg.Done()
			s.serve(t)
		}()
	}
}

// Sweep looks at every connection once a second until ctx ends: login deadlines and stalled streams. One sweep per process
// in place of a timer per operation.
func (s *Server) Sweep(ctx context.Context) {
	const every = time.Second
	t := s.rooms.Clock.NewTimer(every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C():
		}
		now := s.rooms.Clock.Monotonic()
		for _, c := range s.all() {
			c.sweep(now)
		}
		t.Reset(every)
	}
}

func (s *Server) all() []*conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*conn, 0, len(s.conns))
	for c := range s.conns {
		all = append(all, c)
	}
	return all
}

// add registers a connection; false when the server is draining.
func (s *Server) add(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns[c] = struct{}{}
	if s.draining {
		c.draining.Store(true)
	}
	return !s.draining
}

func (s *Server) remove(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
}

// EndTenant ends every stream that speaks for a tenant that no longer exists. Its subscriptions end with their streams. It is
// the catalog's hook for removed tenants.
func (s *Server) EndTenant(tenant string) {
	for _, c := range s.all() {
		c.mu.Lock()
		for session := range c.sessions {
			if session.loggedIn.Load() && session.identity.Tenant == tenant {
				session.cut(transport.StreamAuth)
			}
		}
		c.mu.Unlock()
	}
}

// lingerAfterFlush is how long a drained connection stays open after its last write, so that what was written leaves before
// the close: QUIC drops unsent data when a connection is closed.
const lingerAfterFlush = 50 * time.Millisecond

// Drain winds every connection down: it stops reading, lets frames already begun, jobs and answers finish and queued events
// leave, and then closes the connection with code 0, so that the peer learns this was deliberate. A connection is closed as
// soon as it is idle; ctx bounds the grace. Event streams are never finished: a client takes FIN for a normal end. It returns
// how many connections were cut with work unfinished.
func (s *Server) Drain(ctx context.Context) (cut int) {
	s.mu.Lock()
	s.draining = true
	s.mu.Unlock()
	all := s.all()
	for _, c := range all {
		c.quiesce()
	}
	var wg sync.WaitGroup
	var unfinished atomic.Int64
	for _, c := range all {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if !s.finish(ctx, c) {
				unfinished.Add(1)
			}
		}()
	}
	wg.Wait()
	return int(unfinished.Load())
}

// finish waits until c is idle, or ctx ends, and closes it.
func (s *Server) finish(ctx context.Context, c *conn) (idle bool) {
	const poll = 5 * time.Millisecond
	idle = true
	t := s.rooms.Clock.NewTimer(poll)
	defer t.Stop()
	for c.busy() {
		select {
		case <-ctx.Done():
			idle = false
		case <-c.t.Context().Done():
			return true
		case <-t.C():
			t.Reset(poll)
			continue
		}
		break
	}
	if idle {
		t.Reset(lingerAfterFlush)
		select {
		case <-ctx.Done():
		case <-c.t.Context().Done():
		case <-t.C():
		}
	}
	c.t.Close(transport.CloseShutdown, "broker shutting down")
	return idle
}

// Wait returns when every connection is gone, or ctx ends.
func (s *Server) Wait(ctx context.Context) error {
	done := make(chan struct{})
	go func() {
		s.wg.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
