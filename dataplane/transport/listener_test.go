package transport

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
)

func TestRoundTrip(t *testing.T) {
	for _, addr := range []string{"127.0.0.1:0", "0.0.0.0:0", "[::1]:0", "[::]:0", ":0"} {
		for _, gro := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s gro=%v", addr, gro), func(t *testing.T) {
				n := newNode(t)
				l := n.listen(t, func(c *ListenConfig) { c.Addr, c.DisableGRO = addr, !gro })
				d := n.dialer(t, func(c *DialConfig) { c.DisableGRO = !gro })
				host := "127.0.0.1"
				if addr == "[::1]:0" {
					host = "::1"
				}
				client, err := d.Dial(within(t), net.JoinHostPort(host, fmt.Sprint(l.Addr().Port)))
				if err != nil {
					t.Fatal(err)
				}
				server, err := l.Accept(within(t))
				if err != nil {
					t.Fatal(err)
				}
				roundTrip(t, client, server)
				client.Close(CloseShutdown, "done")
				want := CloseInfo{Kind: CloseApplication, Code: CloseShutdown, Reason: "done", Remote: true}
				if info := closedWith(t, server); info != want {
					t.Fatalf("the server saw %+v", info)
				}
			})
		}
	}
}

func TestDialByName(t *testing.T) {
	n := newNode(t)
	l, d := n.listen(t, nil), n.dialer(t, nil)
	client, err := d.Dial(within(t), fmt.Sprintf("localhost:%d", l.Addr().Port))
	if err != nil {
		t.Fatal(err)
	}
	if got := client.RemoteAddr().String(); got != l.Addr().String() {
		t.Fatalf("connected to %s", got)
	}
	for _, bad := range []string{"localhost", "127.0.0.1:0", "127.0.0.1:quic", "127.0.0.1:70000"} {
		if _, err := d.Dial(within(t), bad); err == nil {
			t.Errorf("%q is dialed", bad)
		}
	}
}

