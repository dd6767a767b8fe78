package transport

import (
	"encoding/binary"
	"net"
	"os"
	"testing"

	"github.com/quic-go/quic-go"
	"golang.org/x/net/ipv4"
	"golang.org/x/sys/unix"

	"github.com/felix-go/felix/dataplane/transport/udp"
)

// What the QUIC library looks for. Without either it falls silently to one datagram per call and no offload.
var (
	_ quic.OOBCapablePacketConn = (*udp.Socket)(nil)
	_ interface {
		ReadBatch([]ipv4.Message, int) (int, error)
	} = (*udp.Socket)(nil)
)

// TestFastPath: the library reads through ReadBatch, many datagrams per call under load, and sends segmented
// runs.
func TestFastPath(t *testing.T) {
	n := newNode(t)
	l := n.listen(t, nil)
	if l.socket.PacketConn() != net.PacketConn(l.socket) {
		t.Fatal("the library is given something else than the socket")
	}
	client, server := connect(t, n.dialer(t, nil), l)
	server.Authenticated()
	if !client.quic.ConnectionState().GSO || !server.quic.ConnectionState().GSO {
		t.Error("segmentation offload is off")
	}
	upload(t, client, server, 16<<20)
	datagrams, calls := n.count("felix_udp_datagrams_total"), n.count("felix_udp_batches_total")
	if calls == 0 || datagrams < 16<<20/packetSize {
		t.Fatalf("%d datagrams in %d calls: the library does not read through the socket", datagrams, calls)
	}
	if datagrams < 2*calls {
		t.Fatalf("%d datagrams in %d calls: receiving is not batched", datagrams, calls)
	}
	t.Logf("%.1f datagrams per call, %d bytes in a packet", float64(datagrams)/float64(calls), packetSize)
}

// pathConn is a socket with a path of its own: it refuses what is too long, and edits datagrams on their way
// out.
type pathConn struct {
	*udp.Socket
	tooLong int // refuse datagrams longer than this
	edit    func([]byte) []byte
	refused int
}

func (c *pathConn) WriteMsgUDP(b, oob []byte, addr *net.UDPAddr) (int, int, error) {
	length := len(b)
	if messages, err := unix.ParseSocketControlMessage(oob); err == nil {
		for _, m := range messages {
			if m.Header.Level == unix.IPPROTO_UDP && m.Header.Type == unix.UDP_SEGMENT {
				length = int(binary.NativeEndian.Uint16(m.Data))
			}
		}
	}
	if c.tooLong > 0 && length > c.tooLong {
		c.refused++
		return 0, 0, &net.OpError{Op: "write", Err: os.NewSyscallError("sendmsg", unix.EMSGSIZE)}
	}
	if c.edit != nil {
		if _, _, err := c.Socket.WriteMsgUDP(c.edit(b), oob, addr); err != nil {
			return 0, 0, err
		}
		return len(b), len(oob), nil
	}
	return c.Socket.WriteMsgUDP(b, oob, addr)
}

// over makes d send through conn; REQUIRES that d has not dialed.
func over(d *Dialer, conn *pathConn) {
	conn.Socket = d.socket
	d.transport = &quic.Transport{Conn: conn}
}

// TestShortPath: a dial whose full packets are too long for the path is repeated with small ones.
func TestShortPath(t *testing.T) {
	n := newNode(t)
	l, d := n.listen(t, nil), n.dialer(t, nil)
	path := &pathConn{tooLong: 1400}
	over(d, path)
	client, server := connect(t, d, l)
	if path.refused == 0 {
		t.Fatal("no packet was too long: the test does not test")
	}
	roundTrip(t, client, server)
}

// TestLongFirstFlight: a client whose first datagram is larger than the slots of the QUIC library, as the
// real one's on loopback, is not dropped.
func TestLongFirstFlight(t *testing.T) {
	const firstFlight = 1557
	for _, gro := range []bool{true, false} {
		n := newNode(t)
		l, d := n.listen(t, func(c *ListenConfig) { c.DisableGRO = !gro }), n.dialer(t, nil)
		over(d, &pathConn{edit: func(b []byte) []byte {
			if b[0]&0x80 == 0 || len(b) > firstFlight {
				return b
			}
			long := make([]byte, firstFlight) // a datagram with a long header, filled up
			copy(long, b)
			return long
		}})
		client, server := connect(t, d, l)
		roundTrip(t, client, server)
		if n.count("felix_udp_oversized_total") == 0 {
			t.Fatal("no datagram was oversized: the test does not test")
		}
	}
}
