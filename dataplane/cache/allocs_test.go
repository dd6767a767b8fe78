//go:build !race

package cache

import (
	"encoding/binary"
	"runtime"
	"testing"

	"github.com/felix-go/felix/internal/clock"
	"github.com/felix-go/felix/internal/invariants"
)

// TestAllocs holds the room's gates: heap allocations per operation in steady state. Some run must meet the
// target; a collection that empties a pool may spoil others.
func TestAllocs(t *testing.T) {
	if invariants.Enabled {
		return // released blocks are never lent again there
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	key, absent, small, value := []byte("key"), []byte("absent"), make([]byte, 100), make([]byte, 120)
	for name, cfg := range map[string]Config{
		"unlimited": {}, "s3-fifo": {MaxBytes: 1 << 20}, "lru": {MaxBytes: 1 << 20, Policy: PolicyLRU},
		"none": {MaxBytes: 1 << 20, Policy: PolicyNone},
	} {
		cfg.Clock = clock.Real()
		f := newFixture(t, cfg)
		c := f.Open(1, 1)
		full := newFixture(t, cfg).Open(1, 1)
		for i := range 6000 {
			full.Put([]byte{byte(i), byte(i >> 8)}, small, MaxTTL)
		}
		fresh := make([]byte, 4)
		version, _ := c.Put(key, value, MaxTTL)
		n := 0
		for _, gate := range []struct {
			name string
			op   func()
		}{
			{"get hit", func() {
				v, _ := c.Get(key)
				v.Ref.Release()
			}},
			{"get miss", func() { c.Get(absent) }},
			{"put over the same size class", func() {
				version, _ = c.Put(key, value[:100+n%20], MaxTTL)
				n++
			}},
			{"put without expiry, then with", func() {
				c.Put(key, value, NoExpiry)
				version, _ = c.Put(key, value, MaxTTL)
			}},
			{"put-if", func() { version, _ = c.PutIf(key, value, MaxTTL, Condition{Version: version}) }},
			{"put-if refused", func() { c.PutIf(key, value, NoExpiry, Condition{Absent: true}) }},
			{"delete-if refused", func() { c.DeleteIf(key, 1) }},
			{"delete and put", func() {
				v, _ := c.Delete(key)
				v.Ref.Release()
				c.Put(key, value, MaxTTL)
			}},
			{"put of new keys at the limit", func() {
				n++
				binary.BigEndian.PutUint32(fresh, uint32(n))
				if full.Put(fresh, small, MaxTTL); cfg.Policy != PolicyNone && cfg.MaxBytes > 0 {
					return
				}
				if v, ok := full.Delete(fresh); ok {
					v.Ref.Release()
				}
			}},
		} {
			best := 1e9
			for range 5 {
				best = min(best, testing.AllocsPerRun(500, gate.op))
			}
			if best != 0 {
				t.Errorf("%s: %s: %.1f allocations", name, gate.name, best)
			}
		}
	}
}
