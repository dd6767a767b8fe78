package wire

import "encoding/binary"

// PublishFrame is what a publisher sends: the input of AppendPublish.
type PublishFrame struct {
	// Ack is the answer wanted. AckNone sends no request id. An Idempotent frame is always AckPerBatch,
	// whatever is written here.
	Ack AckMode
	// RequestID is echoed in the answer; ignored for AckNone.
	RequestID RequestID
	// Keyed sends Key as the routing key of the whole batch; the empty key is a key.
	Keyed bool
	// Key is UTF-8, at most MaxNameBytes bytes.
	Key []byte
	// Idempotent sends ProducerID and Sequence; the answer then comes in JSON.
	Idempotent bool
	// ProducerID is the id that `producer_init_ok` gave.
	ProducerID uint64
	// Sequence numbers the batches of this producer and shard from 0.
	Sequence uint64
	// Tenant, Namespace and Stream are UTF-8, at most MaxNameBytes bytes each.
	Tenant, Namespace, Stream string
	// Payloads are the records in order.
	Payloads [][]byte
}

// Flags returns the frame flags that p will be sent with.
func (p *PublishFrame) Flags() Flags {
	f := FlagPublishBatch
	if p.Idempotent {
		f |= FlagPublishAcked | FlagPublishIdempotent
	} else if p.Ack != AckNone {
		f |= FlagPublishAcked
	}
	if p.Keyed {
		f |= FlagPublishKeyed
	}
	return f
}

// Size returns the length of the whole frame in bytes, header included.
func (p *PublishFrame) Size() int {
	n := HeaderLen + 2 + len(p.Tenant) + 2 + len(p.Namespace) + 2 + len(p.Stream) + 4
	switch {
	case p.Idempotent:
		n += 8 + 1 + 8 + 8
	case p.Ack != AckNone:
		n += 8 + 1
	}
	if p.Keyed {
		n += 2 + len(p.Key)
	}
	for _, rec := range p.Payloads {
		n += 4 + len(rec)
	}
	return n
}

// Validate reports what the layout cannot carry: ErrNameTooLong or ErrFrameTooLarge.
func (p *PublishFrame) Validate() error {
	if max(len(p.Tenant), len(p.Namespace), len(p.Stream), len(p.Key)) > MaxNameBytes {
		return ErrNameTooLong
	}
	if p.Size()-HeaderLen > MaxFramePayload {
		return ErrFrameTooLarge
	}
	return nil
}

// AppendPublish appends p as a whole frame. REQUIRES p.Validate() == nil: lengths are not checked again, and
// a longer name would write a frame that says something else.
//
//felix:hot
func AppendPublish(dst []byte, p *PublishFrame) []byte {
	dst = AppendPublishHead(dst, p, p.Size()-HeaderLen, len(p.Payloads))
	for _, rec := range p.Payloads {
		dst = AppendRecord(dst, rec)
	}
	return dst
}

// AppendPublishHead appends everything of the frame before the records, for a writer that has them encoded
// already: count records must follow, and payloadLen is the length of the whole payload, records included.
// p.Payloads is ignored.
//
//felix:hot
func AppendPublishHead(dst []byte, p *PublishFrame, payloadLen, count int) []byte {
	dst = AppendHeader(dst, p.Flags(), payloadLen)
	mode := p.Ack
	if p.Idempotent {
		mode = AckPerBatch
	}
	if mode != AckNone {
		dst = binary.BigEndian.AppendUint64(dst, p.RequestID)
		dst = append(dst, byte(mode))
	}
	if p.Idempotent {
		dst = binary.BigEndian.AppendUint64(dst, p.ProducerID)
		dst = binary.BigEndian.AppendUint64(dst, p.Sequence)
	}
	if p.Keyed {
		dst = appendText(dst, p.Key)
	}
	dst = appendText(dst, p.Tenant)
	dst = appendText(dst, p.Namespace)
	dst = appendText(dst, p.Stream)
	return binary.BigEndian.AppendUint32(dst, uint32(count))
}
