package transport

import (
	"sync"
	"sync/atomic"

	"github.com/felix-go/felix/dataplane/stat"
)

// WindowBudget is the process-wide bound on how far flow-control windows of authenticated connections may
// open (decisions section 7.8): what peers may send before anybody reads it is memory of ours. Grants are
// taken as connections need them and given back when they end. It is safe for concurrent use.
type WindowBudget struct {
	maxBytes int64
	used     atomic.Int64
}

// NewWindowBudget returns a budget of maxBytes.
func NewWindowBudget(maxBytes int64) *WindowBudget { return &WindowBudget{maxBytes: maxBytes} }

// Used returns the bytes that are granted now.
func (b *WindowBudget) Used() int64 { return b.used.Load() }

// tryAcquire takes n bytes, all or nothing.
func (b *WindowBudget) tryAcquire(n int64) bool {
	for {
		used := b.used.Load()
		if n > b.maxBytes-used {
			return false
		}
		if b.used.CompareAndSwap(used, used+n) {
			return true
		}
	}
}

func (b *WindowBudget) release(n int64) { b.used.Add(-n) }

// streamShare is how many streams at least have to stand unread before they have used up the first window of
// their connection and with it stopped the others. It is the ratio of the reference broker's windows, 16 to
// 64 MiB.
const streamShare = 4

// windowCounters count how windows grew.
type windowCounters struct {
	granted *stat.Gauge
	refused *stat.Counter
}

func newWindowCounters(set *stat.Set) windowCounters {
	return windowCounters{
		granted: set.Gauge("felix_quic_window_granted_bytes",
			"Receive window granted to authenticated connections beyond the one before authentication."),
		refused: set.Counter("felix_quic_window_refused_total",
			"Window increases refused because the budget was used up."),
	}
}

// grant is the share of one connection in the budget. Its window starts at PreauthConnWindow and the QUIC
// library asks allow for every increase, usually a doubling:
//
//	before authentication:  no
//	after:                  yes, if the budget has it; else the window stays, and the library asks again
//	after the end:          no, and everything was given back
//
// What a peer spreads over its streams counts against the window of the connection, so before authentication
// this one alone bounds it. Each stream window starts at a quarter of it and grows with the stream's speed,
// whereupon the library asks for one and a half times as much for the connection. So a stream that nobody
// reads, because the work it carries has to wait, holds its own window and leaves the other streams of the
// connection some. With stream windows that are open from the start it took all there was, and every other
// stream of its connection stood still.
type grant struct {
	budget *WindowBudget
	count  windowCounters

	mu            sync.Mutex // guards the following
	authenticated bool
	ended         bool
	bytes         int64
}

// authenticate lets the window grow from now on.
func (g *grant) authenticate() {
	g.mu.Lock()
	g.authenticated = true
	g.mu.Unlock()
}

// allow answers the QUIC library, on the goroutine of the connection.
func (g *grant) allow(delta uint64) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.authenticated || g.ended {
		return false
	}
	if !g.budget.tryAcquire(int64(delta)) {
		g.count.refused.Inc()
		return false
	}
	g.bytes += int64(delta)
	g.count.granted.Add(int64(delta))
	return true
}

// end gives everything back, once.
func (g *grant) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.budget.release(g.bytes)
	g.count.granted.Add(-g.bytes)
	g.bytes, g.ended = 0, true
}
