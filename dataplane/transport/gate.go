package transport

import (
	"context"
	"net"
	"net/netip"
	"sync"

	"github.com/quic-go/quic-go"
	"golang.org/x/time/rate"

	"github.com/felix-go/felix/dataplane/stat"
)

// gate decides which connection attempts may start a handshake, and counts every connection from then to its
// end.
//
// An attempt is an unauthenticated datagram with a source address that may be forged, so it must cost little
// and must not take a place for long:
//
//	verify  asked first, per Initial packet: above the handshake rate, while many handshakes are half open,
//	        or when its address has many places, the client has to prove the address by a round trip (Retry)
//	admit   draining, the bound on connections, the bound per address; then a place is taken
//	leave   when the connection's context ends, whatever ended it: a failed handshake, a close, silence
//
// Between admit and leave there is exactly one entry per connection, so that the gauge returns to zero.
type gate struct {
	maxConnections int
	maxPerIP       int // negative: no bound
	maxHalfOpen    int // half-open handshakes from which on addresses are verified
	limiter        *rate.Limiter
	budget         *WindowBudget
	windows        windowCounters
	count          gateCounters

	mu       sync.Mutex // guards the following
	draining bool
	entries  map[*entry]struct{}
	halfOpen int
	perIP    map[netip.Addr]int
	empty    *sync.Cond // signalled when entries gets empty
}

// entry is one connection, from the first packet on. It travels in the connection's context.
type entry struct {
	ip    netip.Addr
	grant *grant

	conn *Conn // guarded by gate.mu; set once accepted
}

type entryKey struct{}

// entryOf returns the entry of a connection or stream context.
func entryOf(ctx context.Context) *entry {
	e, _ := ctx.Value(entryKey{}).(*entry)
	return e
}

type gateCounters struct {
	active   *stat.Gauge
	halfOpen *stat.Gauge
	accepted *stat.Counter
	failed   *stat.Counter
	retried  *stat.Counter

	refusedDraining *stat.Counter
	refusedMax      *stat.Counter
	refusedPerIP    *stat.Counter
}

func newGateCounters(set *stat.Set) gateCounters {
	const refused = "felix_quic_connections_refused_total"
	const help = "Connection attempts refused before the handshake."
	return gateCounters{
		active:   set.Gauge("felix_quic_connections", "Connections that are open or in their handshake."),
		halfOpen: set.Gauge("felix_quic_handshakes", "Connections that are in their handshake."),
		accepted: set.Counter("felix_quic_connections_accepted_total", "Connections accepted after their handshake."),
		failed:   set.Counter("felix_quic_handshakes_failed_total", "Handshakes that did not complete."),
		retried: set.Counter("felix_quic_address_checks_total",
			"Connection attempts that had to prove their address first."),
		refusedDraining: set.Counter(refused+`{reason="draining"}`, help),
		refusedMax:      set.Counter(refused+`{reason="max_connections"}`, help),
		refusedPerIP:    set.Counter(refused+`{reason="max_per_ip"}`, help),
	}
}

// minHalfOpen is how many half-open handshakes are always taken without a check of the address.
const minHalfOpen = 64

func newGate(cfg ListenConfig) *gate {
	// One packet in two of a handshake asks verify, hence twice the rate.
	perSecond := 2 * cfg.HandshakesPerSecond
	g := &gate{
		maxConnections: cfg.MaxConnections,
		maxPerIP:       cfg.MaxPerIP,
		maxHalfOpen:    max(minHalfOpen, cfg.MaxConnections/4),
		limiter:        rate.NewLimiter(rate.Limit(perSecond), perSecond),
		budget:         cfg.WindowBudget,
		windows:        newWindowCounters(cfg.Stats),
		count:          newGateCounters(cfg.Stats),
		entries:        make(map[*entry]struct{}),
		perIP:          make(map[netip.Addr]int),
	}
	g.empty = sync.NewCond(&g.mu)
	return g
}

// verify reports whether the client at addr must prove its address first. Unproven ones get at most a quarter
// of all places, since that many half-open handshakes switch the check on, and half of those of an address,
// so that forged packets cannot lock out whom they name.
func (g *gate) verify(addr net.Addr) bool {
	ip := ipOf(addr)
	g.mu.Lock()
	crowded := g.halfOpen >= g.maxHalfOpen || (g.maxPerIP >= 0 && g.perIP[ip] > g.maxPerIP/2)
	g.mu.Unlock()
	if !crowded && g.limiter.Allow() {
		return false
	}
	g.count.retried.Inc()
	return true
}

// admit takes a place for a new connection or refuses it; its signature is that of the QUIC library.
func (g *gate) admit(ctx context.Context, info *quic.ClientInfo) (context.Context, error) {
	e := &entry{ip: ipOf(info.RemoteAddr), grant: &grant{budget: g.budget, count: g.windows}}
	if err := g.enter(e); err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { g.leave(e) })
	return context.WithValue(ctx, entryKey{}, e), nil
}

func (g *gate) enter(e *entry) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.draining:
		g.count.refusedDraining.Inc()
		return errDraining
	case len(g.entries) >= g.maxConnections:
		g.count.refusedMax.Inc()
		return errMaxConnections
	case g.maxPerIP >= 0 && g.perIP[e.ip] >= g.maxPerIP:
		g.count.refusedPerIP.Inc()
		return errMaxPerIP
	}
	g.entries[e] = struct{}{}
	g.perIP[e.ip]++
	g.halfOpen++
	g.count.active.Add(1)
	g.count.halfOpen.Add(1)
	return nil
}

// establish notes that the handshake of e completed and conn is its connection.
func (g *gate) establish(e *entry, conn *Conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, here := g.entries[e]; !here { // it ended before it was accepted, and leave counted it
		return
	}
	e.conn = conn
	g.count.accepted.Inc()
	g.halfOpen--
	g.count.halfOpen.Add(-1)
}

func (g *gate) leave(e *entry) {
	e.grant.end()
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.entries, e)
	if g.perIP[e.ip]--; g.perIP[e.ip] == 0 {
		delete(g.perIP, e.ip)
	}
	g.count.active.Add(-1)
	if e.conn == nil {
		g.halfOpen--
		g.count.halfOpen.Add(-1)
		g.count.failed.Inc()
	}
	if len(g.entries) == 0 {
		g.empty.Broadcast()
	}
}

// drain refuses every attempt from now on.
func (g *gate) drain() {
	g.mu.Lock()
	g.draining = true
	g.mu.Unlock()
}

// established returns the connections that are open now.
func (g *gate) established() []*Conn {
	g.mu.Lock()
	defer g.mu.Unlock()
	conns := make([]*Conn, 0, len(g.entries))
	for e := range g.entries {
		if e.conn != nil {
			conns = append(conns, e.conn)
		}
	}
	return conns
}

// wait returns when every connection has left.
func (g *gate) wait() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for len(g.entries) > 0 {
		g.empty.Wait()
	}
}

// ipOf returns the address that bounds per client are counted by: an IPv4-mapped address is the IPv4 one.
func ipOf(addr net.Addr) netip.Addr {
	if a, ok := addr.(*net.UDPAddr); ok {
		ip, _ := netip.AddrFromSlice(a.IP)
		return ip.Unmap()
	}
	return netip.Addr{}
}
