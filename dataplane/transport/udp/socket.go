package udp

import (
	"fmt"
	"net"
)

// Socket is a bound UDP socket.
//
// Goal: as few system calls and allocations per received datagram as the kernel allows, behind the interface
// that the QUIC library already calls. On Linux one recvmsg with UDP_GRO returns up to 64 KiB of datagrams of
// one peer that are all of one size (the last may be shorter):
//
//	ReadBatch(slots):
//	    nothing left over: recvmsg into our 64 KiB buffer, note segment size, peer and control messages
//	    for each slot while there is data: copy the next segment, repeat the control messages, share the peer
//
// Invariants:
//   - a datagram is never cut: one that is larger than the slot gets a slice of its own (the first flight of
//     the real client on loopback is 1557 bytes; losing it costs every connect a second);
//   - ReadBatch returns datagrams or an error that ends the reader, never (0, nil) and never an error that
//     calls itself temporary, because the QUIC library parses its message slots again after either;
//   - nothing of a slot is remembered after ReadBatch has returned, and the peer address is shared and
//     immutable.
//
// Where UDP_GRO is refused, or delivers something else than was sent in the self-test, or is switched off,
// the same code runs with one datagram per call: handing the bare *net.UDPConn over instead would allocate
// per datagram and cut the first flight. Systems other than Linux get the bare *net.UDPConn.
//
// Deadlines and Close are those of the embedded *net.UDPConn: Close and SetReadDeadline wake a blocked
// ReadBatch. ReadBatch is for one goroutine; everything else may be called from any.
type Socket struct {
	*net.UDPConn
	reader // the platform's receive side

	receiveBytes int // immutable after Listen
	sendBytes    int // immutable after Listen
}

// Listen binds a socket. The error names the address that could not be resolved or bound.
func Listen(cfg Config) (*Socket, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	addr, err := net.ResolveUDPAddr("udp", cfg.Addr)
	if err != nil {
		return nil, fmt.Errorf("udp: cannot resolve listen address %q: %w", cfg.Addr, err)
	}
	conn, err := net.ListenUDP(network(addr), addr)
	if err != nil {
		return nil, fmt.Errorf("udp: cannot listen on %q: %w", cfg.Addr, err)
	}
	s := &Socket{UDPConn: conn}
	s.receiveBytes, s.sendBytes = growBuffers(conn, cfg.BufferBytes)
	s.reader = newReader(conn, !cfg.DisableGRO && groWorks(), newCounters(cfg.Stats), cfg.Pad)
	showBuffers(cfg.Stats, s.receiveBytes, s.sendBytes)
	return s, nil
}

// Granted returns the bytes of socket buffer that the kernel granted, to be compared with Config.BufferBytes;
// 0 where the system does not tell.
func (s *Socket) Granted() (receiveBytes, sendBytes int) { return s.receiveBytes, s.sendBytes }
