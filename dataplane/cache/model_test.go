package cache

import (
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/felix-go/felix/dataplane/wire"
	"pgregory.net/rapid"
)

// model is the cache as a plain map. It knows nothing of eviction: before each comparison, entries that the
// store has evicted are found by a walk, taken out and counted.
type model struct {
	t       *rapid.T
	f       *fixture
	caches  [2]*modelCache
	version uint64
	evicted int64
	held    []heldValue
}

type modelCache struct {
	*Cache
	handle      wire.Handle
	incarnation uint64
	entries     map[string]modelEntry
}

type modelEntry struct {
	value   string
	version uint64
	expires time.Duration
}

type heldValue struct {
	Value
	want string
}

var modelKeys = []string{"", "a", "b", "ab", "abc", "\x00", "é", "e\u0301", strings.Repeat("k", 300)}

// TestAgainstModel replays random histories with and without eviction; after every step each key, all
// listings and every byte count must be what the model says.
func TestAgainstModel(t *testing.T) {
	for name, cfg := range map[string]Config{
		"unlimited": {},
		"none":      {MaxBytes: 2000, Policy: PolicyNone},
		"s3-fifo":   {MaxBytes: 2000, Policy: PolicyS3FIFO},
		"lru":       {MaxBytes: 2000, Policy: PolicyLRU},
		"stripes":   {MaxBytes: 4 << 20, Policy: PolicyS3FIFO},
	} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				m := newModel(t, cfg)
				t.Repeat(map[string]func(*rapid.T){
					"put": m.put, "put-if": m.putIf, "get": m.get, "delete": m.delete, "delete-if": m.deleteIf,
					"advance": m.advance, "step wall": m.stepWall, "sweep": m.sweep, "keys": m.keys,
					"recreate": m.recreate, "release": m.release, "": m.check,
				})
				m.end()
			})
		})
	}
}

func newModel(t *rapid.T, cfg Config) *model {
	m := &model{t: t, f: openFixture(cfg)}
	m.version = m.f.version.Load()
	for i := range m.caches {
		h := wire.Handle(i + 1)
		m.caches[i] = &modelCache{Cache: m.f.Open(h, 1), handle: h, incarnation: 1, entries: map[string]modelEntry{}}
	}
	return m
}

func (m *model) pick(t *rapid.T) (*modelCache, string) {
	return m.caches[rapid.IntRange(0, 1).Draw(t, "cache")], rapid.SampledFrom(modelKeys).Draw(t, "key")
}

func (m *model) drawPut(t *rapid.T) (value string, ttl TTL) {
	n := rapid.SampledFrom([]int{0, 1, 10, 63, 64, 65, 700, 1500, 1990}).Draw(t, "size")
	if ms := rapid.SampledFrom([]uint64{0, 1, 2, 5, 1000, maxTTLMillis}).Draw(t, "ttl"); ms > 0 {
		ttl = mustTTL(ms)
	}
	return strings.Repeat(rapid.StringN(1, 1, 1).Draw(t, "fill"), n), ttl
}

func (m *model) live(e modelEntry) bool { return e.expires == 0 || m.f.clock.Boot() < e.expires }

// current is the version that conditions see.
func (m *model) current(c *modelCache, key string) uint64 {
	if e, ok := c.entries[key]; ok && m.live(e) {
		return e.version
	}
	return 0
}

// fits says whether a put must be accepted: room is made of whatever has expired, and under an evicting
// policy of anything.
func (m *model) fits(c *modelCache, key string, charge int64) bool {
	cfg := m.f.config
	if cfg.MaxBytes == 0 || cfg.Policy != PolicyNone {
		return cfg.MaxBytes == 0 || charge <= cfg.MaxBytes
	}
	for _, other := range m.caches {
		for k, e := range other.entries {
			if m.live(e) && (other != c || k != key) {
				charge += chargeOf(len(k), len(e.value))
			}
		}
	}
	return charge <= cfg.MaxBytes
}

func (m *model) put(t *rapid.T) {
	c, key := m.pick(t)
	value, ttl := m.drawPut(t)
	fits := m.fits(c, key, chargeOf(len(key), len(value)))
	version, r := c.Put([]byte(key), []byte(value), ttl)
	m.stored(t, c, key, value, ttl, version, r, fits)
}

