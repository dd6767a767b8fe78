package cache

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

func TestNoneRefusesBeyondLimit(t *testing.T) {
	const unit = 1 + 3 + EntryOverhead
	f := newFixture(t, Config{MaxBytes: 3 * unit, Policy: PolicyNone})
	c := f.Open(1, 1)
	for _, k := range []string{"a", "b", "c"} {
		mustPut(t, c, k, "xxx", mustTTL(1000))
	}
	version := f.version.Load()
	refused := func(what string, r Result) {
		t.Helper()
		if r != Full {
			t.Errorf("%s: result %d, want Full", what, r)
		}
		for _, k := range []string{"a", "b", "c"} {
			wantValue(t, c, k, "xxx", 0)
		}
		mustAudit(t, f)
	}
	_, r := c.Put([]byte("d"), nil, NoExpiry)
	refused("new key", r)
	_, r = c.PutIf([]byte("d"), nil, NoExpiry, Condition{Absent: true})
	refused("put-if absent", r)
	_, r = c.Put([]byte("a"), []byte("xxxx"), NoExpiry)
	refused("one byte more", r)
	_, r = c.PutIf([]byte("a"), []byte("xxxx"), NoExpiry, Condition{Version: version - 2})
	refused("one byte more, if", r)
	current, r := c.PutIf([]byte("a"), make([]byte, 10_000), NoExpiry, Condition{Version: 1})
	if r != Refused || current != version-2 {
		t.Errorf("a condition that fails: %d, %d", current, r)
	}

	// The same size, or less, always fits, and its expiry is the new put's.
	mustPut(t, c, "a", "yyy", NoExpiry)
	mustPut(t, c, "b", "y", NoExpiry)
	mustPut(t, c, "c", "yyyyy", mustTTL(2000))
	mustAudit(t, f)

	// Room comes back with expiry even before the sweep.
	f.clock.Advance(2 * time.Second)
	mustPut(t, c, "d", "xxx", NoExpiry)
	wantAbsent(t, c, "c")
	wantKeys(t, c, "a", "b", "d")
	mustAudit(t, f)
}

func TestPutLargerThanLimitEvictsNothing(t *testing.T) {
	for _, policy := range []Policy{PolicyS3FIFO, PolicyLRU, PolicyNone} {
		f := newFixture(t, Config{MaxBytes: 4000, Policy: policy})
		c := f.Open(1, 1)
		mustPut(t, c, "a", "x", NoExpiry)
		if _, r := c.Put([]byte("b"), make([]byte, 4000-EntryOverhead), NoExpiry); r != Full {
			t.Errorf("%v: one byte above the limit: %d", policy, r)
		}
		if _, r := c.Put([]byte("a"), make([]byte, 5000), NoExpiry); r != Full {
			t.Errorf("%v: overwrite above the limit: %d", policy, r)
		}
		wantValue(t, c, "a", "x", 0)
		f.Drop(1, 1)
		c = f.Open(1, 2)
		if _, r := c.Put([]byte("b"), make([]byte, 4000-1-EntryOverhead), NoExpiry); r != Applied {
			t.Errorf("%v: exactly the limit: %d", policy, r)
		}
		mustAudit(t, f)
	}
}

func TestLRUEvictsLongestUnused(t *testing.T) {
	const unit = 1 + EntryOverhead
	f := newFixture(t, Config{MaxBytes: 3 * unit, Policy: PolicyLRU})
	c := f.Open(1, 1)
	for _, k := range []string{"a", "b", "c"} {
		mustPut(t, c, k, "", NoExpiry)
	}
	wantValue(t, c, "a", "", 0) // b is the oldest now
	mustPut(t, c, "d", "", NoExpiry)
	wantKeys(t, c, "a", "c", "d")
	mustPut(t, c, "c", "", NoExpiry) // overwriting is a use: a is the oldest now
	mustPut(t, c, "e", "", NoExpiry)
	wantKeys(t, c, "c", "d", "e")
}

