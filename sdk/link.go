package felix

import (
	"context"
	"sync"

	"github.com/felix-go/felix/dataplane/transport"
)

// link is one connection with its request streams and its event router. It is made once, never reconnects, and is replaced as
// a whole by Client.connected.
type link struct {
	c    *Client
	conn *transport.Conn

	publish, cache []*socket

	router *router
}

// socket holds the request stream of one slot; it is opened at the first use and again when it ended.
type socket struct {
	opening chan struct{} // held while the stream is being opened

	mu   sync.Mutex // guards the following
	pipe *pipe
}

func newLink(c *Client, conn *transport.Conn) *link {
	l := &link{c: c, conn: conn}
	for range c.cfg.publishStreams {
		l.publish = append(l.publish, &socket{opening: make(chan struct{}, 1)})
	}
	for range c.cfg.cacheStreams {
		l.cache = append(l.cache, &socket{opening: make(chan struct{}, 1)})
	}
	l.router = newRouter(l)
	c.wg.Go(l.router.run)
	return l
}

func (l *link) alive() bool { return l.conn.Context().Err() == nil }

// close ends the connection; its goroutines see that and return, those of subscriptions when their events were taken.
func (l *link) close() { l.conn.Close(transport.CloseShutdown, "client closed") }

func (l *link) publishPipe(ctx context.Context, hash uint64) (*pipe, error) {
	return l.publish[hash%uint64(len(l.publish))].get(ctx, l)
}

func (l *link) cachePipe(ctx context.Context, hash uint64) (*pipe, error) {
	return l.cache[hash%uint64(len(l.cache))].get(ctx, l)
}

func (s *socket) current() *pipe {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pipe != nil && s.pipe.alive() {
		return s.pipe
	}
	return nil
}

func (s *socket) get(ctx context.Context, l *link) (*pipe, error) {
	if p := s.current(); p != nil {
		return p, nil
	}
	select {
	case s.opening <- struct{}{}:
	case <-ctx.Done():
		return nil, abandoned("login", ctx, false)
	}
	defer func() { <-s.opening }()
	if p := s.current(); p != nil {
		return p, nil
	}
	in, err := l.login(ctx)
	if err != nil {
		return nil, err
	}
	p := newPipe(l, in)
	s.mu.Lock()
	s.pipe = p
	s.mu.Unlock()
	return p, nil
}
