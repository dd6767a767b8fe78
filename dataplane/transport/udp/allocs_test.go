//go:build linux && !race

package udp

import (
	"net/netip"
	"runtime"
	"testing"
)

// The gates of this room:
//
//	WriteMsgUDP and ReadBatch, coalesced or not, of known peers            0 allocations
//	peers.addr of a known peer                                             0 allocations

// meets runs f until some run needs at most want allocations: a collection that empties a pool cannot fail
// the gate.
func meets(t *testing.T, want float64, f func()) {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	least := -1.0
	for range 10 {
		got := testing.AllocsPerRun(100, f)
		if got <= want {
			return
		}
		if least < 0 || got < least {
			least = got
		}
	}
	t.Fatalf("at least %v allocations, want at most %v", least, want)
}

func TestReceiveAllocs(t *testing.T) {
	for _, bind := range binds {
		for _, gro := range []bool{true, false} {
			s, _ := open(t, bind.listen, gro)
			from := newSender(t, bind.host, s)
			control := controlOfRun(1200)
			run, ms := make([]byte, 16*1200), slots(slotCount)
			meets(t, 0, func() {
				if _, _, err := from.conn.WriteMsgUDP(run, control, from.to); err != nil {
					t.Fatal(err)
				}
				for received := 0; received < 16; {
					n, err := s.ReadBatch(ms, 0)
					if err != nil {
						t.Fatal(err)
					}
					received += n
				}
			})
		}
	}
}

func TestPeerAllocs(t *testing.T) {
	p := newPeers(16)
	a, b := netip.MustParseAddrPort("10.0.0.1:1"), netip.MustParseAddrPort("[fe80::1%lo]:2")
	meets(t, 0, func() {
		p.addr(a)
		p.addr(b)
	})
}
