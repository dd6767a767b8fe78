package transport

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"

	"github.com/quic-go/quic-go"

	"github.com/felix-go/felix/dataplane/transport/udp"
)

// shutdownReason is what clients see as the reason of an orderly close.
const shutdownReason = "broker shutting down"

// Listener accepts connections on one UDP socket.
//
// Its end has two steps, because closing the QUIC listener drops new attempts silently and lets their dials
// hang: Refuse answers every new attempt with a refusal while the connections that there are live on; Close
// then ends those with a code, and the socket last.
type Listener struct {
	socket    *udp.Socket
	transport *quic.Transport
	quic      *quic.Listener
	gate      *gate

	closeOnce sync.Once
	closed    chan struct{} // closed when Close has done its work
	closeErr  error         // immutable once closed is closed
}

// Listen binds the address and accepts handshakes from then on.
func Listen(cfg ListenConfig) (*Listener, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	resetKey, tokenKey, err := deriveKeys(cfg.ResetKey)
	if err != nil {
		return nil, err
	}
	ids, err := newConnIDs()
	if err != nil {
		return nil, err
	}
	socket, err := udp.Listen(udp.Config{
		Addr: cfg.Addr, BufferBytes: cfg.SocketBuffer, DisableGRO: cfg.DisableGRO, Pad: ids.pad, Stats: cfg.Stats,
	})
	if err != nil {
		return nil, err
	}
	reportSocket(cfg.Logger, socket, cfg.SocketBuffer)
	cfg.Certificates.logger.Store(cfg.Logger)
	l := &Listener{socket: socket, gate: newGate(cfg), closed: make(chan struct{})}
	l.transport = &quic.Transport{
		Conn:                  socket.PacketConn(),
		ConnectionIDGenerator: ids,
		StatelessResetKey:     &resetKey,
		TokenGeneratorKey:     &tokenKey,
		VerifySourceAddress:   l.gate.verify,
		ConnContext:           l.gate.admit,
	}
	l.quic, err = l.transport.Listen(serverTLS(cfg.Certificates, cfg.RequireALPN), serverConfig(cfg))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("transport: cannot listen on %q: %w", cfg.Addr, err), socket.Close())
	}
	return l, nil
}

// serverConfig returns the configuration of the QUIC library for cfg. 0-RTT stays off: early data may be
// replayed.
func serverConfig(cfg ListenConfig) *quic.Config {
	p := newProfiles(&quic.Config{
		HandshakeIdleTimeout: cfg.HandshakeTimeout / 2, // the library allows twice this in all
		MaxIdleTimeout:       cfg.MaxIdle,

		InitialStreamReceiveWindow:     min(cfg.StreamWindow, cfg.PreauthConnWindow/streamShare),
		MaxStreamReceiveWindow:         cfg.StreamWindow,
		InitialConnectionReceiveWindow: cfg.PreauthConnWindow,
		MaxConnectionReceiveWindow:     cfg.ConnWindow,
		AllowConnectionWindowIncrease: func(c *quic.Conn, delta uint64) bool {
			e := entryOf(c.Context())
			return e != nil && e.grant.allow(delta)
		},

		MaxIncomingStreams:    cfg.MaxStreams,
		MaxIncomingUniStreams: cfg.MaxStreams,
	})
	chosen := p.elsewhere.Clone()
	chosen.GetConfigForClient = func(info *quic.ClientInfo) (*quic.Config, error) {
		return p.of(info.RemoteAddr), nil
	}
	return chosen
}

func reportSocket(logger *slog.Logger, socket *udp.Socket, wanted int) {
	receive, send := socket.Granted()
	logger.Info("udp socket open", "addr", socket.LocalAddr().String(), "gro", socket.GRO(),
		"receive_buffer", receive, "send_buffer", send)
	if receive < wanted || send < wanted {
		logger.Warn("udp socket buffers are smaller than asked, bursts may be lost",
			"raise", "net.core.rmem_max, net.core.wmem_max", "wanted", wanted, "receive_buffer", receive, "send_buffer", send)
	}
}

// Accept returns the next connection whose handshake completed. Failed handshakes do not show here. The error
// is ErrListenerClosed, that of ctx, or the failure of the socket, after which the listener is of no more
// use.
func (l *Listener) Accept(ctx context.Context) (*Conn, error) {
	c, err := l.quic.Accept(ctx)
	if err != nil {
		if errors.Is(err, quic.ErrServerClosed) {
			return nil, ErrListenerClosed
		}
		return nil, err
	}
	return l.established(c), nil
}

func (l *Listener) established(c *quic.Conn) *Conn {
	e := entryOf(c.Context())
	conn := newConn(c, e.grant)
	l.gate.establish(e, conn)
	return conn
}

// Refuse refuses every new connection from now on; the refused see CloseRefused.
func (l *Listener) Refuse() { l.gate.drain() }

// Addr returns the bound address.
func (l *Listener) Addr() *net.UDPAddr { return l.socket.LocalAddr().(*net.UDPAddr) }

// Close refuses new connections, ends those that are still open with CloseShutdown, waits for the last of
// them and closes the socket. Further calls wait for the first.
func (l *Listener) Close() error {
	l.closeOnce.Do(func() {
		defer close(l.closed)
		l.closeErr = l.close()
	})
	<-l.closed
	return l.closeErr
}

func (l *Listener) close() error {
	l.gate.drain()
	err := l.quic.Close() // ends handshakes; Accept returns what is queued, then its error
	for {
		c, acceptErr := l.quic.Accept(context.Background())
		if acceptErr != nil {
			break
		}
		l.established(c)
	}
	// An Accept that took its connection before that may not have noted it yet: it is ended by the transport.
	closeAll(l.gate.established(), shutdownReason)
	err = errors.Join(err, l.transport.Close(), closeSocket(l.socket))
	l.gate.wait()
	return err
}

// closeSocket closes a socket that may have been closed already.
func closeSocket(s *udp.Socket) error {
	if err := s.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}