// TestListenerClose ends every connection with a code, then Accept and further dials fail.
func TestListenerClose(t *testing.T) {
	n := newNode(t)
	l, d := n.listen(t, nil), n.dialer(t, nil)
	accepted, _ := connect(t, d, l)
	waiting, err := d.Dial(within(t), l.Addr().String()) // nobody accepts it
	if err != nil {
		t.Fatal(err)
	}
	accept := make(chan error, 1)
	var closers sync.WaitGroup
	for range 3 {
		closers.Go(func() {
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	closers.Wait()
	go func() {
		_, err := l.Accept(context.Background())
		accept <- err
	}()
	if err := <-accept; !errors.Is(err, ErrListenerClosed) {
		t.Fatalf("Accept returned %v", err)
	}
	want := CloseInfo{Kind: CloseApplication, Code: CloseShutdown, Reason: shutdownReason, Remote: true}
	if info := closedWith(t, accepted); info != want {
		t.Fatalf("a client saw %+v", info)
	}
	// The one that nobody accepted is ended too; the broker's side of its handshake may not have been
	// complete.
	if info := closedWith(t, waiting); info != want && info.Kind != CloseRefused {
		t.Fatalf("the waiting client saw %+v", info)
	}
}

func TestAcceptContext(t *testing.T) {
	l := newNode(t).listen(t, nil)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := l.Accept(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("Accept returned %v", err)
	}
}

func TestRefusals(t *testing.T) {
	const refused = "felix_quic_connections_refused_total"
	for _, c := range []struct {
		reason string
		edit   func(*ListenConfig)
		before func(*Listener)
	}{
		{reason: "max_connections", edit: func(c *ListenConfig) { c.MaxConnections = 2 }},
		{reason: "max_per_ip", edit: func(c *ListenConfig) { c.MaxPerIP = 2 }},
		{reason: "draining", before: (*Listener).Refuse},
	} {
		t.Run(c.reason, func(t *testing.T) {
			n := newNode(t)
			l := n.listen(t, func(cfg *ListenConfig) {
				cfg.HandshakeTimeout = time.Second
				if c.edit != nil {
					c.edit(cfg)
				}
			})
			d := n.dialer(t, nil)
			first, server := connect(t, d, l)
			connect(t, d, l)
			if c.before != nil {
				c.before(l)
			}
			_, err := d.Dial(within(t), l.Addr().String())
			if info := refusal(t, err); info.Kind != CloseRefused || !info.Remote {
				t.Fatalf("refused as %+v", info)
			}
			if n.count(refused+`{reason="`+c.reason+`"}`) == 0 {
				t.Fatalf("not counted: %v", n.stats.Snapshot())
			}
			roundTrip(t, first, server) // the others live on
			if open := n.count("felix_quic_connections"); open != 2 {
				t.Fatalf("%d connections counted, want 2", open)
			}
			if c.before != nil {
				return
			}
			// The place is free again. A second packet of the refused handshake may take it until it times
			// out.
			first.Close(CloseShutdown, "")
			eventually(t, "a further connection", func() bool {
				_, err := d.Dial(within(t), l.Addr().String())
				return err == nil
			})
		})
	}
}

func TestPerIPUnbounded(t *testing.T) {
	n := newNode(t)
	l, d := n.listen(t, func(c *ListenConfig) { c.MaxPerIP = -1 }), n.dialer(t, nil)
	for range 3 {
		connect(t, d, l)
	}
}

func TestIPOf(t *testing.T) {
	mapped, plain := net.ParseIP("::ffff:192.0.2.7"), net.IPv4(192, 0, 2, 7).To4()
	if ipOf(&net.UDPAddr{IP: mapped}) != ipOf(&net.UDPAddr{IP: plain}) {
		t.Fatal("an IPv4-mapped address is another client than the IPv4 one")
	}
}

// TestChurn leaves no connection counted, whoever ends it and how.
func TestChurn(t *testing.T) {
	n := newNode(t)
	l, d := n.listen(t, nil), n.dialer(t, nil)
	var servers sync.WaitGroup
	accepting := make(chan struct{})
	go func() {
		defer close(accepting)
		for {
			server, err := l.Accept(context.Background())
			if err != nil {
				return
			}
			servers.Go(func() {
				if server.ID()%2 == 0 {
					server.Authenticated()
					server.Close(CloseAbuse, "even")
				}
				<-server.Done()
			})
		}
	}()
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			for range 10 {
				c, err := d.Dial(within(t), l.Addr().String())
				if err != nil {
					t.Error(err)
					return
				}
				c.Close(CloseShutdown, "")
			}
		})
	}
	clients.Wait()
	eventually(t, "the gauge is zero", func() bool { return n.count("felix_quic_connections") == 0 })
	if got := n.count("felix_quic_handshakes"); got != 0 {
		t.Fatalf("%d handshakes are counted as under way", got)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	<-accepting
	servers.Wait()
}

// deafConn sends and never receives: the handshakes of its clients stay half open.
type deafConn struct {
	net.PacketConn
	closed chan struct{}
}

func (c *deafConn) ReadFrom([]byte) (int, net.Addr, error) {
	<-c.closed
	return 0, nil, net.ErrClosed
}

func (c *deafConn) SetReadDeadline(time.Time) error {
	select {
	case <-c.closed:
	default:
		close(c.closed)
	}
	return nil
}

// halfOpen starts count handshakes that nobody continues, until the test ends.
func halfOpen(t *testing.T, d *Dialer, l *Listener, count int) {
	t.Helper()
	socket, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	transport := &quic.Transport{Conn: &deafConn{PacketConn: socket, closed: make(chan struct{})}}
	ctx, cancel := context.WithCancel(context.Background())
	var dials sync.WaitGroup
	for range count {
		dials.Go(func() {
			if c, err := transport.Dial(ctx, l.Addr(), d.tls, d.profiles.loopback); err == nil {
				t.Error("a handshake completed without receiving anything")
				c.CloseWithError(0, "")
			}
		})
	}
	t.Cleanup(func() {
		cancel()
		dials.Wait()
		transport.Close()
		socket.Close()
	})
}

// TestHalfOpenHandshakes: fifty of them do not keep a good client out.
func TestHalfOpenHandshakes(t *testing.T) {
	n := newNode(t)
	l, d := n.listen(t, nil), n.dialer(t, nil)
	halfOpen(t, d, l, 50)
	eventually(t, "fifty half-open handshakes", func() bool { return n.count("felix_quic_handshakes") == 50 })
	client, server := connect(t, d, l)
	roundTrip(t, client, server)
	if n.count("felix_quic_connections_accepted_total") != 1 {
		t.Fatal("a half-open handshake was accepted")
	}
}

// TestAddressChecks: more of them do not take all places, since from some number on clients have to prove
// their address, which costs a good client a round trip and no more.
func TestAddressChecks(t *testing.T) {
	n := newNode(t)
	l := n.listen(t, func(c *ListenConfig) { c.MaxConnections, c.MaxPerIP = 100, -1 })
	d := n.dialer(t, nil)
	halfOpen(t, d, l, 150)
	eventually(t, "address checks", func() bool {
		return n.count("felix_quic_address_checks_total") >= 150-minHalfOpen
	})
	if open := n.count("felix_quic_handshakes"); open > minHalfOpen {
		t.Fatalf("%d handshakes are half open, want at most %d", open, minHalfOpen)
	}
	client, server := connect(t, d, l)
	roundTrip(t, client, server)
}

// TestAddressChecksPerIP: an address that has half of its places pays the round trip, and gets the other
// half.
func TestAddressChecksPerIP(t *testing.T) {
	n := newNode(t)
	l := n.listen(t, func(c *ListenConfig) { c.MaxPerIP = 10 })
	for i := range 10 {
		if checks := n.count("felix_quic_address_checks_total"); i <= 6 && checks != 0 {
			t.Fatalf("%d addresses were checked before connection %d", checks, i)
		}
		// A dialer of its own: the token of an earlier connection is proof enough.
		connect(t, n.dialer(t, nil), l)
	}
	if n.count("felix_quic_address_checks_total") == 0 {
		t.Fatal("no address was checked")
	}
}

// TestHandshakeRate checks addresses above the rate.
func TestHandshakeRate(t *testing.T) {
	n := newNode(t)
	l := n.listen(t, func(c *ListenConfig) { c.HandshakesPerSecond = 1 })
	for range 10 {
		connect(t, n.dialer(t, nil), l)
	}
	if n.count("felix_quic_address_checks_total") == 0 {
		t.Fatal("no address was checked")
	}
}

// TestHandshakeTimeout ends a half-open handshake.
func TestHandshakeTimeout(t *testing.T) {
	n := newNode(t)
	l := n.listen(t, func(c *ListenConfig) { c.HandshakeTimeout = 200 * time.Millisecond })
	d := n.dialer(t, nil)
	halfOpen(t, d, l, 5)
	eventually(t, "the handshakes have failed", func() bool {
		return n.count("felix_quic_handshakes_failed_total") >= 5
	})
}

func TestListenConfig(t *testing.T) {
	n := newNode(t)
	good := ListenConfig{Addr: "127.0.0.1:0", Certificates: n.certs, ResetKey: n.resetKey}
	for name, edit := range map[string]func(*ListenConfig){
		"no certificates":  func(c *ListenConfig) { c.Certificates = nil },
		"no reset key":     func(c *ListenConfig) { c.ResetKey = [32]byte{} },
		"negative idle":    func(c *ListenConfig) { c.MaxIdle = -1 },
		"negative streams": func(c *ListenConfig) { c.MaxStreams = -1 },
		"window pair":      func(c *ListenConfig) { c.ConnWindow = 1 << 10 },
		"address":          func(c *ListenConfig) { c.Addr = "nowhere" },
	} {
		bad := good
		edit(&bad)
		if l, err := Listen(bad); err == nil {
			l.Close()
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := NewDialer(DialConfig{MaxIdle: -1}); err == nil {
		t.Error("a negative idle timeout is accepted by the dialer")
	}
	if _, err := NewDialer(DialConfig{CAFile: n.certs.keyFile}); err == nil {
		t.Error("a CA file without certificates is accepted")
	}
	if _, err := NewDialer(DialConfig{CAFile: "/nowhere"}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing CA file gives %v", err)
	}
	if c := (DialConfig{MaxIdle: 3 * time.Second}).withDefaults(); c.KeepAlive != time.Second {
		t.Errorf("keep-alive %s with an idle timeout of %s", c.KeepAlive, c.MaxIdle)
	}
}
