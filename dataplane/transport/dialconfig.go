package transport

import (
	"crypto/x509"
	"fmt"
	"log/slog"
	"time"
)

// Defaults of DialConfig.
const (
	DefaultServerName       = "localhost"
	DefaultKeepAlive        = 2 * time.Second
	DefaultDialTimeout      = 10 * time.Second
	DefaultDialStreamWindow = 64 << 20
	DefaultDialConnWindow   = 256 << 20
)

// Sizes of the dialer's caches: sessions to resume, and address tokens that save a round trip when the broker
// checks addresses.
const (
	cachedSessions      = 64
	cachedTokenOrigins  = 16
	cachedTokensPerName = 4
)

// DialConfig says how to open a Dialer. The zero value of every field is its default.
type DialConfig struct {
	// ServerName is the name that the broker's certificate must carry, the same for every broker of a
	// cluster; an IP address is legal. Default "localhost".
	ServerName string
	// CAFile is a PEM file of the certificates to trust: a CA, or a self-signed leaf itself. Empty means
	// RootCAs.
	CAFile string
	// RootCAs is what to trust if CAFile is empty; nil means the platform's store. There is no way to trust
	// anything.
	RootCAs *x509.CertPool
	// OfferALPN offers felix/1; by default nothing is offered, as by the shipped clients.
	OfferALPN bool

	// MaxIdle ends a connection on which nothing arrived for so long; the smaller value of both ends counts.
	// Default 6 s.
	MaxIdle time.Duration
	// KeepAlive is how often an idle connection is probed. Default 2 s; a value of half of MaxIdle or more
	// becomes a third of it.
	KeepAlive time.Duration
	// DialTimeout bounds one handshake; half of it without an answer ends one too. Default 10 s.
	DialTimeout time.Duration
	// MaxStreams bounds the concurrent streams that a broker may open, per direction. Default 1024. Every
	// subscription takes one.
	MaxStreams int64
	// StreamWindow and ConnWindow bound what may lie unread, per stream and per connection. Default 64 and
	// 256 MiB.
	StreamWindow uint64
	ConnWindow   uint64

	// SocketBuffer is asked of the kernel for each direction, in bytes. Default 8 MiB.
	SocketBuffer int
	// DisableGRO receives one datagram per system call.
	DisableGRO bool
	// Logger tells of dials that fell back to small packets; nil is silent.
	Logger *slog.Logger
}

func (c DialConfig) withDefaults() DialConfig {
	defaultTo(&c.ServerName, DefaultServerName)
	defaultTo(&c.MaxIdle, DefaultMaxIdle)
	defaultTo(&c.KeepAlive, DefaultKeepAlive)
	if c.KeepAlive >= c.MaxIdle/2 {
		c.KeepAlive = c.MaxIdle / 3
	}
	defaultTo(&c.DialTimeout, DefaultDialTimeout)
	defaultTo(&c.MaxStreams, DefaultMaxStreams)
	defaultTo(&c.StreamWindow, DefaultDialStreamWindow)
	defaultTo(&c.ConnWindow, DefaultDialConnWindow)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// Validate reports the first field that cannot work.
func (c DialConfig) Validate() error {
	switch {
	case c.MaxIdle < 0 || c.KeepAlive < 0 || c.DialTimeout < 0:
		return fmt.Errorf("transport: negative duration (idle %s, keep-alive %s, dial timeout %s)",
			c.MaxIdle, c.KeepAlive, c.DialTimeout)
	case c.MaxStreams < 0 || c.SocketBuffer < 0:
		return fmt.Errorf("transport: negative bound (streams %d, socket buffer %d)", c.MaxStreams, c.SocketBuffer)
	}
	return nil
}