func TestS3FIFOKeepsWhatIsReadAgain(t *testing.T) {
	const n = 100
	f := newFixture(t, Config{MaxBytes: n * (4 + EntryOverhead)})
	c := f.Open(1, 1)
	key := func(i int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(i)) }
	read := func(i int) bool {
		v, ok := c.Get(key(i))
		if ok {
			v.Ref.Release()
		}
		return ok
	}
	for i := range 50 {
		c.Put(key(i), nil, NoExpiry)
		read(i)
		read(i)
	}
	// A scan of keys that are never read again passes through the small queue.
	for i := 1000; i < 5000; i++ {
		c.Put(key(i), nil, NoExpiry)
	}
	for i := range 50 {
		if !read(i) {
			t.Errorf("key %d was pushed out by the scan", i)
		}
	}
	// A key that comes back soon after it left is admitted to the main queue at once.
	gone := 5000 - n/2
	for read(gone) {
		gone--
	}
	c.Put(key(gone), nil, NoExpiry)
	for i := 6000; i < 6000+n; i++ {
		c.Put(key(i), nil, NoExpiry)
	}
	if !read(gone) {
		t.Error("a returning key was evicted with the scan")
	}
	mustAudit(t, f)
}

// An entry that has expired leaves before one that lives.
func TestExpiredLeaveFirst(t *testing.T) {
	const unit = 1 + EntryOverhead
	for _, policy := range []Policy{PolicyS3FIFO, PolicyLRU} {
		f := newFixture(t, Config{MaxBytes: 3 * unit, Policy: policy})
		c := f.Open(1, 1)
		mustPut(t, c, "a", "", NoExpiry)
		mustPut(t, c, "b", "", NoExpiry)
		mustPut(t, c, "c", "", mustTTL(1))
		f.clock.Advance(time.Millisecond)
		mustPut(t, c, "d", "", NoExpiry)
		wantKeys(t, c, "a", "b", "d")
		got := f.stats.Snapshot()
		if got["felix_cache_evictions_total"] != 0 || got["felix_cache_expired_total"] != 1 {
			t.Errorf("%v: %v", policy, got)
		}
	}
}

// The work of a put is bounded: what it evicts by its own size, what it spares by maxChances.
func TestEvictionWorkIsBounded(t *testing.T) {
	const n = 2000
	f := newFixture(t, Config{MaxBytes: n * (4 + EntryOverhead)})
	c := f.Open(1, 1)
	key := func(i int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(i)) }
	for i := range n {
		c.Put(key(i), nil, NoExpiry)
	}
	// Everything has been read as often as counts: without a bound, one put would go round the whole queue
	// four times.
	for e := range c.tables[0].all {
		e.hits.Store(maxHits)
	}
	for i := range 200 {
		before := f.stats.Snapshot()["felix_cache_evictions_total"]
		c.Put(key(n+i), nil, NoExpiry)
		if d := f.stats.Snapshot()["felix_cache_evictions_total"] - before; d != 1 {
			t.Fatalf("a small put evicted %d entries", d)
		}
		if moved := f.stripes[0].main.count; moved > (i+1)*maxChances {
			t.Fatalf("%d entries moved by %d puts", moved, i+1)
		}
	}
	before := f.stats.Snapshot()["felix_cache_evictions_total"]
	charge := int64(100_000)
	if _, r := c.Put([]byte("big"), make([]byte, charge-3-EntryOverhead), NoExpiry); r != Applied {
		t.Fatalf("big put: %d", r)
	}
	if d := f.stats.Snapshot()["felix_cache_evictions_total"] - before; d > charge/EntryOverhead+1 {
		t.Errorf("a put of %d bytes evicted %d entries", charge, d)
	}
	mustAudit(t, f)
}

// A value larger than its stripe's share takes room from all stripes and still fits.
func TestLargeValuesSpanStripes(t *testing.T) {
	f := newFixture(t, Config{MaxBytes: 8 << 20})
	c := f.Open(1, 1)
	if len(f.stripes) != 8 {
		t.Fatalf("%d stripes", len(f.stripes))
	}
	for i := range 20_000 {
		mustPut(t, c, fmt.Sprint("small", i), "", NoExpiry)
	}
	for i := range 6 {
		mustPut(t, c, fmt.Sprint("large", i), string(make([]byte, 3<<20)), NoExpiry)
		mustAudit(t, f)
	}
	wantValue(t, c, "large5", string(make([]byte, 3<<20)), 0)
	if n := c.Len(); n < 3 {
		t.Errorf("only %d entries are left", n)
	}
	// Evictions follow bytes, so small keys spread over the stripes evenly again.
	for i := range 100_000 {
		mustPut(t, c, fmt.Sprint("small", i), "", NoExpiry)
	}
	for i := range f.stripes {
		if b := f.stripes[i].bytes.Load(); b < 512<<10 || b > 2<<20 {
			t.Errorf("stripe %d holds %d of %d bytes", i, b, f.config.MaxBytes)
		}
	}
	mustAudit(t, f)
}

