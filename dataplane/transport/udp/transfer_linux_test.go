package udp

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net"
	"testing"

	"golang.org/x/sys/unix"
)

// Every way to bind crossed with coalescing on and off.
var binds = []struct{ name, listen, host string }{
	{"ipv4", "127.0.0.1:0", "127.0.0.1"},
	{"ipv4 wildcard", "0.0.0.0:0", "127.0.0.1"},
	{"ipv6", "[::1]:0", "::1"},
	{"dual stack from ipv4", "[::]:0", "127.0.0.1"},
	{"dual stack from ipv6", ":0", "::1"},
}

func eachBind(t *testing.T, f func(t *testing.T, s *Socket, from *sender)) {
	for _, bind := range binds {
		for _, gro := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s gro=%v", bind.name, gro), func(t *testing.T) {
				s, _ := open(t, bind.listen, gro)
				f(t, s, newSender(t, bind.host, s))
			})
		}
	}
}

// TestTransfer sends 5,000 datagrams of mixed sizes, alone and in segmented runs, and expects each of them
// whole and in order.
func TestTransfer(t *testing.T) {
	eachBind(t, func(t *testing.T, s *Socket, from *sender) {
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		random := rand.New(rand.NewPCG(seed, 1))
		const total = 5_000
		permits := make(chan struct{}, 512) // far below the socket buffer, so nothing may be lost
		sizes := make(chan int, total)
		go func() {
			defer close(sizes)
			for number := uint64(0); number < total; {
				size := []int{1, 8, 9, 100, 1200, 1252, 1452}[random.IntN(7)]
				if run := random.IntN(40); size >= 8 && run > 1 {
					number = sendNumberedRun(from, random, number, run, size, permits, sizes)
					continue
				}
				permits <- struct{}{}
				sizes <- size
				from.send(numbered(number, size))
				number++
			}
		}()
		r := &receiver{t: t, s: s}
		number := uint64(0)
		for size := range sizes {
			m := r.next()
			if got, want := m.Buffers[0][:m.N], numbered(number, size); !bytes.Equal(got, want) {
				t.Fatalf("datagram %d has %d bytes, want %d, or other content", number, len(got), size)
			}
			number++
			<-permits
		}
	})
}

// sendNumberedRun sends run datagrams of size bytes, the last one of any size up to that, in one call.
func sendNumberedRun(
	from *sender, random *rand.Rand, number uint64, run, size int, permits chan struct{}, sizes chan int,
) uint64 {
	run = min(run, 60_000/size)
	var bytes []byte
	for i := range run {
		n := size
		if i == run-1 {
			n = 1 + random.IntN(size)
		}
		permits <- struct{}{}
		sizes <- n
		bytes = append(bytes, numbered(number, n)...)
		number++
	}
	from.sendRun(bytes, size)
	return number
}

// TestOversized hands datagrams above the slot size over whole, alone and between others.
func TestOversized(t *testing.T) {
	eachBind(t, func(t *testing.T, s *Socket, from *sender) {
		r := &receiver{t: t, s: s}
		sizes := []int{1557, 1, 4096, 1452, 1453, 1200, 65_507, 9000, 1}
		if from.to.IP.To4() == nil {
			sizes[6] = 65_487 // the IPv6 header is larger
		}
		for i, size := range sizes {
			from.send(numbered(uint64(i), size))
		}
		for i, size := range sizes {
			m := r.next()
			if got := m.Buffers[0][:m.N]; !bytes.Equal(got, numbered(uint64(i), size)) {
				t.Fatalf("datagram %d has %d bytes, want %d", i, len(got), size)
			}
		}
		from.sendRun(bytes.Repeat([]byte{7}, 3*1557), 1557)
		for range 3 {
			if m := r.next(); m.N != 1557 {
				t.Fatalf("a part of a run of oversized datagrams has %d bytes", m.N)
			}
		}
	})
}

// TestOversizedCounter counts what did not fit a slot.
func TestOversizedCounter(t *testing.T) {
	s, set := open(t, "127.0.0.1:0", true)
	from, r := newSender(t, "127.0.0.1", s), &receiver{t: t, s: s}
	for _, size := range []int{1452, 1557, 4096} {
		from.send(make([]byte, size))
		r.next()
	}
	if n := set.Snapshot()["felix_udp_oversized_total"]; n != 2 {
		t.Fatalf("%d oversized datagrams counted, want 2", n)
	}
	if n := set.Snapshot()["felix_udp_datagrams_total"]; n != 3 {
		t.Fatalf("%d datagrams counted, want 3", n)
	}
}

