package transport

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/felix-go/felix/dataplane/stat"
	"github.com/felix-go/felix/dataplane/transport/udp"
)

// Defaults of ListenConfig.
const (
	DefaultMaxIdle             = 6 * time.Second
	DefaultHandshakeTimeout    = 10 * time.Second
	DefaultHandshakesPerSecond = 500
	DefaultMaxStreams          = 1024
	DefaultStreamWindow        = 16 << 20
	DefaultConnWindow          = 64 << 20
	DefaultPreauthConnWindow   = 64 << 10
	DefaultWindowBudgetBytes   = 256 << 20
	DefaultMaxConnections      = 8192
	DefaultMaxPerIP            = 512
)

// ListenConfig says how to open a Listener. The zero value of every field but Addr, Certificates and ResetKey
// is its default.
type ListenConfig struct {
	// Addr is the UDP address to bind, host:port. An IPv4 host binds IPv4 only, "::" or no host both
	// families.
	Addr string
	// Certificates holds the server certificate. Required. Several listeners may share one.
	Certificates *Certificates
	// ResetKey is the persisted secret of this node (LoadResetKey) from which the stateless reset key and the
	// key of address tokens are derived. Required: without it a broker that was killed costs every client its
	// idle timeout instead of milliseconds.
	ResetKey [32]byte
	// RequireALPN refuses clients that offer no protocol id. The shipped clients offer none by default.
	RequireALPN bool

	// MaxIdle closes a connection on which nothing arrived for so long; the smaller value of both ends
	// counts. Default 6 s. The broker sends no keep-alives, the clients do (2 s).
	MaxIdle time.Duration
	// HandshakeTimeout bounds a handshake; half of it without any packet ends one too. Default 10 s.
	HandshakeTimeout time.Duration
	// HandshakesPerSecond is the rate of handshakes up to which clients need not prove their address first;
	// above it each pays a round trip more (Retry). Default 500.
	HandshakesPerSecond int
	// MaxStreams bounds the concurrent streams that a client may open, per direction. Default 1024. A real
	// client spreads over more connections when it is below 40.
	MaxStreams int64

	// StreamWindow bounds what a stream may have unread, once it was fast enough to need that: it starts at a
	// quarter of PreauthConnWindow. Default 16 MiB.
	StreamWindow uint64
	// ConnWindow bounds what all streams of an authenticated connection may have unread together. Default 64
	// MiB. Larger helps on long paths and hides overload.
	ConnWindow uint64
	// PreauthConnWindow is the same before authentication. Default and least sensible value 64 KiB.
	PreauthConnWindow uint64
	// WindowBudget bounds what the windows of all connections grow to together, beyond PreauthConnWindow
	// each. When it is used up connections keep the window they have, which slows them on long paths. Nil
	// makes one of 256 MiB for this listener; several listeners of a process share one.
	WindowBudget *WindowBudget

	// MaxConnections bounds the connections of this listener, handshakes included; more are refused before
	// the handshake. Default 8192.
	MaxConnections int
	// MaxPerIP is the same per client address (an IPv4-mapped one counts as IPv4). Default 512, negative is
	// no bound.
	MaxPerIP int

	// SocketBuffer is asked of the kernel for each direction, in bytes. Default 8 MiB.
	SocketBuffer int
	// DisableGRO receives one datagram per system call.
	DisableGRO bool

	// Logger tells of the socket at start and of certificate changes; nil is silent.
	Logger *slog.Logger
	// Stats receives the counters; nil keeps them private.
	Stats *stat.Set
}

func (c ListenConfig) withDefaults() ListenConfig {
	defaultTo(&c.MaxIdle, DefaultMaxIdle)
	defaultTo(&c.HandshakeTimeout, DefaultHandshakeTimeout)
	defaultTo(&c.HandshakesPerSecond, DefaultHandshakesPerSecond)
	defaultTo(&c.MaxStreams, DefaultMaxStreams)
	defaultTo(&c.StreamWindow, DefaultStreamWindow)
	defaultTo(&c.ConnWindow, DefaultConnWindow)
	defaultTo(&c.PreauthConnWindow, DefaultPreauthConnWindow)
	defaultTo(&c.MaxConnections, DefaultMaxConnections)
	defaultTo(&c.MaxPerIP, DefaultMaxPerIP)
	defaultTo(&c.SocketBuffer, udp.DefaultBufferBytes)
	if c.WindowBudget == nil {
		c.WindowBudget = NewWindowBudget(DefaultWindowBudgetBytes)
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Stats == nil {
		c.Stats = stat.NewSet()
	}
	return c
}

// Validate reports the first field, or pair of fields, that cannot work. It takes the config with its
// defaults filled in or not.
func (c ListenConfig) Validate() error {
	c = c.withDefaults()
	switch {
	case c.Certificates == nil:
		return errors.New("transport: no certificates")
	case c.ResetKey == [32]byte{}:
		return errors.New("transport: the reset key is all zero")
	case c.MaxIdle < 0 || c.HandshakeTimeout < 0:
		return fmt.Errorf("transport: negative timeout (idle %s, handshake %s)", c.MaxIdle, c.HandshakeTimeout)
	case c.HandshakesPerSecond < 0 || c.MaxStreams < 0 || c.MaxConnections < 0 || c.SocketBuffer < 0:
		return fmt.Errorf("transport: negative bound (handshakes %d/s, streams %d, connections %d, socket buffer %d)",
			c.HandshakesPerSecond, c.MaxStreams, c.MaxConnections, c.SocketBuffer)
	case c.ConnWindow < c.PreauthConnWindow:
		return fmt.Errorf("transport: connection window %d is below the one before authentication, %d",
			c.ConnWindow, c.PreauthConnWindow)
	}
	return nil
}

// defaultTo sets *v to value if it is zero.
func defaultTo[T comparable](v *T, value T) {
	var zero T
	if *v == zero {
		*v = value
	}
}
