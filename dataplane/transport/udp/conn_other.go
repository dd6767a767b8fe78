//go:build !linux

package udp

import "net"

// reader is empty: these systems use the batch reading of the QUIC library.
type reader struct{}

func newReader(*net.UDPConn, bool, counters, func([]byte) int) reader { return reader{} }

// PacketConn is what to hand to the QUIC library: the bare connection, which it knows how to read in batches.
func (s *Socket) PacketConn() net.PacketConn { return s.UDPConn }

// GRO reports whether receive coalescing is on: never on this system.
func (s *Socket) GRO() bool { return false }

func groWorks() bool { return false }

// growBuffers asks for wanted bytes each way and for half of it until the system accepts. What is granted is
// what was accepted.
func growBuffers(conn *net.UDPConn, wanted int) (receiveBytes, sendBytes int) {
	return halveUntil(wanted, conn.SetReadBuffer), halveUntil(wanted, conn.SetWriteBuffer)
}
