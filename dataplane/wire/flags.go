package wire

// Flags is the bit field of the frame header. It says which layout the payload has and which optional parts
// are in it (wire protocol section 5). Flags and Features are separate number spaces.
type Flags uint16

// The flag bits. Publish bits travel from client to broker, the others from broker to client; FlagExtension
// travels both ways, and only between peers that agreed on an extension.
const (
	// FlagPublishBatch marks a binary publish batch.
	FlagPublishBatch Flags = 0x0001
	// FlagEventBatch marks an event batch that carries its subscription id (the older form).
	FlagEventBatch Flags = 0x0002
	// FlagEventBatchShared marks an event batch without subscription id: one encoding serves every
	// subscriber.
	FlagEventBatchShared Flags = 0x0004
	// FlagPublishAcked adds a request id and an acknowledgement mode to a publish batch.
	FlagPublishAcked Flags = 0x0008
	// FlagPublishAck marks a publish acknowledgement.
	FlagPublishAck Flags = 0x0010
	// FlagEventOffsets adds the base offset to an event batch.
	FlagEventOffsets Flags = 0x0020
	// FlagPublishKeyed adds a routing key to a publish batch.
	FlagPublishKeyed Flags = 0x0040
	// FlagAckOwner adds the owner of the shard to an acknowledgement of a forwarded batch.
	FlagAckOwner Flags = 0x0080
	// FlagPublishIdempotent adds producer id and sequence to an acked publish batch.
	FlagPublishIdempotent Flags = 0x0100
	// FlagAckCode adds code and retry class to a failed acknowledgement.
	FlagAckCode Flags = 0x0200
	// FlagAckDetail adds reason and suggested wait behind the code.
	FlagAckDetail Flags = 0x0400
	// FlagEventSkipped adds the count of offsets skipped before an event batch; needs FlagEventOffsets.
	FlagEventSkipped Flags = 0x0800
	// FlagAckOffset adds the offset of the first record to a successful acknowledgement.
	FlagAckOffset Flags = 0x1000
	// FlagEventPublisher adds the publisher to an event batch.
	FlagEventPublisher Flags = 0x2000
	// FlagEventTimestamps adds the append time in microseconds to every event.
	FlagEventTimestamps Flags = 0x4000
	// FlagExtension marks an extension frame: payload byte 0 is the kind (decisions section 4).
	FlagExtension Flags = 0x8000
)

// BaselineFlags is the set a peer understands that advertised nothing. It is frozen (wire protocol section
// 5).
const BaselineFlags Flags = 0x0007

const (
	publishFlags = FlagPublishBatch | FlagPublishAcked | FlagPublishKeyed | FlagPublishIdempotent
	ackFlags     = FlagPublishAck | FlagAckOwner | FlagAckCode | FlagAckDetail | FlagAckOffset
	eventFlags   = FlagEventBatch | FlagEventBatchShared | FlagEventOffsets | FlagEventSkipped |
		FlagEventPublisher | FlagEventTimestamps
)

// Has reports whether every bit of want is set.
//
//felix:hot
func (f Flags) Has(want Flags) bool { return f&want == want }

// IsPublish reports whether f is one of the six publish layouts 0x0001, 0x0041, 0x0009, 0x0049, 0x0109 and
// 0x0149.
//
//felix:hot
func (f Flags) IsPublish() bool {
	switch f {
	case FlagPublishBatch,
		FlagPublishBatch | FlagPublishKeyed,
		FlagPublishBatch | FlagPublishAcked,
		FlagPublishBatch | FlagPublishAcked | FlagPublishKeyed,
		FlagPublishBatch | FlagPublishAcked | FlagPublishIdempotent,
		FlagPublishBatch | FlagPublishAcked | FlagPublishIdempotent | FlagPublishKeyed:
		return true
	}
	return false
}

// IsPublishAck reports whether f is a publish acknowledgement with modifiers that can stand together: detail
// needs a code. Whether code and offset fit the status is known only with the payload.
//
//felix:hot
func (f Flags) IsPublishAck() bool {
	return f&^ackFlags == 0 && f&FlagPublishAck != 0 && (f&FlagAckDetail == 0 || f&FlagAckCode != 0)
}

// IsEventBatch reports whether f is an event batch of exactly one of the two forms, with modifiers that can
// stand together: a skip count needs offsets.
//
//felix:hot
func (f Flags) IsEventBatch() bool {
	form := f & (FlagEventBatch | FlagEventBatchShared)
	return f&^eventFlags == 0 && (form == FlagEventBatch || form == FlagEventBatchShared) &&
		(f&FlagEventSkipped == 0 || f&FlagEventOffsets != 0)
}

// ValidFromClient reports whether a broker may accept f: 0 (JSON), one of the six publish layouts, or
// FlagExtension alone. Anything else is answered `invalid_request` and the stream goes on (wire protocol
// section 5).
//
//felix:hot
func (f Flags) ValidFromClient() bool {
	return f == 0 || f == FlagExtension || f.IsPublish()
}