func (m *model) putIf(t *rapid.T) {
	c, key := m.pick(t)
	value, ttl := m.drawPut(t)
	current := m.current(c, key)
	condition := m.drawCondition(t, current)
	holds := condition.Absent && current == 0 || !condition.Absent && current != 0 && condition.Version == current
	fits := m.fits(c, key, chargeOf(len(key), len(value)))
	version, r := c.PutIf([]byte(key), []byte(value), ttl, condition)
	if !holds {
		if r != Refused || version != current {
			t.Fatalf("put-if %q %+v: version %d, result %d; current is %d", key, condition, version, r, current)
		}
		return
	}
	if r == Refused && version == 0 && !m.f.unqueued() && !condition.Absent {
		return // the entry was evicted to make room for its own successor
	}
	m.stored(t, c, key, value, ttl, version, r, fits)
}

func (m *model) drawCondition(t *rapid.T, current uint64) Condition {
	switch rapid.IntRange(0, 3).Draw(t, "condition") {
	case 0:
		return Condition{Absent: true}
	case 1:
		return Condition{Version: rapid.Uint64Range(m.version-3, m.version+2).Draw(t, "version")}
	case 2:
		return Condition{}
	}
	return Condition{Version: current}
}

func (m *model) stored(
	t *rapid.T, c *modelCache, key, value string, ttl TTL, version uint64, r Result, fits bool,
) {
	if !fits {
		if r != Full || version != 0 {
			t.Fatalf("put %q (%d bytes): version %d, result %d, want Full", key, len(value), version, r)
		}
		return
	}
	m.version++
	if r != Applied || version != m.version {
		t.Fatalf("put %q (%d bytes): version %d, result %d, want version %d", key, len(value), version, r, m.version)
	}
	// The old entry may have been evicted for its successor; that is not seen below, because the key is there
	// again.
	m.countLost(c, key)
	c.entries[key] = modelEntry{value: value, version: version, expires: ttl.deadline(m.f.clock.Boot())}
}

// countLost corrects the expected evictions when a put's own key may have been among them.
func (m *model) countLost(c *modelCache, key string) {
	if _, had := c.entries[key]; !had {
		return
	}
	got := m.f.stats.Snapshot()["felix_cache_evictions_total"]
	missing := m.evicted
	for _, other := range m.caches {
		for k, e := range other.entries {
			if (other != c || k != key) && m.live(e) && !present(other, k) {
				missing++
			}
		}
	}
	if got == missing+1 {
		m.evicted++
	}
}

// present looks an entry up without counting a use.
func present(c *modelCache, key string) bool {
	for _, t := range c.tables {
		if t == nil {
			continue
		}
		for e := range t.all {
			if string(e.key()) == key {
				return true
			}
		}
	}
	return false
}

func (m *model) get(t *rapid.T) {
	c, key := m.pick(t)
	e, had := c.entries[key]
	v, ok := c.Get([]byte(key))
	m.compare(t, key, v, ok, e, had && m.live(e))
}

func (m *model) delete(t *rapid.T) {
	c, key := m.pick(t)
	e, had := c.entries[key]
	v, ok := c.Delete([]byte(key))
	m.compare(t, key, v, ok, e, had && m.live(e))
	delete(c.entries, key)
}

// compare checks a returned value and keeps some of them, to be looked at again much later.
func (m *model) compare(t *rapid.T, key string, v Value, ok bool, e modelEntry, want bool) {
	if ok != want {
		t.Fatalf("%q: found %v, want %v", key, ok, want)
	}
	if !ok {
		return
	}
	if string(v.Ref.Bytes()) != e.value || v.Version != e.version || v.ExpiresAt != e.expires {
		t.Fatalf("%q: %d bytes, version %d, expires %v; want %+v", key, len(v.Ref.Bytes()), v.Version, v.ExpiresAt, e)
	}
	m.held = append(m.held, heldValue{v, e.value})
}

func (m *model) deleteIf(t *rapid.T) {
	c, key := m.pick(t)
	current := m.current(c, key)
	version := m.drawCondition(t, current).Version
	got, r := c.DeleteIf([]byte(key), version)
	switch {
	case current != 0 && version == current:
		if r != Applied || got != 0 {
			t.Fatalf("delete-if %q: %d, %d", key, got, r)
		}
		delete(c.entries, key)
	case r != Refused || got != current:
		t.Fatalf("delete-if %q at %d: %d, result %d; current is %d", key, version, got, r, current)
	}
}

