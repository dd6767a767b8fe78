package udp

import (
	"net"
	"net/netip"
)

// peersPerGeneration bounds each of the two generations of a peers table: at about 150 bytes an entry the
// whole table stays below 2.5 MB whatever addresses are forged.
const peersPerGeneration = 8192

// peers interns peer addresses: every datagram of a peer carries the same *net.UDPAddr, so that receiving
// allocates nothing. Sharing is safe because nobody writes to an address after it was built; the QUIC library
// compares addresses by value.
//
// The table is bounded by two generations. Lookups that hit only the old one move the entry to the young one;
// when the young one is full it becomes the old one and the previous old one is forgotten. A peer that keeps
// sending therefore stays, and a flood of forged sources costs two allocations each and no more memory than
// the bound. Owned by the one reading goroutine.
type peers struct {
	last     netip.AddrPort // of the previous datagram, which is likely the next one's too
	lastAddr *net.UDPAddr
	young    map[netip.AddrPort]*net.UDPAddr
	old      map[netip.AddrPort]*net.UDPAddr
	limit    int
}

func newPeers(limit int) *peers {
	return &peers{young: make(map[netip.AddrPort]*net.UDPAddr), limit: limit}
}

// addr returns the shared address of from.
//
//felix:hot
func (p *peers) addr(from netip.AddrPort) *net.UDPAddr {
	// Fast path: the same peer again.
	if from == p.last && p.lastAddr != nil {
		return p.lastAddr
	}
	addr, ok := p.young[from]
	if !ok {
		addr = p.promote(from)
	}
	p.last, p.lastAddr = from, addr
	return addr
}

// promote puts from into the young generation, out of the old one or new.
func (p *peers) promote(from netip.AddrPort) *net.UDPAddr {
	addr, ok := p.old[from]
	if !ok {
		// An IPv4 peer of a dual-stack socket arrives as an IPv4-mapped address: shown and kept as IPv4.
		addr = net.UDPAddrFromAddrPort(netip.AddrPortFrom(from.Addr().Unmap(), from.Port()))
	}
	if len(p.young) >= p.limit {
		p.old, p.young = p.young, make(map[netip.AddrPort]*net.UDPAddr, p.limit)
	}
	p.young[from] = addr
	return addr
}
