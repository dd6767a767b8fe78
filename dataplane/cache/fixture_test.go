package cache

import (
	"bytes"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/felix-go/felix/dataplane/arena"
	"github.com/felix-go/felix/dataplane/stat"
	"github.com/felix-go/felix/internal/clock"
)

// began is the wall time at which the manual clocks of these tests start.
var began = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// fixture is a store on a manual clock whose arena must be empty again at the end of the test.
type fixture struct {
	*Store
	clock *clock.Manual
	arena *arena.Arena
	stats *stat.Set
}

func newFixture(tb testing.TB, cfg Config) *fixture {
	tb.Helper()
	f := openFixture(cfg)
	tb.Cleanup(func() {
		if err := f.end(); err != nil {
			tb.Error(err)
		}
	})
	return f
}

func openFixture(cfg Config) *fixture {
	f := &fixture{clock: clock.NewManual(began), arena: arena.New(), stats: stat.NewSet()}
	cfg.Arena, cfg.Stats = f.arena, f.stats
	if cfg.Clock == nil {
		cfg.Clock = f.clock
	}
	f.Store = New(cfg)
	return f
}

// end closes the store and reports blocks that did not come back.
func (f *fixture) end() error {
	f.Close()
	if n := f.arena.Outstanding(); n != 0 {
		return fmt.Errorf("%d blocks outstanding after Close\n%s", n, f.arena.Leaks())
	}
	if n := f.used.Load(); n != 0 {
		return fmt.Errorf("%d bytes in use after Close", n)
	}
	return nil
}

// audit compares every counter and link of the store with what a walk over all entries finds. The store must
// be idle.
func (f *fixture) audit() error {
	var used int64
	perCache := make(map[*Cache][2]int64)
	for i := range f.stripes {
		st := &f.stripes[i]
		n, err := f.auditStripe(st, perCache)
		if err != nil {
			return fmt.Errorf("stripe %d: %w", i, err)
		}
		used += n
	}
	if got := f.used.Load(); got != used {
		return fmt.Errorf("used is %d, the entries add up to %d", got, used)
	}
	if m := f.config.MaxBytes; m > 0 && used > m {
		return fmt.Errorf("used is %d, above the limit %d", used, m)
	}
	for _, c := range f.caches {
		if want := perCache[c]; c.Len() != want[0] || c.Bytes() != want[1] {
			return fmt.Errorf("cache counts %d entries, %d bytes; walk %v", c.Len(), c.Bytes(), want)
		}
	}
	return nil
}

func (f *fixture) auditStripe(st *stripe, perCache map[*Cache][2]int64) (used int64, err error) {
	entries, expiring := 0, 0
	queued := map[queueName]int64{}
	for _, c := range f.caches {
		t := c.tables[st.index]
		if t == nil {
			continue
		}
		live := uint32(0)
		for e := range t.all {
			live++
			entries++
			used += e.charge()
			queued[e.queue] += e.charge()
			sum := perCache[c]
			perCache[c] = [2]int64{sum[0] + 1, sum[1] + e.charge()}
			if c.find(st, e.hash, e.key()) != e {
				return 0, fmt.Errorf("entry %q is not found by its key", e.key())
			}
			if (e.expires != 0) != (e.due != 0) {
				return 0, fmt.Errorf("entry %q expires at %v, due %d", e.key(), e.expires, e.due)
			}
			if e.due != 0 {
				expiring++
				if d := st.due.line[e.due-1]; d.e != e || d.at != e.expires {
					return 0, fmt.Errorf("entry %q is not at its deadline", e.key())
				}
			}
		}
		if live != t.live || t.buckets < firstBuckets || live > t.buckets {
			return 0, fmt.Errorf("table says %d entries in %d buckets, walk %d", t.live, t.buckets, live)
		}
	}
	switch {
	case int(st.entries.Load()) != entries || st.bytes.Load() != used:
		err = fmt.Errorf("counts %d entries, %d bytes; walk %d, %d", st.entries.Load(), st.bytes.Load(), entries, used)
	case len(st.due.line) != expiring || st.soonest.Load() != st.due.soonest():
		err = fmt.Errorf("%d deadlines, soonest %d, for %d entries", len(st.due.line), st.soonest.Load(), expiring)
	case st.small.bytes != queued[queueSmall] || st.main.bytes != queued[queueMain]:
		err = fmt.Errorf("queues count %d and %d bytes, walk %v", st.small.bytes, st.main.bytes, queued)
	case st.small.count+st.main.count+boolInt(f.unqueued())*entries != entries:
		err = fmt.Errorf("queues hold %d and %d entries of %d", st.small.count, st.main.count, entries)
	}
	for i, d := range st.due.line {
		if d.at < st.due.line[max(0, (i-1)/2)].at {
			err = fmt.Errorf("deadline %d is before its parent", i)
		}
	}
	return used, err
}

func (f *fixture) unqueued() bool { return f.config.MaxBytes == 0 || f.config.Policy == PolicyNone }

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func mustAudit(tb testing.TB, f *fixture) {
	tb.Helper()
	if err := f.audit(); err != nil {
		tb.Fatal(err)
	}
}

func mustTTL(ms uint64) TTL {
	ttl, err := ParseTTL(ms, true)
	if err != nil {
		panic(err)
	}
	return ttl
}

// mustPut stores and returns the version.
func mustPut(tb testing.TB, c *Cache, key, value string, ttl TTL) uint64 {
	tb.Helper()
	version, r := c.Put([]byte(key), []byte(value), ttl)
	if r != Applied || version == 0 {
		tb.Fatalf("put %q: version %d, result %d", key, version, r)
	}
	return version
}

// wantValue fails unless key holds value, with this version when it is not 0.
func wantValue(tb testing.TB, c *Cache, key, value string, version uint64) {
	tb.Helper()
	v, ok := c.Get([]byte(key))
	if !ok {
		tb.Fatalf("get %q: absent, want %q", key, value)
	}
	defer v.Ref.Release()
	if !bytes.Equal(v.Ref.Bytes(), []byte(value)) || version != 0 && v.Version != version {
		tb.Fatalf("get %q: %q version %d, want %q version %d", key, v.Ref.Bytes(), v.Version, value, version)
	}
}

func wantAbsent(tb testing.TB, c *Cache, key string) {
	tb.Helper()
	if v, ok := c.Get([]byte(key)); ok {
		tb.Fatalf("get %q: %q, want absent", key, v.Ref.Bytes())
	}
}

func wantKeys(tb testing.TB, c *Cache, want ...string) {
	tb.Helper()
	keys, more := c.Keys(nil, nil, math.MaxInt)
	got := make([]string, len(keys))
	for i, k := range keys {
		got[i] = string(k)
	}
	if more || fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		tb.Fatalf("keys %q (more %v), want %q", got, more, want)
	}
}

// stoppedClock is a machine whose wall clock was never set and is before 1970.
type stoppedClock struct{ *clock.Manual }

func (stoppedClock) Now() time.Time { return time.Unix(-5, 0) }