// TestEmptyDatagram is skipped over: it must not become an empty batch.
func TestEmptyDatagram(t *testing.T) {
	s, _ := open(t, "127.0.0.1:0", true)
	from, r := newSender(t, "127.0.0.1", s), &receiver{t: t, s: s}
	from.send(nil)
	from.send([]byte("after"))
	if m := r.next(); string(m.Buffers[0][:m.N]) != "after" {
		t.Fatalf("got %d bytes", m.N)
	}
}

// TestCoalesced shows that a segmented run arrives by one call to the kernel.
func TestCoalesced(t *testing.T) {
	for _, gro := range []bool{true, false} {
		s, set := open(t, "127.0.0.1:0", gro)
		from, r := newSender(t, "127.0.0.1", s), &receiver{t: t, s: s}
		from.sendRun(make([]byte, 20*1200), 1200)
		for range 20 {
			r.next()
		}
		want := int64(1)
		if !gro {
			want = 20
		}
		if calls := set.Snapshot()["felix_udp_batches_total"]; calls != want {
			t.Fatalf("gro=%v: 20 datagrams took %d calls, want %d", gro, calls, want)
		}
	}
}

// TestControlMessages wants ECN and packet info with every part of a run, and nothing else.
func TestControlMessages(t *testing.T) {
	eachBind(t, func(t *testing.T, s *Socket, from *sender) {
		v4 := from.to.IP.To4() != nil
		setOption(t, s.UDPConn, unix.IPPROTO_IP, unix.IP_RECVTOS)
		setOption(t, s.UDPConn, unix.IPPROTO_IP, unix.IP_PKTINFO)
		setOption(t, s.UDPConn, unix.IPPROTO_IPV6, unix.IPV6_RECVTCLASS)
		setOption(t, s.UDPConn, unix.IPPROTO_IPV6, unix.IPV6_RECVPKTINFO)
		const ect0 = 2
		if v4 {
			setOptionTo(t, from.conn.UDPConn, unix.IPPROTO_IP, unix.IP_TOS, ect0)
		} else {
			setOptionTo(t, from.conn.UDPConn, unix.IPPROTO_IPV6, unix.IPV6_TCLASS, ect0)
		}
		from.sendRun(make([]byte, 10*1200), 1200)
		r := &receiver{t: t, s: s}
		for range 10 {
			m := r.next()
			checkControl(t, m.OOB[:m.NN], from.to.IP, ect0)
		}
	})
}

func checkControl(t *testing.T, control []byte, destination net.IP, ecn byte) {
	t.Helper()
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		t.Fatal(err)
	}
	var sawECN, sawInfo bool
	for _, m := range messages {
		switch {
		case m.Header.Level == unix.IPPROTO_IP && m.Header.Type == unix.IP_TOS:
			sawECN = m.Data[0] == ecn
		case m.Header.Level == unix.IPPROTO_IPV6 && m.Header.Type == unix.IPV6_TCLASS:
			sawECN = binary.NativeEndian.Uint32(m.Data) == uint32(ecn)
		case m.Header.Level == unix.IPPROTO_IP && m.Header.Type == unix.IP_PKTINFO:
			sawInfo = sawInfo || net.IP(m.Data[8:12]).Equal(destination)
		case m.Header.Level == unix.IPPROTO_IPV6 && m.Header.Type == unix.IPV6_PKTINFO:
			sawInfo = sawInfo || net.IP(m.Data[:16]).Equal(destination)
		default:
			t.Errorf("control message level %d type %d is passed on", m.Header.Level, m.Header.Type)
		}
	}
	if !sawECN || !sawInfo {
		t.Fatalf("ECN seen: %v, packet info seen: %v, in %x", sawECN, sawInfo, control)
	}
}

func setOption(t *testing.T, conn *net.UDPConn, level, option int) {
	t.Helper()
	setOptionTo(t, conn, level, option, 1)
}

// setOptionTo ignores the options of a family that the socket does not have.
func setOptionTo(t *testing.T, conn *net.UDPConn, level, option, value int) {
	t.Helper()
	raw, err := conn.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	err = raw.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), level, option, value) })
	if err != nil {
		t.Fatal(err)
	}
}