func (m *model) advance(t *rapid.T) {
	steps := []time.Duration{time.Microsecond, time.Millisecond, 5 * time.Millisecond, time.Second}
	m.f.clock.Advance(rapid.SampledFrom(steps).Draw(t, "step"))
}

func (m *model) stepWall(t *rapid.T) {
	m.f.clock.StepWall(time.Duration(rapid.Int64Range(-int64(time.Hour), int64(time.Hour)).Draw(t, "step")))
}

func (m *model) sweep(t *rapid.T) {
	if m.f.sweep() {
		t.Fatal("the sweep of a few entries did not finish")
	}
	for _, c := range m.caches {
		for k, e := range c.entries {
			if !m.live(e) {
				delete(c.entries, k)
			}
		}
	}
	m.check(t)
	if n := int64(len(m.caches[0].entries) + len(m.caches[1].entries)); n != m.caches[0].Len()+m.caches[1].Len() {
		t.Fatalf("%d entries after the sweep, want %d", m.caches[0].Len()+m.caches[1].Len(), n)
	}
}

func (m *model) keys(t *rapid.T) {
	c, after := m.pick(t)
	prefix := rapid.SampledFrom(modelKeys).Draw(t, "prefix")
	limit := rapid.IntRange(0, 10).Draw(t, "limit")
	var want []string
	for k, e := range c.entries {
		if m.live(e) && strings.HasPrefix(k, prefix) && (after == "" || k > after) {
			want = append(want, k)
		}
	}
	sort.Strings(want)
	wantMore := len(want) > max(limit, 2)
	want = want[:min(len(want), max(limit, 2))]
	got, more := c.Keys([]byte(prefix), []byte(after), limit)
	same := func(a []byte, b string) bool { return string(a) == b }
	if !slices.EqualFunc(got, want, same) || more != wantMore {
		t.Fatalf("keys %q after %q limit %d: %q more %v, want %q more %v", prefix, after, limit, got, more, want, wantMore)
	}
}

func (m *model) recreate(t *rapid.T) {
	c, _ := m.pick(t)
	if rapid.IntRange(0, 3).Draw(t, "really") > 0 {
		return
	}
	old := c.Cache
	m.f.Drop(c.handle, c.incarnation)
	if _, r := old.Put([]byte("k"), nil, NoExpiry); r != Gone || old.Len() != 0 || old.Bytes() != 0 {
		t.Fatalf("dropped cache: put %d, %d entries, %d bytes", r, old.Len(), old.Bytes())
	}
	c.incarnation++
	c.Cache = m.f.Open(c.handle, c.incarnation)
	clear(c.entries)
}

func (m *model) release(t *rapid.T) {
	for _, h := range m.held {
		if string(h.Ref.Bytes()) != h.want {
			t.Fatalf("a held value changed: %q, want %q", h.Ref.Bytes(), h.want)
		}
		h.Ref.Release()
	}
	m.held = m.held[:0]
}

// check compares the whole store with the model.
func (m *model) check(t *rapid.T) {
	for _, c := range m.caches {
		for k, e := range c.entries {
			if present(c, k) {
				continue
			}
			if m.live(e) {
				m.evicted++
			}
			delete(c.entries, k)
		}
		var bytes int64
		for k, e := range c.entries {
			bytes += chargeOf(len(k), len(e.value))
		}
		if c.Bytes() != bytes || c.Len() != int64(len(c.entries)) {
			t.Fatalf("cache has %d entries, %d bytes; model %d, %d", c.Len(), c.Bytes(), len(c.entries), bytes)
		}
	}
	if err := m.f.audit(); err != nil {
		t.Fatal(err)
	}
	n := m.f.stats.Snapshot()["felix_cache_evictions_total"]
	if n != m.evicted || n > 0 && m.f.unqueued() {
		t.Fatalf("%d evictions counted, %d entries gone", n, m.evicted)
	}
}

func (m *model) end() {
	m.check(m.t)
	m.release(m.t)
	if err := m.f.end(); err != nil {
		m.t.Fatal(err)
	}
}
