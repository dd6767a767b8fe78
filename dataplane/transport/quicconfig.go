package transport

import (
	"net"

	"github.com/quic-go/quic-go"
)

// packetSize is the largest packet that the QUIC library can send.
const packetSize = 1452

// profiles is the configuration of the QUIC library for the two kinds of path.
//
//	loopback   full packets from the start and no search for the path's size, which keeps figures stable
//	elsewhere  the library's default: 1280 bytes, 1200 if the kernel says that is too long, then a search
//	           up to 1452
type profiles struct {
	loopback  *quic.Config
	elsewhere *quic.Config
}

func newProfiles(base *quic.Config) profiles {
	loopback := base.Clone()
	loopback.InitialPacketSize = packetSize
	loopback.DisablePathMTUDiscovery = true
	return profiles{loopback: loopback, elsewhere: base}
}

// of returns the configuration for a peer.
func (p profiles) of(peer net.Addr) *quic.Config {
	if a, ok := peer.(*net.UDPAddr); ok && a.IP.IsLoopback() {
		return p.loopback
	}
	return p.elsewhere
}
