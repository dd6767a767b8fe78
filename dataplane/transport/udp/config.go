package udp

import (
	"fmt"
	"net"

	"github.com/felix-go/felix/dataplane/stat"
)

// DefaultBufferBytes is what the socket asks of the kernel for each direction. A burst that does not fit is
// lost: at 5 Gbit/s 8 MiB hold 13 milliseconds, about what a descheduled reader needs.
const DefaultBufferBytes = 8 << 20

// maxBufferBytes bounds Config.BufferBytes.
const maxBufferBytes = 1 << 30

// Config says how to open a Socket. The zero value of every field but Addr is its default.
type Config struct {
	// Addr is host:port. An IPv4 host binds IPv4 only, an IPv6 host other than "::" IPv6 only; "::" and the
	// empty host bind both families where the system has both. Port 0 lets the kernel choose.
	Addr string
	// BufferBytes is asked for each direction, default DefaultBufferBytes, at most 1 GiB. The kernel may
	// grant less (net.core.rmem_max, net.core.wmem_max), see Socket.Granted; too little shows as lost
	// datagrams in bursts.
	BufferBytes int
	// DisableGRO turns receive coalescing (UDP_GRO) off, so that every datagram costs a system call. It
	// exists to rule a kernel or driver fault out.
	DisableGRO bool
	// Pad, if not nil, is asked for every received datagram and returns the length to which it is padded with zeros, its own
	// for none. Linux only.
	Pad func(datagram []byte) int
	// Stats receives the counters of the socket; nil keeps them private.
	Stats *stat.Set
}

func (c Config) withDefaults() Config {
	if c.BufferBytes == 0 {
		c.BufferBytes = DefaultBufferBytes
	}
	if c.Stats == nil {
		c.Stats = stat.NewSet()
	}
	return c
}

// Validate reports the first field that is out of its range.
func (c Config) Validate() error {
	if c.BufferBytes < 0 || c.BufferBytes > maxBufferBytes {
		return fmt.Errorf("udp: socket buffer of %d bytes is outside 0 to %d", c.BufferBytes, maxBufferBytes)
	}
	return nil
}

// network returns which family to bind for addr. Package net binds both families for the IPv4 wildcard unless
// it is told udp4.
func network(addr *net.UDPAddr) string {
	switch {
	case addr.IP == nil || addr.IP.Equal(net.IPv6unspecified):
		return "udp"
	case addr.IP.To4() != nil:
		return "udp4"
	default:
		return "udp6"
	}
}
