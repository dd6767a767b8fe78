package wire

import "encoding/binary"

// AckMode says which answer a publish wants. One frame gets one answer in either mode; the two differ as a
// label only (wire protocol section 10).
type AckMode uint8

// The acknowledgement modes, numbered as in binary frames; AckNone has no number there.
const (
	AckNone       AckMode = 0 // no answer
	AckPerMessage AckMode = 1 // one answer, asked for a single message
	AckPerBatch   AckMode = 2 // one answer for the batch
)

// Publish is a publish batch of any of the six layouts (wire protocol sections 9.1 to 9.4). All slices borrow
// the parsed payload:
//
//	[acked]       u64 request_id, u8 ack_mode
//	[idempotent]  u64 producer_id, u64 sequence
//	[keyed]       u16 key_len, key
//	u16 tenant_len, tenant   u16 namespace_len, namespace   u16 stream_len, stream
//	u32 count, then count x { u32 len, bytes }                                       <- Body
//
// Body is laid out exactly like the payload of a shared event batch (FlagEventBatchShared), so a broker fans
// a batch out by writing another header in front of the bytes it received: the one copy of the publish walk
// is also the last.
type Publish struct {
	// RequestID is echoed in the answer; set when Acked.
	RequestID RequestID
	// Ack is the mode asked for; AckNone unless Acked.
	Ack AckMode
	// Acked means that the publisher waits for an answer. On a malformed frame it means that RequestID was
	// readable, so that the refusal can name it.
	Acked bool
	// Idempotent means that ProducerID and Sequence are set; such a frame is answered in JSON.
	Idempotent bool
	// Keyed means that the batch has a routing key, possibly the empty one. Without a key it goes to shard 0.
	Keyed bool
	// ProducerID is the 64-bit random id of an idempotent producer.
	ProducerID uint64
	// Sequence numbers the batches of a producer and shard from 0.
	Sequence uint64
	// Key is the routing key, valid UTF-8, 0 to MaxNameBytes bytes.
	Key []byte
	// Tenant, Namespace and Stream name the target. They are checked for UTF-8 only: which names exist, and
	// which characters they may have, is not the wire's business.
	Tenant, Namespace, Stream []byte
	// Count is the number of records; 0 is legal on the wire.
	Count uint32
	// Body is the u32 count and its records, exactly: bytes behind the last record are ignored and not part
	// of it.
	Body []byte
	// PayloadBytes is the sum of the record lengths.
	PayloadBytes int
}

// ParsePublish reads the payload of a publish frame with flags f into p. It refuses other flags, counts that
// the payload cannot hold, parts that end early, names and keys that are not UTF-8 and unknown
// acknowledgement modes, with ErrFlags, ErrCount, ErrTruncated, ErrNotUTF8 and ErrAckMode. On an error
// p.RequestID and p.Acked are set whenever the request id could be read, everything else is undefined. p is
// overwritten completely and needs no clearing.
//
//felix:hot
func ParsePublish(f Flags, payload []byte, p *Publish) error {
	*p = Publish{}
	if !f.IsPublish() {
		return ErrFlags
	}
	b := payload
	var err error
	if f&FlagPublishAcked != 0 {
		if b, err = takeAckPrefix(f, b, p); err != nil {
			return err
		}
	}
	if f&FlagPublishKeyed != 0 {
		p.Keyed = true
		if p.Key, b, err = takeText(b); err != nil {
			return err
		}
	}
	if p.Tenant, b, err = takeText(b); err != nil {
		return err
	}
	if p.Namespace, b, err = takeText(b); err != nil {
		return err
	}
	if p.Stream, b, err = takeText(b); err != nil {
		return err
	}
	count, records, ok := takeU32(b)
	if !ok {
		return ErrTruncated
	}
	run, _, sum, err := takeRecords(records, count, 0)
	if err != nil {
		return err
	}
	p.Count, p.PayloadBytes = count, sum
	p.Body = b[: 4+len(run) : 4+len(run)]
	return nil
}

// takeAckPrefix cuts request id, mode and, on idempotent frames, producer and sequence off b.
func takeAckPrefix(f Flags, b []byte, p *Publish) ([]byte, error) {
	var ok bool
	if p.RequestID, b, ok = takeU64(b); !ok {
		return nil, ErrTruncated
	}
	p.Acked = true
	mode, b, ok := takeU8(b)
	if !ok {
		return nil, ErrTruncated
	}
	p.Ack = AckMode(mode)
	if p.Ack != AckPerMessage && p.Ack != AckPerBatch {
		return nil, ErrAckMode
	}
	if f&FlagPublishIdempotent == 0 {
		return b, nil
	}
	p.Idempotent = true
	if p.Ack != AckPerBatch {
		return nil, ErrAckMode
	}
	if p.ProducerID, b, ok = takeU64(b); !ok {
		return nil, ErrTruncated
	}
	if p.Sequence, b, ok = takeU64(b); !ok {
		return nil, ErrTruncated
	}
	return b, nil
}

// PublishRequestID reads the request id of an acked publish frame without looking at the rest: it is the
// first 8 payload bytes even when the body is malformed or was never read (wire protocol section 9.3). ok is
// false when the flags ask for no answer or fewer than 8 bytes are there.
//
//felix:hot
func PublishRequestID(f Flags, payload []byte) (id RequestID, ok bool) {
	if f&(FlagPublishBatch|FlagPublishAcked) != FlagPublishBatch|FlagPublishAcked || len(payload) < 8 {
		return 0, false
	}
	return binary.BigEndian.Uint64(payload), true
}
