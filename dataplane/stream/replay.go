package stream

import (
	"encoding/binary"
	"sort"
	"sync/atomic"

	"github.com/felix-go/felix/dataplane/fanout"
	"github.com/felix-go/felix/dataplane/ring"
	"github.com/felix-go/felix/dataplane/wire"
)

// ReplayBudget bounds the bytes of all replay rings of the process. A shard that pushes while it is used up evicts its
// own oldest batches until it is not, or until its ring is empty.
type ReplayBudget struct {
	max  int64
	used atomic.Int64
}

// NewReplayBudget returns a budget of maxBytes; 0 means no limit.
func NewReplayBudget(maxBytes int64) *ReplayBudget { return &ReplayBudget{max: maxBytes} }

// Bytes returns the frame bytes in all rings.
func (b *ReplayBudget) Bytes() int64 { return b.used.Load() }

func (b *ReplayBudget) add(n int64) {
	if b != nil {
		b.used.Add(n)
	}
}

func (b *ReplayBudget) over() bool { return b != nil && b.max > 0 && b.used.Load() > b.max }

// replay is the ring of a shard: its newest batches in offset order without a gap, bounded in records and bytes. It
// holds one count of each. Guarded by Shard.mu.
type replay struct {
	maxRecords int
	maxBytes   int64
	budget     *ReplayBudget
	batches    *ring.Buffer[*fanout.Envelope] // nil without a ring
	records    int
	bytes      int64
}

func newReplay(c Config) replay {
	r := replay{maxRecords: c.RingMaxRecords, maxBytes: c.RingMaxBytes, budget: c.Budget}
	if c.RingMaxRecords > 0 && c.RingMaxBytes > 0 {
		r.batches = ring.NewBuffer[*fanout.Envelope](c.RingMaxRecords)
	}
	return r
}

func (r *replay) len() int {
	if r.batches == nil {
		return 0
	}
	return r.batches.Len()
}

// first returns the oldest batch or nil.
func (r *replay) first() *fanout.Envelope {
	if r.len() == 0 {
		return nil
	}
	return r.batches.Peek(0)
}

// push keeps the batch and evicts whole old ones for it. A batch that does not fit alone empties the ring, because
// what is kept must reach up to the tail.
func (r *replay) push(e *fanout.Envelope) {
	if r.batches == nil || e.Count() == 0 {
		return
	}
	records, size := int(e.Count()), int64(e.Size())
	if records > r.maxRecords || size > r.maxBytes {
		r.clear()
		return
	}
	for r.records+records > r.maxRecords || r.bytes+size > r.maxBytes {
		r.evict()
	}
	e.Retain()
	r.batches.Push(e)
	r.records += records
	r.bytes += size
	r.budget.add(size)
	for r.budget.over() && r.len() > 0 {
		r.evict()
	}
}

func (r *replay) evict() {
	e, _ := r.batches.Pop()
	size := int64(e.Size())
	r.records -= int(e.Count())
	r.bytes -= size
	r.budget.add(-size)
	e.Release()
}

func (r *replay) clear() {
	for r.len() > 0 {
		r.evict()
	}
}

// since returns the batches that have records from that offset on, each with a count for the caller.
func (r *replay) since(from wire.Offset) []*fanout.Envelope {
	n := r.len()
	i := sort.Search(n, func(i int) bool {
		e := r.batches.Peek(i)
		return e.Base()+wire.Offset(e.Count()) > from
	})
	if i == n {
		return nil
	}
	found := make([]*fanout.Envelope, 0, n-i)
	for ; i < n; i++ {
		e := r.batches.Peek(i)
		e.Retain()
		found = append(found, e)
	}
	return found
}

// cut returns the part of a batch that begins with the record at from, as an envelope with a block of its own.
// REQUIRES: from is inside the batch.
func (s *Shard) cut(whole *fanout.Envelope, from wire.Offset) *fanout.Envelope {
	const countLen = 4
	skip := uint32(from - whole.Base())
	rest := whole.Body()[countLen:]
	payload := whole.PayloadBytes()
	for range skip {
		var record []byte
		record, rest, _ = wire.NextRecord(rest)
		payload -= len(record)
	}
	n := countLen + len(rest)
	ref := s.config.Arena.Acquire(fanout.Headroom + n)
	body := ref.Bytes()[fanout.Headroom:]
	binary.BigEndian.PutUint32(body, whole.Count()-skip)
	copy(body[countLen:], rest)
	return s.config.Encoder.Envelope(ref, fanout.Headroom, n, whole.Count()-skip, from, payload)
}
