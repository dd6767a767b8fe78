package fanout

import (
	"sync"
	"sync/atomic"

	"github.com/felix-go/felix/dataplane/arena"
	"github.com/felix-go/felix/dataplane/stat"
	"github.com/felix-go/felix/dataplane/wire"
	"github.com/felix-go/felix/internal/invariants"
)

// Headroom is the room in front of a batch's body in its block, in bytes: enough for the header of every event
// frame that is written in place.
const Headroom = 32

// Encoder makes envelopes. Its methods are safe from any goroutine.
type Encoder struct {
	pool    sync.Pool // of *Envelope
	encodes *stat.Counter
}

// NewEncoder returns an Encoder that counts frames in felix_fanout_encodes_total.
func NewEncoder(stats *stat.Set) *Encoder {
	x := &Encoder{encodes: stats.Counter("felix_fanout_encodes_total", "Event frames encoded; shared by all subscribers.")}
	x.pool.New = func() any { return new(Envelope) }
	return x
}

// noCopy makes vet refuse copies.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// Envelope is one batch on its way to the subscribers of its shard: counted, shared, immutable but for its header.
//
// The batch lives in one block:
//
//	[ Headroom, at least HeaderLen bytes ][ u32 count ][ u32 len, bytes ] ...
//	                  ^ frame starts here  ^ off                          ^ off+n
//
// What follows the headroom is byte for byte the payload of a shared event frame (wire protocol section 9.6), so to
// encode the frame is to put twelve bytes in front of it. The first caller of Frame does, every other shares the
// same bytes: one encode per batch whatever the fanout, and no copy between the publisher's stream and QUIC.
//
// Whoever holds an envelope holds one count. The counts are its lane's (given to stream.Complete), the replay ring's,
// and one per queue or pump. The last Release gives the block back and the envelope to its pool.
type Envelope struct {
	_       noCopy
	refs    atomic.Int32
	queued  atomic.Int32 // subscribers it waits for, see Egress
	encoded atomic.Bool  // the header is in place
	encode  sync.Mutex   // held while the header is written

	// Immutable between Encoder.Envelope and the last Release.
	x       *Encoder
	ref     arena.Ref
	off, n  int
	count   uint32
	payload int
	base    wire.Offset
}

// Envelope returns an envelope over ref, which it owns from now on, with one count that is the caller's. The body is
// ref.Bytes()[off:off+n]: a count and the records, as wire.Publish.Body. Base is the offset of the first record,
// payloadBytes the sum of the record lengths. REQUIRES: off >= wire.HeaderLen.
//
//felix:hot
func (x *Encoder) Envelope(ref arena.Ref, off, n int, count uint32, base wire.Offset, payloadBytes int) *Envelope {
	if off < wire.HeaderLen {
		panic("fanout: no room for a header in front of the batch")
	}
	e := x.pool.Get().(*Envelope)
	e.x = x
	e.ref, e.off, e.n = ref, off, n
	e.count, e.payload, e.base = count, payloadBytes, base
	e.encoded.Store(false)
	e.refs.Store(1)
	return e
}

// Retain adds a count. It panics on an envelope without any.
//
//felix:hot
func (e *Envelope) Retain() {
	if e.refs.Add(1) <= 1 {
		panic("fanout: Retain on a released envelope")
	}
}

// Release gives one count back, and the batch with the last. It panics when there is none.
//
//felix:hot
func (e *Envelope) Release() {
	n := e.refs.Add(-1)
	if n > 0 {
		return
	}
	if n < 0 {
		panic("fanout: envelope released twice")
	}
	x, ref := e.x, e.ref
	e.x, e.ref = nil, arena.Ref{}
	ref.Release()
	if !invariants.Enabled {
		// With invariants a dead envelope stays dead, so that a late Retain or Release always panics.
		x.pool.Put(e)
	}
}

// Frame returns the whole event frame, header included. It is valid while the caller holds a count, and is not to be
// written to.
//
//felix:hot
func (e *Envelope) Frame() []byte {
	if !e.encoded.Load() {
		e.putHeader()
	}
	return e.ref.Bytes()[e.off-wire.HeaderLen : e.off+e.n]
}

// putHeader writes the header unless another pump was faster. Two pumps that come here at once are ordered by the
// mutex; a pump that finds encoded set sees the header, because the flag is set after it.
func (e *Envelope) putHeader() {
	e.encode.Lock()
	if !e.encoded.Load() {
		wire.PutSharedEventHeader(e.ref.Bytes()[e.off-wire.HeaderLen:], e.n)
		e.x.encodes.Inc()
		e.encoded.Store(true)
	}
	e.encode.Unlock()
}

// Body returns the count and the records, valid while the caller holds a count, not to be written to.
func (e *Envelope) Body() []byte { return e.ref.Bytes()[e.off : e.off+e.n] }

// Base returns the offset of the first record.
//
//felix:hot
func (e *Envelope) Base() wire.Offset { return e.base }

// Count returns the number of records.
//
//felix:hot
func (e *Envelope) Count() uint32 { return e.count }

// Size returns the length of the frame in bytes. It is what queues, rings and budgets count.
//
//felix:hot
func (e *Envelope) Size() int { return wire.HeaderLen + e.n }

// PayloadBytes returns the sum of the record lengths.
//
//felix:hot
func (e *Envelope) PayloadBytes() int { return e.payload }
