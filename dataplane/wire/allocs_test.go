//go:build !race

package wire

import "testing"

// gate fails unless some run of f allocates nothing. AllocsPerRun pins GOMAXPROCS to 1; more than one try,
// because a garbage collection may land inside a run.
func gate(t *testing.T, name string, f func()) {
	t.Helper()
	var allocs float64
	for range 5 {
		if allocs = testing.AllocsPerRun(200, f); allocs == 0 {
			return
		}
	}
	t.Errorf("%s: %v allocations per run, want 0", name, allocs)
}

func TestAllocsBinary(t *testing.T) {
	dst := make([]byte, 0, 4096)
	header := AppendHeader(nil, FlagPublishBatch, 9)
	gate(t, "ParseHeader", func() { _, _ = ParseHeader(header) })
	gate(t, "AppendHeader", func() { dst = AppendHeader(dst[:0], FlagPublishBatch, 9) })
	for _, c := range goldenPublish {
		frame := goldenFrame(c.frame)
		flags, payload := payloadOf(t, unhex(t, c.hex))
		var p Publish
		gate(t, "ParsePublish "+c.name, func() { _ = ParsePublish(flags, payload, &p) })
		gate(t, "ParsePublish truncated "+c.name,
			func() { _ = ParsePublish(flags, payload[:len(payload)-1], &p) })
		gate(t, "AppendPublish "+c.name, func() { dst = AppendPublish(dst[:0], &frame) })
		gate(t, "ShardOf", func() { _ = ShardOf(frame.Key, 12, true) })
	}
	for _, c := range goldenAcks {
		flags, payload := payloadOf(t, unhex(t, c.hex))
		var a PublishAck
		gate(t, "ParsePublishAck "+c.name, func() { _ = ParsePublishAck(flags, payload, &a) })
		gate(t, "AppendPublishAck "+c.name, func() { dst = AppendPublishAck(dst[:0], flags, &c.ack) })
	}
	for _, c := range goldenEvents {
		batch := goldenBatch(c.batch)
		flags, payload := payloadOf(t, unhex(t, c.hex))
		var e EventBatch
		gate(t, "ParseEventBatch "+c.name, func() { _ = ParseEventBatch(flags, payload, &e) })
		gate(t, "AppendEventBatch "+c.name, func() { dst = AppendEventBatch(dst[:0], &batch) })
	}
	q, keys := listKeysExample(), [][]byte{[]byte("a"), []byte("bc")}
	request, answer := unhex(t, goldenListKeys)[HeaderLen:], unhex(t, goldenListKeysAnswer)[HeaderLen:]
	refused := unhex(t, goldenListKeysRefused)[HeaderLen:]
	var a ListKeysAnswer
	gate(t, "AppendListKeys", func() { dst = AppendListKeys(dst[:0], &q) })
	gate(t, "AppendListKeysAnswer", func() { dst = AppendListKeysAnswer(dst[:0], 7, true, keys) })
	gate(t, "AppendListKeysRefused", func() {
		dst = AppendListKeysRefused(dst[:0], 7,
			&Refusal{Code: CodeNotFound})
	})
	gate(t, "ParseListKeys", func() { _ = ParseListKeys(request, &q) })
	gate(t, "ParseListKeysAnswer", func() { _ = ParseListKeysAnswer(answer, &a) })
	gate(t, "ParseListKeysAnswer refused", func() { _ = ParseListKeysAnswer(refused, &a) })
	text, raw := []byte("Zm9vYmE="), make([]byte, 0, 5)
	gate(t, "DecodeBase64", func() { raw, _ = DecodeBase64(raw[:0], text) })
}

