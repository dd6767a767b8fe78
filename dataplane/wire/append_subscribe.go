package wire

import "strconv"

// Subscribe asks for the events of one shard of a stream (wire protocol section 8.4).
type Subscribe struct {
	// Tenant, Namespace and Stream name the stream.
	Tenant, Namespace, Stream string
	// Start is where to begin; StartNone is left out and means the tail.
	Start StartPosition
	// Shard is the shard; 0 is left out.
	Shard ShardID
	// QueueCapacity is the wanted bound of the broker's queue in batches; 0 leaves it to the broker. Only to
	// brokers that advertised FeatureSubscribeQueue.
	QueueCapacity uint32
}

// AppendSubscribe appends a `subscribe` frame.
func AppendSubscribe(dst []byte, s *Subscribe) []byte {
	dst, start := openMessage(dst, MsgSubscribe)
	dst = putScope(dst, s.Tenant, s.Namespace, "stream", s.Stream)
	switch s.Start.Kind {
	case StartLatest:
		dst = putText(dst, "start", "latest")
	case StartEarliest:
		dst = putText(dst, "start", "earliest")
	case StartOffset:
		dst = append(putName(dst, "start"), `{"offset":`...)
		dst = append(strconv.AppendUint(dst, uint64(s.Start.Offset), 10), '}')
	}
	if s.Shard != 0 {
		dst = putUint(dst, "shard", uint64(s.Shard))
	}
	if s.QueueCapacity != 0 {
		dst = putUint(dst, "queue_capacity", uint64(s.QueueCapacity))
	}
	return closeMessage(dst, start)
}

// AppendSubscribed appends a `subscribed` frame. queueCapacity is the granted bound in batches; 0 leaves it
// out, as for a client that did not ask.
func AppendSubscribed(dst []byte, id SubscriptionID, queueCapacity uint32) []byte {
	dst, start := openMessage(dst, MsgSubscribed)
	dst = putUint(dst, "subscription_id", uint64(id))
	if queueCapacity != 0 {
		dst = putUint(dst, "queue_capacity", uint64(queueCapacity))
	}
	return closeMessage(dst, start)
}

// CursorError says why a subscription cannot begin where it was asked to (wire protocol section 11).
type CursorError struct {
	// InFuture means that Requested lies past the tail; otherwise it is no longer retained.
	InFuture bool
	// Requested is the offset asked for; Available is the tail, or the oldest retained offset.
	Requested, Available Offset
}

// AppendSubscribeCursorError appends a `subscribe_cursor_error` frame.
func AppendSubscribeCursorError(dst []byte, e *CursorError) []byte {
	reason := "too_old"
	if e.InFuture {
		reason = "in_future"
	}
	dst, start := openMessage(dst, MsgSubscribeCursorError)
	dst = putText(dst, "reason", reason)
	dst = putUint(dst, "requested", uint64(e.Requested))
	dst = putUint(dst, "available", uint64(e.Available))
	return closeMessage(dst, start)
}

// AppendEventStreamHello appends an `event_stream_hello` frame, the first of every event stream.
func AppendEventStreamHello(dst []byte, id SubscriptionID) []byte {
	dst, start := openMessage(dst, MsgEventStreamHello)
	dst = putUint(dst, "subscription_id", uint64(id))
	return closeMessage(dst, start)
}

// AppendStreamDeleted appends a `stream_deleted` frame, the last of an event stream whose stream is gone.
// Only to clients that offered FeatureStreamDeleted.
func AppendStreamDeleted(dst []byte, id SubscriptionID) []byte {
	dst, start := openMessage(dst, MsgStreamDeleted)
	dst = putUint(dst, "subscription_id", uint64(id))
	return closeMessage(dst, start)
}

// ShardMoved ends an event stream whose shard went to another broker (wire protocol section 15).
type ShardMoved struct {
	// Subscription is the subscription that ends.
	Subscription SubscriptionID
	// HasResume means that ResumeFrom is the first offset not offered to this reader; an in-memory stream has
	// none.
	HasResume  bool
	ResumeFrom Offset
	// NodeID and Addr name the new owner; empty ones are left out.
	NodeID, Addr string
	// Generation stamps the new owner.
	Generation Generation
}

// AppendShardMoved appends a `shard_moved` frame. Only to clients that offered FeatureShardMoved.
func AppendShardMoved(dst []byte, s *ShardMoved) []byte {
	dst, start := openMessage(dst, MsgShardMoved)
	dst = putUint(dst, "subscription_id", uint64(s.Subscription))
	if s.HasResume {
		dst = putUint(dst, "resume_from", uint64(s.ResumeFrom))
	}
	if s.NodeID != "" {
		dst = putText(dst, "node_id", s.NodeID)
	}
	if s.Addr != "" {
		dst = putText(dst, "addr", s.Addr)
	}
	dst = putUint(dst, "generation", uint64(s.Generation))
	return closeMessage(dst, start)
}
