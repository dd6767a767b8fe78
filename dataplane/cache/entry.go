package cache

import (
	"bytes"
	"sync/atomic"
	"time"

	"github.com/felix-go/felix/dataplane/arena"
)

// EntryOverhead is what an entry counts against Config.MaxBytes beside its key and value, in bytes: the entry
// (96), its block's header (48), its place in the table (8 to 16), in the line of deadlines (16 to 32) and in
// the ghost history (8 to 32). TestEntryOverhead measures 183 to 193 with all of them in use. The rounding of
// a block to its size class is not in it: key and value together take the next power of two, at least 64
// bytes.
const EntryOverhead = 224

// entry is one key with its current value. The stripe's lock guards every field but hits.
type entry struct {
	// block is [value][key], owned by the entry: one block, so the key is stored once and costs no second
	// one, and the value comes first, so a reader's Slice of it needs no offset. An overwrite replaces the
	// block; readers of the old one keep it.
	block arena.Ref
	owner *Cache
	chain *entry // next in the table's bucket, or next spare
	// newer and older are the neighbours in the eviction queue.
	newer, older     *entry
	hash             uint64
	version          uint64
	expires          time.Duration // boot time; 0 is never
	valueLen, keyLen uint32
	due              uint32        // 1 + index in the stripe's deadlines; 0 is none
	hits             atomic.Uint32 // 0..maxHits; set under the reader lock, a lost step is harmless
	queue            queueName
}

// charge is what the entry counts against the limit.
//
//felix:hot
func (e *entry) charge() int64 { return chargeOf(int(e.keyLen), int(e.valueLen)) }

func chargeOf(keyLen, valueLen int) int64 { return int64(keyLen) + int64(valueLen) + EntryOverhead }

//felix:hot
func (e *entry) key() []byte {
	return e.block.Bytes()[e.valueLen : e.valueLen+e.keyLen]
}

//felix:hot
func (e *entry) is(owner *Cache, hash uint64, key []byte) bool {
	return e.hash == hash && e.owner == owner && bytes.Equal(e.key(), key)
}

// value retains the value for a reader.
//
//felix:hot
func (e *entry) value() Value {
	return Value{Ref: e.block.Retain().Slice(int(e.valueLen)), Version: e.version, ExpiresAt: e.expires}
}

// expired reports whether the entry is dead at boot time now.
//
//felix:hot
func (e *entry) expired(now time.Duration) bool { return e.expires != 0 && now >= e.expires }

// touch counts a use for S3-FIFO. Most uses of a popular entry find it saturated and write nothing.
//
//felix:hot
func (e *entry) touch() {
	if n := e.hits.Load(); n < maxHits {
		e.hits.Store(n + 1)
	}
}