// messageFrames is every JSON encoder, with texts that need escapes so that parsing them needs scratch space.
func messageFrames() map[string]func(dst []byte) []byte {
	entry := &CacheKey{Tenant: "t\"1", Namespace: "default", Cache: "c", Key: "key\u2028\n",
		RequestID: 1<<64 - 1}
	value := make([]byte, 300)
	auth := &Auth{Tenant: "t1", Token: "token", Flags: 8191, Features: 1<<64 - 1}
	authOK := &AuthOK{ServerFlags: 8191, ServerFeatures: 1<<64 - 1, PeerExtended: true,
		ListenerPorts: []uint16{1, 2},
		PublishWindow: 256}
	refusal := &Refusal{Code: CodeOverloaded, Message: "publish queue \"full\"",
		Reason:           ReasonPublishQueueFull,
		RetryAfterMillis: 10}
	refused := &PublishRefused{Kind: RefusedNotLeader, NodeID: "b2", Addr: "10.0.0.6:5000", Message: "m"}
	subscribe := &Subscribe{Tenant: "t1", Namespace: "n", Stream: "s",
		Start: StartPosition{Kind: StartOffset, Offset: 9},
		Shard: 3, QueueCapacity: 9}
	answer := &CacheValue{Tenant: []byte("t\"1"), Namespace: []byte("n"), Cache: []byte("c"),
		Key:      []byte("k\n"),
		HasValue: true, Value: value, HasRequestID: true, RequestID: 7, HasVersion: true, Version: 1 << 60}
	moved := &ShardMoved{Subscription: 1, HasResume: true, ResumeFrom: 2, NodeID: "n", Addr: "a",
		Generation: 3}
	owners := []ShardOwner{{Shard: 1, NodeID: "n\"", Addr: "a", Generation: 2, Unavailable: "moving"},
		{Shard: 2}}
	brokers := []BrokerAddr{{"n\"", "a"}, {"m", "b"}}
	name := []byte("x\"y")
	return map[string]func(dst []byte) []byte{
		"Auth":   func(dst []byte) []byte { return AppendAuth(dst, auth) },
		"AuthOK": func(dst []byte) []byte { return AppendAuthOK(dst, authOK) },
		"OK":     AppendOK,
		"Error":  func(dst []byte) []byte { return AppendError(dst, refusal, true) },
		"Unsupported": func(dst []byte) []byte {
			return AppendUnsupported(dst, name, name, 7,
				true)
		},
		"PublishOK":      func(dst []byte) []byte { return AppendPublishOK(dst, 7, 9, true) },
		"PublishError":   func(dst []byte) []byte { return AppendPublishError(dst, 7, refusal, true) },
		"PublishRefused": func(dst []byte) []byte { return AppendPublishRefused(dst, refused) },
		"PublishWidth": func(dst []byte) []byte {
			return AppendPublishWidth(dst, "t", "n", "s", 4,
				true)
		},
		"Subscribe":  func(dst []byte) []byte { return AppendSubscribe(dst, subscribe) },
		"Subscribed": func(dst []byte) []byte { return AppendSubscribed(dst, 7, 9) },
		"SubscribeCursorError": func(dst []byte) []byte {
			return AppendSubscribeCursorError(dst,
				&CursorError{InFuture: true})
		},
		"EventStreamHello": func(dst []byte) []byte { return AppendEventStreamHello(dst, 7) },
		"StreamDeleted":    func(dst []byte) []byte { return AppendStreamDeleted(dst, 7) },
		"ShardMoved":       func(dst []byte) []byte { return AppendShardMoved(dst, moved) },
		"CachePut":         func(dst []byte) []byte { return AppendCachePut(dst, entry, value, 5, true) },
		"CacheGet":         func(dst []byte) []byte { return AppendCacheGet(dst, entry) },
		"CacheDelete":      func(dst []byte) []byte { return AppendCacheDelete(dst, entry) },
		"CachePutIf": func(dst []byte) []byte {
			return AppendCachePutIf(dst, entry, value, 5, true, Condition{Version: 3})
		},
		"CacheDeleteIf": func(dst []byte) []byte { return AppendCacheDeleteIf(dst, entry, 3) },
		"CacheValue":    func(dst []byte) []byte { return AppendCacheValue(dst, answer) },
		"CacheOK":       func(dst []byte) []byte { return AppendCacheOK(dst, 7) },
		"CacheConditionResult": func(dst []byte) []byte {
			return AppendCacheConditionResult(dst, 7, true, 9,
				true)
		},
		"StreamShards":     func(dst []byte) []byte { return AppendStreamShards(dst, "t", "n", "s", 7) },
		"StreamShardsView": func(dst []byte) []byte { return AppendStreamShardsView(dst, 7, 4, true) },
		"CacheShards":      func(dst []byte) []byte { return AppendCacheShards(dst, "t", "n", "c", 7) },
		"CacheShardsView":  func(dst []byte) []byte { return AppendCacheShardsView(dst, 7, 4) },
		"ShardOwners": func(dst []byte) []byte {
			return AppendShardOwners(dst, "t", "n", "x",
				ScopeCache, 7)
		},
		"ShardOwnersView": func(dst []byte) []byte { return AppendShardOwnersView(dst, 7, owners) },
		"Topology":        AppendTopology,
		"TopologyView":    func(dst []byte) []byte { return AppendTopologyView(dst, brokers) },
	}
}

func TestAllocsMessages(t *testing.T) {
	dst := make([]byte, 0, 4096)
	var m Message
	for name, appendTo := range messageFrames() {
		gate(t, "Append"+name, func() { dst = appendTo(dst[:0]) })
		payload := appendTo(nil)[HeaderLen:]
		gate(t, "ParseMessage of "+name, func() {
			if err := ParseMessage(payload, &m); err != nil {
				panic(err)
			}
		})
		gate(t, "ParseMessage of damaged "+name, func() {
			if err := ParseMessage(payload[:len(payload)-1], &m); err == nil {
				panic("accepted")
			}
		})
	}
	for _, text := range []string{
		`{"type":"publish","tenant_id":"t","namespace":"n","stream":"s","payload":"b25l","key":"azE=","request_id":1}`,
		`{"type":"publish_batch","tenant_id":"t","namespace":"n","stream":"s","payloads":["YQ==","+\/+\/"],"ack":"per_batch"}`,
		`{"type":"something_new","request_id":7,"body":{"a":[1,2,{"b":"\u0041"}]}}`,
	} {
		payload := []byte(text)
		gate(t, "ParseMessage and AppendRecords of "+text, func() {
			_ = ParseMessage(payload, &m)
			dst, _, _ = m.AppendRecords(dst[:0])
		})
	}
	owners := AppendShardOwnersView(nil, 7, []ShardOwner{{Shard: 1, NodeID: "n\"",
		Generation: 2}})[HeaderLen:]
	var o OwnerView
	gate(t, "NextOwner", func() {
		for _ = ParseMessage(owners, &m); m.NextOwner(&o); {
		}
	})
}
