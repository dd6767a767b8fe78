package udp

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/felix-go/felix/dataplane/stat"
)

// blocked runs ReadBatch on its own goroutine, lets it block, and returns what will be its error.
func blocked(t *testing.T, s *Socket) <-chan error {
	t.Helper()
	started, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		close(started)
		_, err := s.ReadBatch(slots(slotCount), 0)
		ended <- err
	}()
	<-started
	time.Sleep(10 * time.Millisecond) // more likely blocked by now; the test holds if not
	return ended
}

func outcome(t *testing.T, ended <-chan error) error {
	t.Helper()
	select {
	case err := <-ended:
		return err
	case <-time.After(patience):
		t.Fatal("the blocked reader was not woken")
		return nil
	}
}

func TestCloseWakesReader(t *testing.T) {
	for _, gro := range []bool{true, false} {
		s, _ := open(t, "127.0.0.1:0", gro)
		ended := blocked(t, s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if err := outcome(t, ended); !errors.Is(err, ErrClosed) || !errors.Is(err, net.ErrClosed) {
			t.Fatalf("got %v", err)
		}
	}
}

func TestDeadlineWakesReader(t *testing.T) {
	s, _ := open(t, "127.0.0.1:0", true)
	ended := blocked(t, s)
	if err := s.SetReadDeadline(time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := outcome(t, ended); !errors.Is(err, ErrDeadline) || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("got %v", err)
	}
	// And it reads again after that.
	if err := s.SetReadDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	newSender(t, "127.0.0.1", s).send([]byte("again"))
	r := &receiver{t: t, s: s}
	if m := r.next(); m.N != 5 {
		t.Fatalf("got %d bytes", m.N)
	}
}

// TestErrorsAreFinal: none of the errors may look temporary to the QUIC library.
func TestErrorsAreFinal(t *testing.T) {
	s, set := open(t, "127.0.0.1:0", true)
	deadline := &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}
	broken := &net.OpError{Op: "read", Err: os.NewSyscallError("recvmsg", unix.ENOTSOCK)}
	for _, cause := range []error{deadline, broken, net.ErrClosed} {
		err := s.survive(cause)
		if err == nil {
			t.Fatalf("%v is survived", cause)
		}
		if _, isNet := err.(net.Error); isNet {
			t.Fatalf("%v is a net.Error", err)
		}
	}
	for _, errno := range []syscall.Errno{unix.ENOBUFS, unix.ECONNREFUSED, unix.EHOSTUNREACH} {
		if err := s.survive(&net.OpError{Op: "read", Err: os.NewSyscallError("recvmsg", errno)}); err != nil {
			t.Fatalf("%v ends the reader", errno)
		}
	}
	if n := set.Snapshot()["felix_udp_read_errors_total"]; n != 3 {
		t.Fatalf("%d passing errors counted, want 3", n)
	}
	s.failures = maxReadErrors
	if s.survive(&net.OpError{Op: "read", Err: os.NewSyscallError("recvmsg", unix.ENOBUFS)}) == nil {
		t.Fatal("a socket that only fails is read for ever")
	}
}

// TestUnreachablePeer: what the kernel reports about a peer that is gone does not end the reader.
func TestUnreachablePeer(t *testing.T) {
	s, _ := open(t, "127.0.0.1:0", true)
	gone := newSender(t, "127.0.0.1", s)
	gone.conn.Close()
	for range 10 {
		_, _, err := s.WriteMsgUDP([]byte("anybody there"), nil, gone.conn.LocalAddr().(*net.UDPAddr))
		if err != nil {
			t.Fatal(err)
		}
	}
	newSender(t, "127.0.0.1", s).send([]byte("here"))
	r := &receiver{t: t, s: s}
	if m := r.next(); m.N != 4 {
		t.Fatalf("got %d bytes", m.N)
	}
}

func TestAddressesAreShared(t *testing.T) {
	for _, bind := range binds {
		s, _ := open(t, bind.listen, true)
		from, other, r := newSender(t, bind.host, s), newSender(t, bind.host, s), &receiver{t: t, s: s}
		var seen [2]net.Addr
		for round := range 3 {
			for i, one := range []*sender{from, other} {
				one.send([]byte("x"))
				got := r.next().Addr
				if want := one.conn.LocalAddr().String(); got.String() != want {
					t.Fatalf("%s: from %s, want %s", bind.name, got, want)
				}
				if round > 0 && got != seen[i] {
					t.Fatalf("%s: the same peer has two addresses", bind.name)
				}
				seen[i] = got
			}
		}
	}
}

func TestPeersAreBounded(t *testing.T) {
	const limit = 100
	p := newPeers(limit)
	steady := netip.MustParseAddrPort("10.0.0.1:1000")
	first := p.addr(steady)
	for i := range 100 * limit {
		forged := netip.AddrPortFrom(netip.AddrFrom4([4]byte{172, byte(i >> 16), byte(i >> 8), byte(i)}), 1)
		if got := p.addr(forged).AddrPort(); got != forged {
			t.Fatalf("%s became %s", forged, got)
		}
		if p.addr(steady) != first {
			t.Fatal("a peer that keeps sending lost its address")
		}
		if len(p.young) > limit || len(p.old) > limit {
			t.Fatalf("the table holds %d and %d addresses", len(p.young), len(p.old))
		}
	}
}

// TestCutControl drops what it cannot split rather than hand over wrong datagrams.
func TestCutControl(t *testing.T) {
	r := newReader(nil, false, newCounters(stat.NewSet()), nil)
	if r.parseControl([]byte{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}) {
		t.Fatal("a control message shorter than its header is accepted")
	}
	r.segment = 4000
	for _, data := range [][]byte{{}, {1}, {0, 0, 0, 0}} {
		if got := segmentSize(data, r.segment); got != 4000 {
			t.Fatalf("segment size %d out of %x", got, data)
		}
	}
	if got := segmentSize([]byte{1, 0}, 4000); got != 1 && got != 256 {
		t.Fatalf("segment size %d out of a u16", got)
	}
}

func TestHalveUntil(t *testing.T) {
	var asked []int
	got := halveUntil(1<<20, func(size int) error {
		asked = append(asked, size)
		if size > 300_000 {
			return errors.New("too much")
		}
		return nil
	})
	if got != 1<<18 || len(asked) != 3 {
		t.Fatalf("granted %d after asking for %v", got, asked)
	}
	if got := halveUntil(1<<20, func(int) error { return errors.New("no") }); got != 0 {
		t.Fatalf("granted %d of nothing", got)
	}
}

func TestGrantedBuffers(t *testing.T) {
	s, set := open(t, "127.0.0.1:0", true)
	receive, send := s.Granted()
	if receive < minBufferBytes || send < minBufferBytes {
		t.Fatalf("granted %d and %d bytes", receive, send)
	}
	if int64(receive) != set.Snapshot()["felix_udp_receive_buffer_bytes"] {
		t.Fatal("the gauge shows something else")
	}
}

func TestListenErrors(t *testing.T) {
	s, _ := open(t, "127.0.0.1:0", true)
	for _, cfg := range []Config{
		{Addr: s.LocalAddr().String()},
		{Addr: "127.0.0.1"},
		{Addr: "127.0.0.1:0", BufferBytes: -1},
	} {
		if got, err := Listen(cfg); err == nil {
			got.Close()
			t.Errorf("%+v is accepted", cfg)
		}
	}
}
