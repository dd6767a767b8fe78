package transport

import (
	"io"
	"sync"
	"testing"
	"time"
)

// preauthSlack is what an unauthenticated peer may cost beyond its window: packet and frame headers, the
// handshake, retransmissions.
const preauthSlack = 24 << 10

// flood writes total bytes from client over count streams that nobody reads. The returned func stops it.
func flood(t *testing.T, client *Conn, count, total int) (stop func()) {
	t.Helper()
	var writers sync.WaitGroup
	opened := make([]*SendStream, count)
	for i := range opened {
		stream, err := client.OpenUniStreamSync(within(t))
		if err != nil {
			t.Fatal(err)
		}
		opened[i] = stream
		writers.Go(func() { stream.Write(make([]byte, total/count)) })
	}
	return func() {
		for _, stream := range opened {
			stream.Reset(StreamCancelled)
		}
		writers.Wait()
	}
}

// settle gives bytes that must not come some time to come.
func settle() { time.Sleep(100 * time.Millisecond) }

// TestWindowBeforeAuthentication: on one stream or on many, a peer that nobody has authenticated gets 64 KiB
// in.
func TestWindowBeforeAuthentication(t *testing.T) {
	for _, count := range []int{1, 4, 10, 500} {
		n := newNode(t)
		client, server := connect(t, n.dialer(t, nil), n.listen(t, nil))
		stop := flood(t, client, count, 8<<20)
		received := func() uint64 { return server.quic.ConnectionStats().BytesReceived }
		full := uint64(min(DefaultPreauthConnWindow, count*DefaultPreauthConnWindow/streamShare))
		eventually(t, "the window is full", func() bool { return received() >= full })
		settle()
		if got := received(); got > DefaultPreauthConnWindow+preauthSlack {
			t.Fatalf("%d streams brought %d bytes in before authentication", count, got)
		}
		if granted := n.count("felix_quic_window_granted_bytes"); granted != 0 {
			t.Fatalf("%d bytes of window were granted", granted)
		}
		t.Logf("%d streams: %d bytes received, with headers and handshake", count, received())
		stop()
	}
}

// TestReadingDoesNotOpenTheWindow: what is read before authentication is replaced, and no more.
func TestReadingDoesNotOpenTheWindow(t *testing.T) {
	n := newNode(t)
	client, server := connect(t, n.dialer(t, nil), n.listen(t, nil))
	upload(t, client, server, 8<<20)
	if granted := n.count("felix_quic_window_granted_bytes"); granted != 0 {
		t.Fatalf("%d bytes of window were granted", granted)
	}
	defer flood(t, client, 10, 8<<20)()
	settle()
	got := int(server.quic.ConnectionStats().BytesReceived)
	if limit := 8<<20 + 8<<20/10 + DefaultPreauthConnWindow + preauthSlack; got > limit {
		t.Fatalf("%d bytes came in", got)
	}
}

// upload sends total bytes from client to server on one stream and returns how many were read in a second.
func upload(t *testing.T, client, server *Conn, total int) (bytesPerSecond float64) {
	t.Helper()
	out, err := client.OpenUniStreamSync(within(t))
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	sent := make(chan error, 1)
	go func() {
		chunk := make([]byte, 64<<10)
		for left := total; left > 0; left -= len(chunk) {
			if _, err := out.Write(chunk[:min(left, len(chunk))]); err != nil {
				sent <- err
				return
			}
		}
		sent <- out.Close()
	}()
	in, err := server.AcceptUniStream(within(t))
	if err != nil {
		t.Fatal(err)
	}
	in.SetReadDeadline(time.Now().Add(patience))
	got, err := io.Copy(io.Discard, in)
	if err != nil || got != int64(total) {
		t.Fatalf("%d of %d bytes were read: %v", got, total, err)
	}
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	return float64(total) / time.Since(start).Seconds()
}

// TestWindowAfterAuthentication: the window opens, within the budget, and is given back.
func TestWindowAfterAuthentication(t *testing.T) {
	n := newNode(t)
	budget := NewWindowBudget(DefaultWindowBudgetBytes)
	l := n.listen(t, func(c *ListenConfig) { c.WindowBudget = budget })
	client, server := connect(t, n.dialer(t, nil), l)
	server.Authenticated()
	server.Authenticated()
	rate := upload(t, client, server, 64<<20)
	granted := n.count("felix_quic_window_granted_bytes")
	if granted == 0 || granted != budget.Used() || granted > DefaultConnWindow-DefaultPreauthConnWindow {
		t.Fatalf("%d bytes granted, %d of the budget used", granted, budget.Used())
	}
	t.Logf("64 MiB at %.0f MB/s, %d bytes of window granted", rate/1e6, granted)
	client.Close(CloseShutdown, "")
	closedWith(t, server)
	eventually(t, "the grants are given back", func() bool {
		return budget.Used() == 0 && n.count("felix_quic_window_granted_bytes") == 0
	})
}

// TestSharedBudget: when it is used up connections go on with the window they have.
func TestSharedBudget(t *testing.T) {
	n := newNode(t)
	const bytes = 256 << 10
	budget := NewWindowBudget(bytes)
	l, d := n.listen(t, func(c *ListenConfig) { c.WindowBudget = budget }), n.dialer(t, nil)
	for range 3 {
		client, server := connect(t, d, l)
		server.Authenticated()
		upload(t, client, server, 8<<20)
		if used := budget.Used(); used > bytes {
			t.Fatalf("%d bytes granted out of %d", used, bytes)
		}
	}
	if n.count("felix_quic_window_refused_total") == 0 {
		t.Fatal("no increase was refused")
	}
}

func TestGrant(t *testing.T) {
	n := newNode(t)
	budget := NewWindowBudget(100)
	g := &grant{budget: budget, count: newWindowCounters(n.stats)}
	if g.allow(1) {
		t.Fatal("granted before authentication")
	}
	g.authenticate()
	if !g.allow(60) || g.allow(41) || !g.allow(40) || budget.Used() != 100 {
		t.Fatalf("%d bytes used", budget.Used())
	}
	g.end()
	g.end()
	if g.allow(1) || budget.Used() != 0 {
		t.Fatalf("%d bytes used after the end", budget.Used())
	}
}

// TestUnreadStream: a stream that nobody reads, from its start or any longer after it was fast, does not stop
// the others of its connection.
func TestUnreadStream(t *testing.T) {
	for _, readBefore := range []int64{0, 1 << 10, 8 << 20} {
		n := newNode(t)
		client, server := connect(t, n.dialer(t, nil), n.listen(t, nil))
		server.Authenticated()
		stop := flood(t, client, 1, 64<<20)
		stalled, err := server.AcceptUniStream(within(t))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.CopyN(io.Discard, stalled, readBefore); err != nil {
			t.Fatal(err)
		}
		settle() // the stream fills its window
		upload(t, client, server, 4<<20)
		stop()
	}
}
