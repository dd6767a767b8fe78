package transport

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/felix-go/felix/dataplane/stat"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must happen.
const patience = 20 * time.Second

// node is what a broker brings to its listener: it survives the listener, as the state directory does.
type node struct {
	stateDir string
	certs    *Certificates
	resetKey [32]byte
	stats    *stat.Set
}

func newNode(t *testing.T) *node {
	t.Helper()
	n := &node{stateDir: t.TempDir(), stats: stat.NewSet()}
	var err error
	if n.certs, err = SelfSigned(n.stateDir); err != nil {
		t.Fatal(err)
	}
	if n.resetKey, err = LoadResetKey(n.stateDir); err != nil {
		t.Fatal(err)
	}
	return n
}

// listen opens a listener on loopback; edit changes its configuration.
func (n *node) listen(t *testing.T, edit func(*ListenConfig)) *Listener {
	t.Helper()
	cfg := ListenConfig{Addr: "127.0.0.1:0", Certificates: n.certs, ResetKey: n.resetKey, Stats: n.stats}
	if edit != nil {
		edit(&cfg)
	}
	l, err := Listen(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("close of the listener: %v", err)
		}
		if open := n.stats.Gauge("felix_quic_connections", "").Load(); open != 0 {
			t.Errorf("%d connections are open after the listener was closed", open)
		}
		if used := n.stats.Gauge("felix_quic_window_granted_bytes", "").Load(); used != 0 {
			t.Errorf("%d bytes of window are granted after the listener was closed", used)
		}
	})
	return l
}

// count returns a counter or gauge of the node.
func (n *node) count(name string) int64 { return n.stats.Snapshot()[name] }

// dialer opens a dialer that trusts the node.
func (n *node) dialer(t *testing.T, edit func(*DialConfig)) *Dialer {
	t.Helper()
	cfg := DialConfig{CAFile: n.certs.CAFile()}
	if edit != nil {
		edit(&cfg)
	}
	d, err := NewDialer(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Errorf("close of the dialer: %v", err)
		}
	})
	return d
}

// within returns a context that ends after patience.
func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// connect dials l and returns both ends.
func connect(t *testing.T, d *Dialer, l *Listener) (client, server *Conn) {
	t.Helper()
	client, err := d.Dial(within(t), l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	server, err = l.Accept(within(t))
	if err != nil {
		t.Fatal(err)
	}
	return client, server
}

// roundTrip sends a few bytes from client to server and back.
func roundTrip(t *testing.T, client, server *Conn) {
	t.Helper()
	out, err := client.OpenStream(within(t))
	if err != nil {
		t.Fatal(err)
	}
	sent := make([]byte, 3000)
	rand.Read(sent)
	write(t, out.Send(), sent)
	in, err := server.AcceptStream(within(t))
	if err != nil {
		t.Fatal(err)
	}
	echoed := read(t, in.Receive())
	write(t, in.Send(), echoed)
	if got := read(t, out.Receive()); string(got) != string(sent) {
		t.Fatalf("%d bytes came back changed (%d)", len(sent), len(got))
	}
}

// write sends all of b and FIN.
func write(t *testing.T, s *SendStream, b []byte) {
	t.Helper()
	if _, err := s.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// read returns everything up to FIN.
func read(t *testing.T, s *ReceiveStream) []byte {
	t.Helper()
	if err := s.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// closedWith waits for the end of c and returns how it ended.
func closedWith(t *testing.T, c *Conn) CloseInfo {
	t.Helper()
	select {
	case <-c.Done():
	case <-time.After(patience):
		t.Fatal("the connection does not end")
	}
	info, ok := Closed(c.Cause())
	if !ok {
		t.Fatalf("Closed does not know %v", c.Cause())
	}
	return info
}

// eventually waits until ok holds.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
		time.Sleep(time.Millisecond) // polling, the condition is checked above
	}
}

// refusal returns how a failed dial was closed.
func refusal(t *testing.T, err error) CloseInfo {
	t.Helper()
	if err == nil {
		t.Fatal("the dial succeeded")
	}
	if errors.Is(err, context.DeadlineExceeded) {
		t.Fatal("the dial hung")
	}
	info, ok := Closed(err)
	if !ok {
		t.Fatalf("Closed does not know %v", err)
	}
	return info
}
