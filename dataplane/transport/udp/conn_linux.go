package udp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"

	"golang.org/x/net/ipv4"
	"golang.org/x/sys/unix"
)

const (
	// coalescedBytes holds the largest result of one receive: a datagram has at most 65,535 bytes and so has
	// a coalesced run, unless an administrator raised the device's limit; then the tail is dropped and
	// counted.
	coalescedBytes = 64 << 10
	// controlBytes holds the control messages of one receive: packet info of both families, both traffic
	// class forms and the segment size, 144 bytes together.
	controlBytes = 256
	// maxReadErrors is how many passing errors in a row end the reader after all.
	maxReadErrors = 1000
	// readErrorPause keeps a kernel that is out of memory from being asked in a tight loop.
	readErrorPause = time.Millisecond
)

// reader is the receive side. Everything in it is owned by the goroutine that calls ReadBatch.
type reader struct {
	conn  *net.UDPConn
	gro   bool // immutable
	peers *peers
	count counters
	pad   func(datagram []byte) int // immutable; nil: never

	buffer  []byte // what one recvmsg returned
	control []byte // its control messages as received

	rest    []byte       // datagrams of buffer that were not handed out yet
	segment int          // length of every datagram in rest but the last
	from    *net.UDPAddr // who sent rest
	passed  []byte       // control messages of rest that the QUIC library knows: ECN, packet info

	failures int // passing receive errors in a row
}

func newReader(conn *net.UDPConn, gro bool, count counters, pad func([]byte) int) reader {
	return reader{
		pad:     pad,
		conn:    conn,
		gro:     gro && setGRO(conn) == nil,
		peers:   newPeers(peersPerGeneration),
		count:   count,
		buffer:  make([]byte, coalescedBytes),
		control: make([]byte, controlBytes),
		passed:  make([]byte, 0, controlBytes),
	}
}

// PacketConn is what to hand to the QUIC library.
func (s *Socket) PacketConn() net.PacketConn { return s }

// GRO reports whether receive coalescing is on.
func (s *Socket) GRO() bool { return s.gro }

// WriteMsgUDP sends one datagram, or one run of them with a segment size among its control messages, to addr.
// It is that of the embedded connection less its allocation of a socket address per call.
//
//felix:hot
func (s *Socket) WriteMsgUDP(b, oob []byte, addr *net.UDPAddr) (n, oobn int, err error) {
	return s.UDPConn.WriteMsgUDPAddrPort(b, oob, addr.AddrPort())
}

// ReadBatch fills ms with received datagrams and returns how many, at least one; the flags are ignored. It
// blocks until there is one. Errors are ErrClosed, ErrDeadline, or a failure of the socket; after any of them
// the reader should stop.
//
// REQUIRES: len(ms) > 0, each with one buffer; calls do not overlap.
//
//felix:hot
func (r *reader) ReadBatch(ms []ipv4.Message, _ int) (int, error) {
	for len(r.rest) == 0 {
		if err := r.receive(); err != nil {
			return 0, err
		}
	}
	n := 0
	for n < len(ms) && len(r.rest) > 0 {
		datagram := r.rest[:min(r.segment, len(r.rest))]
		r.rest = r.rest[len(datagram):]
		m := &ms[n]
		if len(datagram) > len(m.Buffers[0]) {
			// Slow path: larger than the slot. The library takes the data from here and recycles only its own
			// slot.
			m.Buffers[0] = make([]byte, len(datagram))
			r.count.oversized.Inc()
		}
		m.N = copy(m.Buffers[0], datagram)
		if r.pad != nil {
			if to := r.pad(datagram); to > m.N && to <= len(m.Buffers[0]) {
				clear(m.Buffers[0][m.N:to])
				m.N = to
			}
		}
		m.NN = 0
		if len(r.passed) <= len(m.OOB) { // a part of a control message would be a parse error
			m.NN = copy(m.OOB, r.passed)
		}
		m.Addr, m.Flags = r.from, 0
		n++
	}
	r.count.datagrams.Add(uint64(n))
	return n, nil
}

// receive makes one call to the kernel and notes what it returned. After a nil error rest may still be empty:
// the datagram was empty, or all of it was dropped.
//
//felix:hot
func (r *reader) receive() error {
	n, controlLen, flags, from, err := r.conn.ReadMsgUDPAddrPort(r.buffer, r.control)
	if err != nil {
		return r.survive(err)
	}
	r.failures = 0
	r.count.batches.Inc()
	r.from = r.peers.addr(from)
	r.segment = n
	r.passed = r.passed[:0]
	if !r.parseControl(r.control[:controlLen]) || flags&unix.MSG_CTRUNC != 0 {
		// Without all control messages the bounds of the datagrams are unknown.
		r.count.truncated.Inc()
		n = 0
	}
	if flags&unix.MSG_TRUNC != 0 {
		r.count.truncated.Inc()
		n -= n % max(r.segment, 1)
	}
	r.rest = r.buffer[:n]
	return nil
}

// parseControl takes the segment size out of the control messages and keeps those that the QUIC library
// reads.
func (r *reader) parseControl(control []byte) bool {
	for len(control) >= unix.SizeofCmsghdr {
		header, data, next, err := unix.ParseOneSocketControlMessage(control)
		if err != nil {
			return false
		}
		switch header.Level {
		case unix.IPPROTO_UDP:
			if header.Type == unix.UDP_GRO {
				r.segment = segmentSize(data, r.segment)
			}
		case unix.IPPROTO_IP, unix.IPPROTO_IPV6:
			r.passed = append(r.passed, control[:len(control)-len(next)]...)
		}
		control = next
	}
	return true
}

// segmentSize reads the body of a UDP_GRO control message, an int, or a u16 in the first kernels that had it.
func segmentSize(data []byte, whole int) int {
	size := 0
	switch {
	case len(data) >= 4:
		size = int(binary.NativeEndian.Uint32(data))
	case len(data) >= 2:
		size = int(binary.NativeEndian.Uint16(data))
	}
	if size <= 0 {
		return whole
	}
	return size
}

// survive returns nil for an error after which reading goes on, else the error that ends the reader.
func (r *reader) survive(err error) error {
	switch {
	case errors.Is(err, net.ErrClosed):
		return ErrClosed
	case errors.Is(err, os.ErrDeadlineExceeded):
		return ErrDeadline
	}
	r.failures++
	if r.failures > maxReadErrors || !passing(err) {
		// Only the text: the cause is a net.Error, which might call itself temporary.
		return fmt.Errorf("udp: cannot receive on %s: %s", r.conn.LocalAddr(), err)
	}
	r.count.readErrors.Inc()
	time.Sleep(readErrorPause)
	return nil
}

// passing reports whether err is about one datagram or one moment and not about the socket.
func passing(err error) bool {
	var errno syscall.Errno
	if !errors.As(err, &errno) {
		return false
	}
	switch errno {
	case unix.EAGAIN, unix.EINTR, unix.ENOBUFS, unix.ENOMEM, unix.EMSGSIZE, unix.EPROTO,
		unix.ECONNREFUSED, unix.EHOSTUNREACH, unix.ENETUNREACH, unix.EHOSTDOWN, unix.ENETDOWN:
		return true
	}
	return false
}

func setGRO(conn *net.UDPConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var optErr error
	if err := raw.Control(func(fd uintptr) {
		optErr = unix.SetsockoptInt(int(fd), unix.IPPROTO_UDP, unix.UDP_GRO, 1)
	}); err != nil {
		return err
	}
	return optErr
}