// fifo is the plain queue that S3-FIFO has to beat.
type fifo struct {
	limit int
	in    map[uint64]bool
	line  []uint64
}

func (q *fifo) get(k uint64) bool { return q.in[k] }
func (q *fifo) put(k uint64) {
	if len(q.line) == q.limit {
		delete(q.in, q.line[0])
		q.line = q.line[1:]
	}
	q.in[k] = true
	q.line = append(q.line, k)
}

// storeTrace is a cache under test behind the same two calls.
type storeTrace struct{ c *Cache }

func (s storeTrace) get(k uint64) bool {
	v, ok := s.c.Get(binary.BigEndian.AppendUint64(nil, k))
	if ok {
		v.Ref.Release()
	}
	return ok
}
func (s storeTrace) put(k uint64) { s.c.Put(binary.BigEndian.AppendUint64(nil, k), nil, NoExpiry) }

// hitRatio replays a look-aside trace: popular keys by a Zipf law, and a share of keys that are asked for
// once.
func hitRatio(c interface {
	get(uint64) bool
	put(uint64)
}, keys uint64, onceShare float64,
) float64 {
	const steps = 120_000
	r := rand.New(rand.NewPCG(11, 12))
	zipf := rand.NewZipf(r, 1.05, 1, keys-1)
	hits, once := 0, keys
	for range steps {
		k := zipf.Uint64()
		if r.Float64() < onceShare {
			once++
			k = once
		}
		if c.get(k) {
			hits++
		} else {
			c.put(k)
		}
	}
	return float64(hits) / steps
}

func TestS3FIFOHitRatio(t *testing.T) {
	const unit = 8 + EntryOverhead
	for _, c := range []struct {
		entries int
		keys    uint64
		once    float64
		margin  float64
	}{
		{1000, 20_000, 0, 0.03}, {200, 20_000, 0.3, 0.05},
		{2 << 20 / unit, 100_000, 0.3, 0.03}, // 2 stripes
	} {
		plain := hitRatio(&fifo{limit: c.entries, in: map[uint64]bool{}}, c.keys, c.once)
		ratio := map[Policy]float64{}
		for _, p := range []Policy{PolicyS3FIFO, PolicyLRU} {
			f := newFixture(t, Config{MaxBytes: int64(c.entries) * unit, Policy: p})
			ratio[p] = hitRatio(storeTrace{f.Open(1, 1)}, c.keys, c.once)
			mustAudit(t, f)
		}
		t.Logf("%d of %d keys, %.0f %% once: fifo %.4f, lru %.4f, s3-fifo %.4f",
			c.entries, c.keys, 100*c.once, plain, ratio[PolicyLRU], ratio[PolicyS3FIFO])
		if ratio[PolicyS3FIFO] < plain+c.margin {
			t.Errorf("s3-fifo hits %.4f, fifo %.4f, want %.2f more", ratio[PolicyS3FIFO], plain, c.margin)
		}
		if ratio[PolicyLRU] < plain {
			t.Errorf("lru hits %.4f, fifo %.4f", ratio[PolicyLRU], plain)
		}
	}
}

// The same bound holds in the main queue, and an entry beyond it leaves although it was read.
func TestMainQueueWorkIsBounded(t *testing.T) {
	const n = 1000
	f := newFixture(t, Config{MaxBytes: n * (4 + EntryOverhead)})
	c, st := f.Open(1, 1), &f.stripes[0]
	for i := range n {
		c.Put(binary.BigEndian.AppendUint32(nil, uint32(i)), nil, NoExpiry)
	}
	for e := range c.tables[0].all {
		st.small.unlink(e)
		st.main.push(e, queueMain)
		e.hits.Store(maxHits)
	}
	c.Put([]byte("next"), nil, NoExpiry)
	lowered := 0
	for e := range c.tables[0].all {
		if e.queue == queueMain && e.hits.Load() < maxHits {
			lowered++
		}
	}
	if lowered != maxChances || c.Len() != n {
		t.Errorf("one put judged %d entries, %d are left", lowered, c.Len())
	}
	mustAudit(t, f)
}
