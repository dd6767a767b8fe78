package wire

import (
	"encoding/binary"
	"unicode/utf8"
)

// EventBatch is a run of events of one subscription (wire protocol section 9.6). All slices borrow the
// payload:
//
//	[FlagEventBatch]       u64 subscription_id
//	[FlagEventOffsets]     u64 base_offset        event i is at base_offset + i
//	[FlagEventSkipped]     u64 skipped_before     offsets before the base that never carried a record
//	[FlagEventPublisher]   u8 publisher_len, publisher
//	u32 count
//	count x { [FlagEventTimestamps] u64 micros,  u32 len, bytes }
type EventBatch struct {
	// HasSubscription means the older form, which names the subscription in every batch.
	HasSubscription bool
	// Subscription is the subscription's id when HasSubscription.
	Subscription SubscriptionID
	// HasOffsets means that Base is set.
	HasOffsets bool
	// Base is the offset of the first event.
	Base Offset
	// HasSkipped means that the batch says how many offsets were skipped; needs HasOffsets.
	HasSkipped bool
	// Skipped is the number of offsets directly before Base that are no loss; 0 unless HasSkipped.
	Skipped uint64
	// HasPublisher means that Publisher is set, possibly empty.
	HasPublisher bool
	// Publisher is the principal that published every event of the batch, UTF-8, at most 255 bytes.
	Publisher []byte
	// Timestamps means that the records are to be walked with NextTimedRecord instead of NextRecord.
	Timestamps bool
	// Count is the number of events; 0 is harmless.
	Count uint32
	// Records is the run of events, exactly: bytes behind the last one are ignored and not part of it.
	Records []byte
}

// Flags returns the frame flags that e is sent with.
func (e *EventBatch) Flags() Flags {
	f := FlagEventBatchShared
	if e.HasSubscription {
		f = FlagEventBatch
	}
	if e.HasOffsets {
		f |= FlagEventOffsets
		if e.HasSkipped {
			f |= FlagEventSkipped
		}
	}
	if e.HasPublisher {
		f |= FlagEventPublisher
	}
	if e.Timestamps {
		f |= FlagEventTimestamps
	}
	return f
}

// ParseEventBatch reads the payload of an event batch with flags f into e, every field. Errors: ErrFlags for
// another frame, unknown bits or a skip count without offsets; ErrTruncated; ErrCount; ErrNotUTF8 for the
// publisher. After an error e is undefined.
//
//felix:hot
func ParseEventBatch(f Flags, payload []byte, e *EventBatch) error {
	*e = EventBatch{}
	if !f.IsEventBatch() {
		return ErrFlags
	}
	b, err := takeEventPrefix(f, payload, e)
	if err != nil {
		return err
	}
	count, b, ok := takeU32(b)
	if !ok {
		return ErrTruncated
	}
	extra := 0
	if f&FlagEventTimestamps != 0 {
		e.Timestamps, extra = true, 8
	}
	e.Count = count
	e.Records, _, _, err = takeRecords(b, count, extra)
	return err
}

// takeEventPrefix cuts the optional parts before the count off b.
func takeEventPrefix(f Flags, b []byte, e *EventBatch) ([]byte, error) {
	var v uint64
	var ok bool
	if f&FlagEventBatch != 0 {
		if v, b, ok = takeU64(b); !ok {
			return nil, ErrTruncated
		}
		e.HasSubscription, e.Subscription = true, SubscriptionID(v)
	}
	if f&FlagEventOffsets != 0 {
		if v, b, ok = takeU64(b); !ok {
			return nil, ErrTruncated
		}
		e.HasOffsets, e.Base = true, Offset(v)
	}
	if f&FlagEventSkipped != 0 {
		if v, b, ok = takeU64(b); !ok {
			return nil, ErrTruncated
		}
		e.HasSkipped, e.Skipped = true, v
	}
	if f&FlagEventPublisher != 0 {
		n, rest, ok := takeU8(b)
		if !ok || int(n) > len(rest) {
			return nil, ErrTruncated
		}
		e.HasPublisher, e.Publisher, b = true, rest[:n:n], rest[n:]
		if !utf8.Valid(e.Publisher) {
			return nil, ErrNotUTF8
		}
	}
	return b, nil
}

// AppendEventBatch appends e as a whole frame. REQUIRES that e.Records holds exactly e.Count records of the
// kind that e.Timestamps says, and that the publisher has at most 255 bytes. HasSkipped without HasOffsets is
// not sent.
func AppendEventBatch(dst []byte, e *EventBatch) []byte {
	dst, start := openFrame(dst)
	if e.HasSubscription {
		dst = binary.BigEndian.AppendUint64(dst, uint64(e.Subscription))
	}
	if e.HasOffsets {
		dst = binary.BigEndian.AppendUint64(dst, uint64(e.Base))
		if e.HasSkipped {
			dst = binary.BigEndian.AppendUint64(dst, e.Skipped)
		}
	}
	if e.HasPublisher {
		dst = append(dst, byte(len(e.Publisher)))
		dst = append(dst, e.Publisher...)
	}
	dst = binary.BigEndian.AppendUint32(dst, e.Count)
	dst = append(dst, e.Records...)
	return closeFrame(dst, start, e.Flags())
}

// PutSharedEventHeader writes the header of a shared event batch without offsets over the first HeaderLen
// bytes of dst, for a body of bodyLen bytes (the u32 count and the records) that follows in place. This is
// the whole encoding of a published batch: Publish.Body already has the layout. REQUIRES len(dst) >=
// HeaderLen.
//
//felix:hot
func PutSharedEventHeader(dst []byte, bodyLen int) { PutHeader(dst, FlagEventBatchShared, bodyLen) }
