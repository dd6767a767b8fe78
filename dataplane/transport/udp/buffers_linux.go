package udp

import (
	"net"

	"golang.org/x/sys/unix"
)

// growBuffers asks for wanted bytes each way, past the system's limit where the process may (CAP_NET_ADMIN),
// and returns what was granted.
func growBuffers(conn *net.UDPConn, wanted int) (receiveBytes, sendBytes int) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, 0
	}
	_ = raw.Control(func(fd uintptr) {
		receiveBytes = growBuffer(int(fd), wanted, unix.SO_RCVBUF, unix.SO_RCVBUFFORCE)
		sendBytes = growBuffer(int(fd), wanted, unix.SO_SNDBUF, unix.SO_SNDBUFFORCE)
	})
	return receiveBytes, sendBytes
}

// growBuffer never makes a buffer smaller than it is.
func growBuffer(fd, wanted, option, forceOption int) int {
	if granted(fd, option) < wanted && unix.SetsockoptInt(fd, unix.SOL_SOCKET, forceOption, wanted) != nil {
		halveUntil(wanted, func(size int) error { return unix.SetsockoptInt(fd, unix.SOL_SOCKET, option, size) })
	}
	return granted(fd, option)
}

// granted reads a buffer size back. Linux keeps and reports twice what was asked, for its own bookkeeping.
func granted(fd, option int) int {
	size, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, option)
	if err != nil {
		return 0
	}
	return size / 2
}
