package wire

import "encoding/binary"

// PublishAck is the answer to an acked publish batch (wire protocol section 9.5):
//
//	u8  status         0 ok, 1 refused
//	u64 request_id
//	u16 message_len, message                                     empty when ok
//	[FlagAckCode]    u16 code, u8 class                          refused only
//	[FlagAckDetail]  u16 reason_len, reason, u64 retry_after_ms  0 = not said
//	[FlagAckOwner]   u16 node_len, node, u16 addr_len, addr (empty = unknown), u64 generation
//	[FlagAckOffset]  u64 offset                                  ok only
type PublishAck struct {
	// RequestID is the id of the publish that is answered.
	RequestID RequestID
	// OK means that the batch was taken; then Refusal is zero.
	OK bool
	// Refusal says why not.
	Refusal Refusal
	// HasOwner means that the batch was forwarded and that the owner of the shard is named.
	HasOwner bool
	// OwnerNode is the node id of the owner and OwnerAddr its host:port, empty if unknown.
	OwnerNode, OwnerAddr string
	// OwnerGeneration stamps the owner, so that an older hint can be ignored.
	OwnerGeneration Generation
	// HasOffset means that the answer followed the write; only then does Offset count, and only when OK.
	HasOffset bool
	// Offset is the offset of the batch's first record.
	Offset Offset
}

// AppendPublishAck appends the answer to a peer that understands peerFlags (its client_flags, or
// BaselineFlags). Parts that the peer did not offer are left out: the code without FlagAckCode, reason and
// wait without FlagAckDetail or when there is none, the owner without FlagAckOwner, the offset without
// FlagAckOffset. Longer texts than a u16 can carry are cut at a character.
//
//felix:hot
func AppendPublishAck(dst []byte, peerFlags Flags, a *PublishAck) []byte {
	dst, start := openFrame(dst)
	f := FlagPublishAck
	if a.OK {
		dst = append(dst, 0)
		dst = binary.BigEndian.AppendUint64(dst, a.RequestID)
		dst = append(dst, 0, 0)
	} else {
		dst = append(dst, 1)
		dst = binary.BigEndian.AppendUint64(dst, a.RequestID)
		dst = appendText(dst, clipText(a.Refusal.Message))
		if peerFlags&FlagAckCode != 0 {
			f |= FlagAckCode
			dst = binary.BigEndian.AppendUint16(dst, uint16(a.Refusal.effectiveCode()))
			dst = append(dst, byte(a.Refusal.EffectiveClass()))
			if peerFlags&FlagAckDetail != 0 && a.Refusal.hasDetail() {
				f |= FlagAckDetail
				dst = appendText(dst, clipText(a.Refusal.Reason))
				dst = binary.BigEndian.AppendUint64(dst, a.Refusal.RetryAfterMillis)
			}
		}
	}
	if a.HasOwner && peerFlags&FlagAckOwner != 0 {
		f |= FlagAckOwner
		dst = appendText(dst, clipText(a.OwnerNode))
		dst = appendText(dst, clipText(a.OwnerAddr))
		dst = binary.BigEndian.AppendUint64(dst, uint64(a.OwnerGeneration))
	}
	if a.OK && a.HasOffset && peerFlags&FlagAckOffset != 0 {
		f |= FlagAckOffset
		dst = binary.BigEndian.AppendUint64(dst, uint64(a.Offset))
	}
	return closeFrame(dst, start, f)
}

// ParsePublishAck reads the payload of an acknowledgement with flags f into a, every field. Trailing bytes
// are ignored. Errors: ErrFlags, ErrTruncated, ErrNotUTF8, and ErrStatus for an unknown status, a code on a
// success or an offset on a failure. An unknown code keeps its number, an unknown class is fatal, a refusal
// without code has CodeUnknown and class 0. After an error a is undefined.
//
// Texts are copied, so an acknowledgement outlives its frame; one that equals the text a already holds is
// kept. A reader that uses one PublishAck for all answers therefore allocates only when a text changes.
//
//felix:hot
func ParsePublishAck(f Flags, payload []byte, a *PublishAck) error {
	if !f.IsPublishAck() {
		return ErrFlags
	}
	b := payload
	status, b, ok := takeU8(b)
	if !ok {
		return ErrTruncated
	}
	if status > 1 || (status == 0 && f&FlagAckCode != 0) || (status == 1 && f&FlagAckOffset != 0) {
		return ErrStatus
	}
	a.OK = status == 0
	if a.RequestID, b, ok = takeU64(b); !ok {
		return ErrTruncated
	}
	message, b, err := takeText(b)
	if err != nil {
		return err
	}
	if a.OK {
		message = nil // A success has nothing to say; whatever an odd peer wrote is no part of the answer.
	}
	keepText(&a.Refusal.Message, message)
	if b, err = takeAckCode(f, b, &a.Refusal); err != nil {
		return err
	}
	if b, err = takeAckOwner(f, b, a); err != nil {
		return err
	}
	a.HasOffset, a.Offset = false, 0
	if f&FlagAckOffset != 0 {
		offset, _, ok := takeU64(b)
		if !ok {
			return ErrTruncated
		}
		a.HasOffset, a.Offset = true, Offset(offset)
	}
	return nil
}

// takeAckCode cuts code, class and detail off b, as far as f has them, and clears what it has not.
func takeAckCode(f Flags, b []byte, r *Refusal) ([]byte, error) {
	r.Code, r.Class, r.RetryAfterMillis = CodeUnknown, 0, 0
	if f&FlagAckCode == 0 {
		r.Reason = ""
		return b, nil
	}
	code, b, ok := takeU16(b)
	if !ok {
		return nil, ErrTruncated
	}
	class, b, ok := takeU8(b)
	if !ok {
		return nil, ErrTruncated
	}
	r.Code, r.Class = Code(code), classOfByte(class)
	if f&FlagAckDetail == 0 {
		r.Reason = ""
		return b, nil
	}
	reason, b, err := takeText(b)
	if err != nil {
		return nil, err
	}
	keepText(&r.Reason, reason)
	if r.RetryAfterMillis, b, ok = takeU64(b); !ok {
		return nil, ErrTruncated
	}
	return b, nil
}

// takeAckOwner cuts the owner off b if f has one and clears it otherwise.
func takeAckOwner(f Flags, b []byte, a *PublishAck) ([]byte, error) {
	a.HasOwner, a.OwnerGeneration = false, 0
	if f&FlagAckOwner == 0 {
		a.OwnerNode, a.OwnerAddr = "", ""
		return b, nil
	}
	node, b, err := takeText(b)
	if err != nil {
		return nil, err
	}
	addr, b, err := takeText(b)
	if err != nil {
		return nil, err
	}
	generation, b, ok := takeU64(b)
	if !ok {
		return nil, ErrTruncated
	}
	keepText(&a.OwnerNode, node)
	keepText(&a.OwnerAddr, addr)
	a.HasOwner, a.OwnerGeneration = true, Generation(generation)
	return b, nil
}

// keepText sets *s to text without copying it when it is the same text already. The comparison does not
// allocate.
func keepText(s *string, text []byte) {
	if *s != string(text) {
		*s = string(text)
	}
}
