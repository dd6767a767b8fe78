package transport

import (
	"context"
	"net"
	"sync"
	"sync/atomic"

	"github.com/quic-go/quic-go"
)

// maxCloseReason bounds the text of a close, which has to fit into one packet with everything else in it.
const maxCloseReason = 512

var lastConnID atomic.Uint64

// Conn is one connection. Its methods may be called by anybody at any time; each stream has its own owner.
// Whoever accepted or dialed it must Close it, unless the peer did.
type Conn struct {
	quic  *quic.Conn
	id    uint64
	grant *grant // nil on the dialing side
}

func newConn(c *quic.Conn, g *grant) *Conn { return &Conn{quic: c, id: lastConnID.Add(1), grant: g} }

// ID returns a number that no other connection of this process has or had.
func (c *Conn) ID() uint64 { return c.id }

// RemoteAddr returns the address of the peer, which may change during the life of the connection.
func (c *Conn) RemoteAddr() net.Addr { return c.quic.RemoteAddr() }

// Context ends with the connection; context.Cause tells why, for Closed.
func (c *Conn) Context() context.Context { return c.quic.Context() }

// Done is closed when the connection has ended.
func (c *Conn) Done() <-chan struct{} { return c.quic.Context().Done() }

// Cause returns why the connection ended, for Closed, or nil while it lives.
func (c *Conn) Cause() error { return context.Cause(c.quic.Context()) }

// AcceptStream waits for the next bidirectional stream of the peer.
func (c *Conn) AcceptStream(ctx context.Context) (*Stream, error) {
	s, err := c.quic.AcceptStream(ctx)
	if err != nil {
		return nil, err
	}
	return newStream(s), nil
}

// AcceptUniStream waits for the next unidirectional stream of the peer.
func (c *Conn) AcceptUniStream(ctx context.Context) (*ReceiveStream, error) {
	s, err := c.quic.AcceptUniStream(ctx)
	if err != nil {
		return nil, err
	}
	return &ReceiveStream{uni: s}, nil
}

// OpenStream opens a bidirectional stream and waits while the peer allows no further one. The peer learns of
// it by the first byte.
func (c *Conn) OpenStream(ctx context.Context) (*Stream, error) {
	s, err := c.quic.OpenStreamSync(ctx)
	if err != nil {
		return nil, err
	}
	return newStream(s), nil
}

// OpenUniStream opens a unidirectional stream, or returns ErrStreamLimit while the peer allows no further
// one; it never waits.
func (c *Conn) OpenUniStream() (*SendStream, error) {
	s, err := c.quic.OpenUniStream()
	if err != nil {
		return nil, streamError(err)
	}
	return &SendStream{uni: s}, nil
}

// OpenUniStreamSync opens a unidirectional stream and waits while the peer allows no further one.
func (c *Conn) OpenUniStreamSync(ctx context.Context) (*SendStream, error) {
	s, err := c.quic.OpenUniStreamSync(ctx)
	if err != nil {
		return nil, err
	}
	return &SendStream{uni: s}, nil
}

// Authenticated lets the receive window of an accepted connection open, out of the window budget. Until it is
// called the peer may have PreauthConnWindow bytes on the way in. Calling it again, or on a dialed
// connection, does nothing.
func (c *Conn) Authenticated() {
	if c.grant != nil {
		c.grant.authenticate()
	}
}

// Close ends the connection with a code and a reason, of which the peer sees the first 512 bytes, and returns
// when its goroutine has ended. What was written and not yet sent may be lost. If the connection has ended
// already nothing happens.
func (c *Conn) Close(code CloseCode, reason string) {
	if len(reason) > maxCloseReason {
		reason = reason[:maxCloseReason]
	}
	_ = c.quic.CloseWithError(quic.ApplicationErrorCode(code), reason)
}

// closeAll ends conns at the same time and returns when all have ended.
func closeAll(conns []*Conn, reason string) {
	var closing sync.WaitGroup
	for _, conn := range conns {
		closing.Go(func() { conn.Close(CloseShutdown, reason) })
	}
	closing.Wait()
}
