package wire

import "strconv"

// Names of the reasons of `publish_refused`; routingJump is the only routing that has a name.
const (
	refusedUnknownProducer = "unknown_producer"
	refusedSequenceExpired = "sequence_expired"
	refusedSequenceReused  = "sequence_reused"
	refusedSequenceGap     = "sequence_gap"
	refusedOffsetMismatch  = "offset_mismatch"
	refusedNotLeader       = "not_leader"

	routingJump = "jump_hash"
)

// RefusedKind is the reason of a `publish_refused` (wire protocol sections 8.3 and 14).
type RefusedKind uint8

// The reasons for which an idempotent or conditional publish is refused.
const (
	RefusedUnknownProducer RefusedKind = iota // the producer is not known here and the sequence is not 0
	RefusedSequenceExpired                    // older than what is remembered
	RefusedSequenceReused                     // remembered with other payloads
	RefusedSequenceGap                        // ahead; At is the sequence expected
	RefusedOffsetMismatch                     // the stream is elsewhere; At is its tail
	RefusedNotLeader                          // NodeID and Addr name the leader
)

// PublishRefused is the answer to an idempotent or conditional publish that was not taken.
type PublishRefused struct {
	// RequestID is the id of the publish.
	RequestID RequestID
	// Kind says why.
	Kind RefusedKind
	// At is the number that belongs to a gap or a mismatch.
	At uint64
	// NodeID and Addr name the leader; an empty address is left out.
	NodeID, Addr string
	// Message is for people.
	Message string
}

// AppendPublishOK appends a `publish_ok` frame. The offset is sent only if the client offered FlagAckOffset
// and the answer followed the write; that is the caller's to know.
//
//felix:hot
func AppendPublishOK(dst []byte, id RequestID, offset Offset, hasOffset bool) []byte {
	dst, start := openMessage(dst, MsgPublishOK)
	dst = putUint(dst, "request_id", id)
	if hasOffset {
		dst = putUint(dst, "offset", uint64(offset))
	}
	return closeMessage(dst, start)
}

// AppendPublishError appends a `publish_error` frame; coded as in AppendError.
//
//felix:hot
func AppendPublishError(dst []byte, id RequestID, r *Refusal, coded bool) []byte {
	dst, start := openMessage(dst, MsgPublishError)
	dst = putUint(dst, "request_id", id)
	return closeMessage(putRefusal(dst, r, coded), start)
}

// AppendPublishRefused appends a `publish_refused` frame.
func AppendPublishRefused(dst []byte, r *PublishRefused) []byte {
	dst, start := openMessage(dst, MsgPublishRefused)
	dst = putUint(dst, "request_id", r.RequestID)
	switch r.Kind {
	case RefusedUnknownProducer:
		dst = putText(dst, "reason", refusedUnknownProducer)
	case RefusedSequenceExpired:
		dst = putText(dst, "reason", refusedSequenceExpired)
	case RefusedSequenceReused:
		dst = putText(dst, "reason", refusedSequenceReused)
	case RefusedSequenceGap:
		dst = putReasonAt(dst, `{"sequence_gap":{"expected":`, r.At)
	case RefusedOffsetMismatch:
		dst = putReasonAt(dst, `{"offset_mismatch":{"tail":`, r.At)
	case RefusedNotLeader:
		dst = putName(dst, "reason")
		dst = append(dst, `{"not_leader":{"node_id":`...)
		dst = appendQuoted(dst, r.NodeID)
		if r.Addr != "" {
			dst = putText(dst, "addr", r.Addr)
		}
		dst = append(dst, '}', '}')
	}
	dst = putText(dst, "message", r.Message)
	return closeMessage(dst, start)
}

// putReasonAt adds a reason that holds one number, whose opening is given.
func putReasonAt(dst []byte, open string, at uint64) []byte {
	dst = append(putName(dst, "reason"), open...)
	dst = strconv.AppendUint(dst, at, 10)
	return append(dst, '}', '}')
}

// AppendPublishWidth appends a `publish_width` frame: the width by which the keyed publishes that follow on
// this stream were routed. It has no answer. Only to brokers that advertised FeaturePublishWidth.
func AppendPublishWidth(dst []byte, tenant, namespace, stream string, shards uint32, jump bool) []byte {
	dst, start := openMessage(dst, MsgPublishWidth)
	dst = putScope(dst, tenant, namespace, "stream", stream)
	dst = putShards(dst, shards, jump)
	return closeMessage(dst, start)
}

// putScope adds tenant, namespace and the stream, cache or name that a request is about.
func putScope[T bytestring](dst []byte, tenant, namespace T, kind string, name T) []byte {
	dst = putText(dst, "tenant_id", tenant)
	dst = putText(dst, "namespace", namespace)
	return putText(dst, kind, name)
}

// putShards adds a width and, when it is not modulo, the routing that goes with it.
func putShards(dst []byte, shards uint32, jump bool) []byte {
	dst = putUint(dst, "shards", uint64(shards))
	if jump {
		dst = putText(dst, "routing", routingJump)
	}
	return dst
}
