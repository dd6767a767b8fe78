package ingress

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/felix-go/felix/dataplane/admission"
	"github.com/felix-go/felix/dataplane/transport"
)

// conn is one client connection: its accept loops, its byte budget, its streams and its subscriptions.
//
// Identity is never kept here, only whether anything has authenticated: streams of one connection may speak for different
// tenants.
type conn struct {
	srv    *Server
	t      *transport.Conn
	budget *admission.Budget // publish bytes between reader and claim

	accepted time.Duration // monotonic
	opened   atomic.Bool   // some stream authenticated
	welcome  chan struct{} // closed with opened
	stranger atomic.Int64  // stream bytes read, or about to be, before opened
	draining atomic.Bool

	// unauthenticated holds a token per stream being read that has not authenticated.
	unauthenticated chan struct{}

	mu            sync.Mutex // guards the following
	sessions      map[*session]struct{}
	subscriptions map[*subscription]struct{}
	wg            sync.WaitGroup // accept loops, sessions and subscriptions
}

// serve runs the connection until it ends and everything of it is gone.
func (s *Server) serve(t *transport.Conn) {
	c := &conn{srv: s, t: t,
		budget:          admission.NewBudget(s.cfg.ConnPublishBytes, 0),
		accepted:        s.rooms.Clock.Monotonic(),
		welcome:         make(chan struct{}),
		unauthenticated: make(chan struct{}, s.cfg.PreauthMaxStreams),
		sessions:        make(map[*session]struct{}),
		subscriptions:   make(map[*subscription]struct{}),
	}
	s.n.connections.Add(1)
	defer s.n.connections.Add(-1)
	if !s.add(c) {
		t.Close(transport.CloseShutdown, "broker shutting down")
	}
	c.wg.Add(1)
	go func() {
		defer c.wg.Done()
		c.acceptUni(t.Context())
	}()
	c.acceptBidi(t.Context())
	c.endSubscriptions()
	c.wg.Wait()
	s.remove(c)
}

func (c *conn) acceptBidi(ctx context.Context) {
	for {
		st, err := c.t.AcceptStream(ctx)
		if err != nil {
			return
		}
		c.start(ctx, st.Receive(), st.Send())
	}
}

func (c *conn) acceptUni(ctx context.Context) {
	for {
		st, err := c.t.AcceptUniStream(ctx)
		if err != nil {
			return
		}
		c.start(ctx, st, nil)
	}
}

// start begins a session, once fewer than PreauthMaxStreams streams are being read without a login.
func (c *conn) start(ctx context.Context, recv *transport.ReceiveStream, send *transport.SendStream) {
	select {
	case c.unauthenticated <- struct{}{}:
	case <-ctx.Done():
		return
	}
	s := &session{c: c, recv: recv, send: send, done: ctx.Done(), opened: c.srv.rooms.Clock.Monotonic()}
	c.mu.Lock()
	c.sessions[s] = struct{}{}
	c.mu.Unlock()
	c.wg.Add(1)
	go func() {
		defer c.wg.Done()
		s.run()
	}()
}

// authenticated opens the connection's windows and stops its login timer.
func (c *conn) authenticated() {
	if !c.opened.Swap(true) {
		close(c.welcome)
		c.t.Authenticated()
	}
}

// strangerQuota is how much of p may be filled before the connection's first login: all streams of it together may make the
// broker read PreauthMaxFrameBytes. When that is used up the reader waits for a login on another stream; without one the login
// deadline ends the connection. nil means that the connection is over.
func (c *conn) strangerQuota(p []byte, done <-chan struct{}) []byte {
	max := int64(c.srv.cfg.PreauthMaxFrameBytes)
	for {
		used := c.stranger.Load()
		if n := min(int64(len(p)), max-used); n > 0 {
			if c.stranger.CompareAndSwap(used, used+n) {
				return p[:n]
			}
			continue
		}
		select {
		case <-c.welcome:
			return p
		case <-done:
			return nil
		}
	}
}

// strangerRead gives back the part of a quota that was not filled.
func (c *conn) strangerRead(unused int) { c.stranger.Add(-int64(unused)) }

// loggedIn gives back the stream's token.
func (c *conn) loggedIn(*session) { <-c.unauthenticated }

// forget ends the bookkeeping of a session.
func (c *conn) forget(s *session) {
	if s.identity == nil {
		<-c.unauthenticated
	}
	c.mu.Lock()
	delete(c.sessions, s)
	c.mu.Unlock()
}

// sweep ends what the peer left hanging: a connection or a stream without a login, streams whose answers are not read or whose frame
// stays half sent. Called once a second by the server's sweeper.
func (c *conn) sweep(now time.Duration) {
	if !c.opened.Load() && now >= c.srv.loginDeadline(c.accepted) {
		c.srv.n.authTimeouts.Inc()
		c.t.Close(transport.CloseAuthTimeout, "authentication timeout")
		return
	}
	limit := int64(c.srv.cfg.AnswerStallTimeout)
	stuck := func(since int64) bool { return since != 0 && int64(now)-since >= limit }
	c.mu.Lock()
	defer c.mu.Unlock()
	for s := range c.sessions {
		if !s.loggedIn.Load() && now-s.opened >= c.srv.cfg.AuthTimeout { // a stream that never says who it is
			c.srv.n.authTimeouts.Inc()
			s.cut(transport.StreamAuth)
		} else if stuck(s.partial.Load()) || stuck(s.answers.writing.Load()) {
			c.srv.n.stalled.Inc()
			s.cut(transport.StreamLimit)
		}
	}
}

// quiesce stops reading: every session finishes the frame it has begun, then what it owes.
func (c *conn) quiesce() {
	c.draining.Store(true)
	c.mu.Lock()
	defer c.mu.Unlock()
	for s := range c.sessions {
		if s.loggedIn.Load() && s.reading.Load() {
			s.recv.SetReadDeadline(time.Unix(1, 0))
		}
	}
}

// busy reports whether an authenticated session still has a frame or an answer in the works, or a delivery something to write.
func (c *conn) busy() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for s := range c.sessions {
		if s.loggedIn.Load() {
			return true
		}
	}
	for sub := range c.subscriptions {
		if !sub.queue.Idle() {
			return true
		}
	}
	return false
}

// cut ends both halves of the stream; its reader and writer notice. Safe from any goroutine.
func (s *session) cut(code transport.StreamCode) {
	s.recv.StopReading(code)
	if s.send != nil {
		s.send.Reset(code)
	}
}
