package udp

import (
	"encoding/binary"
	"net"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/net/ipv4"

	"github.com/felix-go/felix/dataplane/stat"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must happen.
const patience = 20 * time.Second

// slotBytes and slotCount are the QUIC library's.
const (
	slotBytes = 1452
	slotCount = 8
)

func open(t testing.TB, addr string, gro bool) (*Socket, *stat.Set) {
	t.Helper()
	set := stat.NewSet()
	s, err := Listen(Config{Addr: addr, DisableGRO: !gro, Stats: set})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if s.GRO() != gro {
		t.Fatalf("GRO is %v, want %v", s.GRO(), gro)
	}
	return s, set
}

// slots are what the QUIC library passes to ReadBatch.
func slots(n int) []ipv4.Message {
	ms := make([]ipv4.Message, n)
	for i := range ms {
		ms[i].Buffers = [][]byte{make([]byte, slotBytes)}
		ms[i].OOB = make([]byte, 128)
	}
	return ms
}

// receiver reads datagrams one after the other, in batches of slotCount as the QUIC library does.
type receiver struct {
	t     *testing.T
	s     *Socket
	ms    []ipv4.Message
	ready []ipv4.Message
}

func (r *receiver) next() ipv4.Message {
	r.t.Helper()
	if len(r.ready) == 0 {
		r.s.SetReadDeadline(time.Now().Add(patience))
		r.ms = slots(slotCount)
		n, err := r.s.ReadBatch(r.ms, 0)
		if err != nil || n == 0 {
			r.t.Fatalf("ReadBatch returned %d, %v", n, err)
		}
		r.ready = r.ms[:n]
	}
	m := r.ready[0]
	r.ready = r.ready[1:]
	return m
}

// sender sends to a receiver, from another socket.
type sender struct {
	t    testing.TB
	conn *Socket
	to   *net.UDPAddr
}

// newSender sends to the port of s at host.
func newSender(t testing.TB, host string, s *Socket) *sender {
	t.Helper()
	conn, _ := open(t, net.JoinHostPort(host, "0"), false)
	to := &net.UDPAddr{IP: net.ParseIP(host), Port: s.LocalAddr().(*net.UDPAddr).Port}
	return &sender{t: t, conn: conn, to: to}
}

func (s *sender) send(datagram []byte) {
	s.t.Helper()
	if _, err := s.conn.WriteToUDP(datagram, s.to); err != nil {
		s.t.Fatal(err)
	}
}

// sendRun sends run in one segmented call, which loopback hands to the receiver as one coalesced run.
func (s *sender) sendRun(run []byte, segment int) {
	s.t.Helper()
	if _, _, err := s.conn.WriteMsgUDP(run, controlOfRun(uint16(segment)), s.to); err != nil {
		s.t.Fatal(err)
	}
}

// numbered returns a datagram of size bytes that starts with number and is filled with it.
func numbered(number uint64, size int) []byte {
	b := make([]byte, max(size, 8))
	for i := 8; i < len(b); i++ {
		b[i] = byte(number)
	}
	binary.BigEndian.PutUint64(b, number)
	return b[:size]
}
