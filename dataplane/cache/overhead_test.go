//go:build !race

package cache

import (
	"encoding/binary"
	"runtime"
	"testing"
	"unsafe"

	"github.com/felix-go/felix/internal/invariants"
)

// TestEntryOverhead measures what EntryOverhead stands for: heap bytes per entry beside key and value, for
// blocks that fill their class, with every part in use: expiry, eviction queues and a full ghost history.
func TestEntryOverhead(t *testing.T) {
	if invariants.Enabled {
		return // blocks remember where they come from there
	}
	const n = 50_000
	for _, c := range []struct{ key, value int }{{16, 48}, {16, 240}, {8, 1016}} {
		f := newFixture(t, Config{MaxBytes: n * (int64(c.key+c.value) + EntryOverhead)})
		cache := f.Open(1, 1)
		before := heapBytes()
		key, value := make([]byte, c.key), make([]byte, c.value)
		for i := range uint64(2 * n) {
			binary.BigEndian.PutUint64(key, i)
			cache.Put(key, value, MaxTTL)
		}
		per := (heapBytes()-before)/cache.Len() - int64(c.key+c.value)
		t.Logf("key %d, value %d: %d bytes per entry beside them", c.key, c.value, per)
		if per > EntryOverhead || per < EntryOverhead*3/4 {
			t.Errorf("key %d, value %d: %d bytes per entry, EntryOverhead is %d", c.key, c.value, per, EntryOverhead)
		}
		runtime.KeepAlive(f)
	}
	if size := unsafe.Sizeof(entry{}); size > 96 {
		t.Errorf("an entry takes %d bytes, want at most 96, a class of the allocator", size)
	}
}

func heapBytes() int64 {
	runtime.GC()
	runtime.GC() // pools give up what they hold after two
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
