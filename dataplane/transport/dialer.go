package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/quic-go/quic-go"

	"github.com/felix-go/felix/dataplane/transport/udp"
)

// Dialer opens connections to brokers over one UDP socket, which its connections share; so they also share
// the goroutine that receives, and a process that moves much data spreads over several dialers. It is safe
// for concurrent use.
type Dialer struct {
	socket    *udp.Socket
	transport *quic.Transport
	tls       *tls.Config
	profiles  profiles
	logger    *slog.Logger

	mu     sync.Mutex // guards the following
	conns  map[*Conn]struct{}
	closed bool
}

// NewDialer opens the socket and reads CAFile.
func NewDialer(cfg DialConfig) (*Dialer, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	tlsConfig, err := clientTLS(cfg)
	if err != nil {
		return nil, err
	}
	socket, err := udp.Listen(udp.Config{Addr: ":0", BufferBytes: cfg.SocketBuffer, DisableGRO: cfg.DisableGRO})
	if err != nil {
		return nil, err
	}
	return &Dialer{
		socket:    socket,
		transport: &quic.Transport{Conn: socket.PacketConn()},
		tls:       tlsConfig,
		profiles:  clientProfiles(cfg),
		logger:    cfg.Logger,
		conns:     make(map[*Conn]struct{}),
	}, nil
}

// Dial opens a connection to addr, host:port, of which a name is resolved, to IPv4 if it has such an address.
// It returns when the handshake is complete. The error is one that Closed tells apart, that of ctx, or about
// the address.
func (d *Dialer) Dial(ctx context.Context, addr string) (*Conn, error) {
	peer, err := resolve(ctx, addr)
	if err != nil {
		return nil, err
	}
	profile := d.profiles.of(peer)
	c, err := d.transport.Dial(ctx, peer, d.tls, profile)
	if tooLong(err) && profile != d.profiles.elsewhere {
		d.logger.Warn("full packets are too long for the path, dialing again with small ones", "addr", addr)
		c, err = d.transport.Dial(ctx, peer, d.tls, d.profiles.elsewhere)
	}
	if errors.Is(err, quic.ErrTransportClosed) {
		return nil, ErrDialerClosed
	}
	if err != nil {
		return nil, fmt.Errorf("transport: cannot connect to %s: %w", addr, err)
	}
	conn := newConn(c, nil)
	if !d.keep(conn) {
		conn.Close(CloseShutdown, "")
		return nil, ErrDialerClosed
	}
	return conn, nil
}

// keep remembers conn until it ends, unless the dialer is closed.
func (d *Dialer) keep(conn *Conn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return false
	}
	d.conns[conn] = struct{}{}
	context.AfterFunc(conn.Context(), func() {
		d.mu.Lock()
		delete(d.conns, conn)
		d.mu.Unlock()
	})
	return true
}

// Close ends the connections that are still open with CloseShutdown, and closes the socket. Further calls do
// nothing.
func (d *Dialer) Close() error {
	d.mu.Lock()
	d.closed = true
	conns := slices.Collect(maps.Keys(d.conns))
	d.mu.Unlock()
	closeAll(conns, "")
	return errors.Join(d.transport.Close(), closeSocket(d.socket))
}

func clientTLS(cfg DialConfig) (*tls.Config, error) {
	roots := cfg.RootCAs
	if cfg.CAFile != "" {
		file, err := os.ReadFile(cfg.CAFile)
		if err != nil {
			return nil, fmt.Errorf("transport: cannot read the CA file: %w", err)
		}
		roots = x509.NewCertPool()
		if !roots.AppendCertsFromPEM(file) {
			return nil, fmt.Errorf("transport: CA file %q holds no certificate", cfg.CAFile)
		}
	}
	config := &tls.Config{
		MinVersion:         tls.VersionTLS13,
		ServerName:         cfg.ServerName,
		RootCAs:            roots,
		ClientSessionCache: tls.NewLRUClientSessionCache(cachedSessions),
	}
	if cfg.OfferALPN {
		config.NextProtos = []string{ALPN}
	}
	return config, nil
}

func clientProfiles(cfg DialConfig) profiles {
	return newProfiles(&quic.Config{
		HandshakeIdleTimeout: cfg.DialTimeout / 2, // the library allows twice this in all
		MaxIdleTimeout:       cfg.MaxIdle,
		KeepAlivePeriod:      cfg.KeepAlive,

		InitialStreamReceiveWindow:     cfg.StreamWindow,
		MaxStreamReceiveWindow:         cfg.StreamWindow,
		InitialConnectionReceiveWindow: cfg.ConnWindow,
		MaxConnectionReceiveWindow:     cfg.ConnWindow,

		MaxIncomingStreams:    cfg.MaxStreams,
		MaxIncomingUniStreams: cfg.MaxStreams,
		TokenStore:            quic.NewLRUTokenStore(cachedTokenOrigins, cachedTokensPerName),
	})
}

func resolve(ctx context.Context, addr string) (*net.UDPAddr, error) {
	host, portText, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("transport: bad address %q: %w", addr, err)
	}
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil || port == 0 {
		return nil, fmt.Errorf("transport: bad port in address %q", addr)
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, fmt.Errorf("transport: cannot resolve %q: %w", addr, err)
	}
	chosen := ips[0]
	for _, ip := range ips {
		if ip.Unmap().Is4() {
			chosen = ip.Unmap()
			break
		}
	}
	return net.UDPAddrFromAddrPort(netip.AddrPortFrom(chosen, uint16(port))), nil
}

// tooLong reports whether a dial failed because the kernel refused the size of a packet. The QUIC library
// keeps only the text of that error.
func tooLong(err error) bool {
	failed, ok := errors.AsType[*quic.TransportError](err)
	return ok && !failed.Remote && failed.ErrorCode == quic.InternalError &&
		strings.Contains(failed.ErrorMessage, syscall.EMSGSIZE.Error())
}
