package transport

import (
	"errors"
	"testing"
	"time"
)

// kill ends the process of l as far as its peers can tell: the socket is gone and nobody was told.
func kill(t *testing.T, l *Listener) {
	t.Helper()
	if err := l.socket.Close(); err != nil {
		t.Fatal(err)
	}
}

// sendUntilClosed keeps client sending and returns how the connection ended.
func sendUntilClosed(t *testing.T, client *Conn) CloseInfo {
	t.Helper()
	stream, err := client.OpenStream(within(t))
	if err != nil {
		t.Fatal(err)
	}
	message := make([]byte, 100) // an answer is due to packets above 42 bytes only
	for {
		if _, err := stream.Write(message); err != nil {
			break
		}
		select {
		case <-client.Done():
		case <-time.After(time.Millisecond):
			continue
		}
		break
	}
	return closedWith(t, client)
}

// TestRestart: with the same reset key a client that sends learns at once that its connection is gone, and
// its dialer reaches the restarted broker.
func TestRestart(t *testing.T) {
	n := newNode(t)
	l, d := n.listen(t, nil), n.dialer(t, nil)
	client, server := connect(t, d, l)
	roundTrip(t, client, server)
	kill(t, l)
	again := n.listen(t, func(c *ListenConfig) { c.Addr = l.Addr().String() })
	start := time.Now()
	if info := sendUntilClosed(t, client); info.Kind != CloseReset || !info.Remote {
		t.Fatalf("the client saw %+v", info)
	}
	t.Logf("told after %s", time.Since(start))
	client, server = connect(t, d, again)
	roundTrip(t, client, server)
}

// TestRestartIdleClient: a client that only pings, because it is idle or waits for an answer, learns of the restart too.
func TestRestartIdleClient(t *testing.T) {
	n := newNode(t)
	l := n.listen(t, nil)
	d := n.dialer(t, func(c *DialConfig) { c.MaxIdle, c.KeepAlive = 30*time.Second, 200*time.Millisecond })
	client, server := connect(t, d, l)
	roundTrip(t, client, server)
	kill(t, l)
	n.listen(t, func(c *ListenConfig) { c.Addr = l.Addr().String() })
	if info := closedWith(t, client); info.Kind != CloseReset || !info.Remote {
		t.Fatalf("the client saw %+v", info)
	}
}

// TestPadding: only small short-header packets of another process are padded, and never to where a reset would answer a reset.
func TestPadding(t *testing.T) {
	ids, err := newConnIDs()
	if err != nil {
		t.Fatal(err)
	}
	id, err := ids.GenerateConnectionID()
	if err != nil || id.Len() != ids.ConnectionIDLen() {
		t.Fatalf("%v %v", id, err)
	}
	own := append([]byte{0x40}, append(id.Bytes(), make([]byte, 60)...)...)
	foreign := append([]byte{0x40}, make([]byte, 70)...)
	foreign[1] = ids.epoch[0] ^ 1
	long := append([]byte{0xC0}, foreign[1:]...)
	for n := range 70 {
		if got := ids.pad(own[:min(n, len(own))]); got != min(n, len(own)) {
			t.Errorf("own packet of %d bytes padded to %d", n, got)
		}
		if got := ids.pad(long[:n]); got != n {
			t.Errorf("long-header packet of %d bytes padded to %d", n, got)
		}
		want := n
		if n >= 21 && n <= 40 {
			want = 43
		}
		if got := ids.pad(foreign[:n]); got != want {
			t.Errorf("foreign packet of %d bytes padded to %d, want %d", n, got, want)
		}
	}
}

// TestRestartOtherKey: with another key it has to wait for its idle timeout.
func TestRestartOtherKey(t *testing.T) {
	n := newNode(t)
	l := n.listen(t, nil)
	d := n.dialer(t, func(c *DialConfig) { c.MaxIdle = time.Second })
	client, server := connect(t, d, l)
	roundTrip(t, client, server)
	addr := l.Addr().String()
	kill(t, l)
	n.listen(t, func(c *ListenConfig) { c.Addr, c.ResetKey[0] = addr, c.ResetKey[0]^1 })
	if info := sendUntilClosed(t, client); info.Kind != CloseIdle {
		t.Fatalf("the client saw %+v", info)
	}
}

// TestSocketFailure: the listener of a broken socket says so in Accept and can be closed.
func TestSocketFailure(t *testing.T) {
	n := newNode(t)
	l, d := n.listen(t, nil), n.dialer(t, nil)
	connect(t, d, l)
	kill(t, l)
	if _, err := l.Accept(within(t)); err == nil || errors.Is(err, ErrListenerClosed) {
		t.Fatalf("Accept returned %v", err)
	}
	eventually(t, "no connection is left", func() bool { return n.count("felix_quic_connections") == 0 })
}
