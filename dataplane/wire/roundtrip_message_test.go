package wire

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestRoundTripSession(t *testing.T) {
	var m Message
	rapid.Check(t, func(t *rapid.T) {
		auth := Auth{Tenant: genName().Draw(t, "tenant"), Token: genName().Draw(t, "token"),
			Announce: rapid.Bool().Draw(t, "announce"), Flags: Flags(rapid.Uint16().Draw(t, "flags")),
			Features: Features(rapid.Uint64().Draw(t, "features"))}
		readBack(t, &m, MsgAuth, func(dst []byte) []byte { return AppendAuth(dst, &auth) })
		wantFlags, wantFeatures := auth.Flags, FeaturesFromWords(auth.Features.Words())
		if auth.Announce {
			wantFlags, wantFeatures = BaselineFlags, 0
		}
		if string(m.Tenant) != auth.Tenant || string(m.Token) != auth.Token || m.ClientFlags != wantFlags ||
			m.ClientFeatures != wantFeatures || m.Has(FieldClientFlags) == auth.Announce {
			t.Fatalf("parsed %+v, want %+v", &m, auth)
		}

		ok := AuthOK{ServerFlags: auth.Flags, ServerFeatures: auth.Features,
			PeerExtended: rapid.Bool().Draw(t, "extended"),
			ListenerPorts: rapid.SliceOfN(rapid.Uint16(), 0, 5).Draw(t,
				"ports"), PublishWindow: rapid.Uint32().Draw(t, "window")}
		readBack(t, &m, MsgAuthOK, func(dst []byte) []byte { return AppendAuthOK(dst, &ok) })
		lo, hi := ok.ServerFeatures.Words()
		if !ok.PeerExtended {
			lo, hi = lo&0x7FFFFFFF, 0
		}
		if m.ServerFlags != ok.ServerFlags || m.ServerFeatures != FeaturesFromWords(lo, hi) ||
			m.PublishWindow != ok.PublishWindow || m.Has(FieldServerFeatures) != (lo != 0) ||
			m.Has(FieldServerFeaturesHi) != (hi != 0) ||
			m.Has(FieldPublishWindow) != (ok.PublishWindow != 0) {
			t.Fatalf("parsed %+v, want %+v", &m, ok)
		}
		if want := ok.ListenerPorts; len(want) > 1 && !slices.Equal(m.ListenerPorts, want) || len(want) < 2 &&
			m.Has(FieldListenerPorts) {
			t.Fatalf("ports %v, want %v", m.ListenerPorts, want)
		}
		readBack(t, &m, MsgOK, AppendOK)
	})
}

func TestRoundTripRefusals(t *testing.T) {
	var m Message
	rapid.Check(t, func(t *rapid.T) {
		r := genRefusal().Draw(t, "refusal")
		if rapid.Bool().Draw(t, "no reason") {
			r.Reason = ""
		}
		coded := rapid.Bool().Draw(t, "coded")
		id := rapid.Uint64().Draw(t, "id")
		want := r
		if !coded {
			want = Refusal{Message: r.Message}
		}
		readBack(t, &m, MsgError, func(dst []byte) []byte { return AppendError(dst, &r, coded) })
		if m.Refusal() != want || m.Has(FieldCodeName) != coded || m.Has(FieldRetryName) != coded ||
			m.Has(FieldDetail) != (coded && r.hasDetail()) {
			t.Fatalf("parsed %+v, want %+v", m.Refusal(), want)
		}
		readBack(t, &m, MsgPublishError, func(dst []byte) []byte {
			return AppendPublishError(dst, id, &r,
				coded)
		})
		if m.Refusal() != want || m.RequestID != id {
			t.Fatalf("parsed %+v, want %+v", m.Refusal(), want)
		}

		refused := PublishRefused{RequestID: id, Kind: RefusedKind(rapid.IntRange(0, 5).Draw(t, "kind")),
			At: rapid.Uint64().Draw(t, "at"), NodeID: genName().Draw(t, "node"), Addr: genName().Draw(t,
				"addr"), Message: r.Message}
		readBack(t, &m, MsgPublishRefused, func(dst []byte) []byte {
			return AppendPublishRefused(dst,
				&refused)
		})
		names := [...]string{"unknown_producer", "sequence_expired", "sequence_reused", "sequence_gap",
			"offset_mismatch", "not_leader"}
		if string(m.Reason) != names[refused.Kind] || m.RequestID != id || string(m.Text) != r.Message {
			t.Fatalf("parsed %+v, want %+v", &m, refused)
		}
		switch refused.Kind {
		case RefusedSequenceGap, RefusedOffsetMismatch:
			if m.RefusedAt != refused.At {
				t.Fatalf("parsed %d, want %d", m.RefusedAt, refused.At)
			}
		case RefusedNotLeader:
			if string(m.NodeID) != refused.NodeID || string(m.Addr) != refused.Addr {
				t.Fatalf("parsed %q at %q, want %+v", m.NodeID, m.Addr, refused)
			}
		}

		requestType, extension := []byte(genName().Draw(t, "type")), []byte(nil)
		if rapid.Bool().Draw(t, "is extension") {
			extension = []byte(genName().Draw(t, "extension"))
		}
		readBack(t, &m, MsgUnsupported, func(dst []byte) []byte {
			return AppendUnsupported(dst, requestType, extension, id, coded)
		})
		if !bytes.Equal(m.RequestType, requestType) || !bytes.Equal(m.Extension, extension) ||
			m.Has(FieldExtension) != (extension != nil) || m.Has(FieldRequestID) != coded || coded &&
			m.RequestID != id {
			t.Fatalf("parsed %+v", &m)
		}
	})
}

func TestRoundTripPublishAnswers(t *testing.T) {
	var m Message
	rapid.Check(t, func(t *rapid.T) {
		id, offset, has := rapid.Uint64().Draw(t, "id"), rapid.Uint64().Draw(t,
			"offset"), rapid.Bool().Draw(t, "has offset")
		readBack(t, &m, MsgPublishOK, func(dst []byte) []byte {
			return AppendPublishOK(dst, id,
				Offset(offset), has)
		})
		if m.RequestID != id || m.Has(FieldOffset) != has || has && m.Offset != Offset(offset) {
			t.Fatalf("parsed %+v", &m)
		}
		tenant, namespace, stream := genScope(t)
		shards := rapid.Uint32().Draw(t, "shards")
		readBack(t, &m, MsgPublishWidth, func(dst []byte) []byte {
			return AppendPublishWidth(dst, tenant, namespace, stream, shards, has)
		})
		if m.Shards != shards || m.RoutingJump != has || string(m.Stream) != stream {
			t.Fatalf("parsed %+v", &m)
		}
	})
}

func TestRoundTripSubscribe(t *testing.T) {
	var m Message
	rapid.Check(t, func(t *rapid.T) {
		s := Subscribe{Start: StartPosition{Kind: StartKind(rapid.IntRange(0, 3).Draw(t, "start"))},
			Shard: ShardID(rapid.Uint32().Draw(t, "shard")), QueueCapacity: rapid.Uint32().Draw(t,
				"capacity")}
		if s.Start.Kind == StartOffset {
			s.Start.Offset = Offset(rapid.Uint64().Draw(t, "offset"))
		}
		s.Tenant, s.Namespace, s.Stream = genScope(t)
		readBack(t, &m, MsgSubscribe, func(dst []byte) []byte { return AppendSubscribe(dst, &s) })
		if m.Start != s.Start || m.Shard != s.Shard || m.QueueCapacity != s.QueueCapacity ||
			string(m.Tenant) != s.Tenant ||
			string(m.Namespace) != s.Namespace || string(m.Stream) != s.Stream ||
			m.Has(FieldShard) != (s.Shard != 0) {
			t.Fatalf("parsed %+v, want %+v", &m, s)
		}
		id := SubscriptionID(rapid.Uint64().Draw(t, "id"))
		readBack(t, &m, MsgSubscribed, func(dst []byte) []byte {
			return AppendSubscribed(dst, id,
				s.QueueCapacity)
		})
		if m.SubscriptionID != id || m.QueueCapacity != s.QueueCapacity ||
			m.Has(FieldQueueCapacity) != (s.QueueCapacity != 0) {
			t.Fatalf("parsed %+v", &m)
		}
		readBack(t, &m, MsgEventStreamHello, func(dst []byte) []byte {
			return AppendEventStreamHello(dst,
				id)
		})
		if m.SubscriptionID != id {
			t.Fatalf("parsed %+v", &m)
		}
		readBack(t, &m, MsgStreamDeleted, func(dst []byte) []byte { return AppendStreamDeleted(dst, id) })
		if m.SubscriptionID != id {
			t.Fatalf("parsed %+v", &m)
		}
		e := CursorError{InFuture: rapid.Bool().Draw(t, "future"),
			Requested: Offset(rapid.Uint64().Draw(t, "requested")),
			Available: Offset(rapid.Uint64().Draw(t, "available"))}
		readBack(t, &m, MsgSubscribeCursorError,
			func(dst []byte) []byte { return AppendSubscribeCursorError(dst, &e) })
		if m.Requested != e.Requested || m.Available != e.Available ||
			(string(m.Reason) == "in_future") != e.InFuture {
			t.Fatalf("parsed %+v, want %+v", &m, e)
		}
		moved := ShardMoved{Subscription: id, HasResume: e.InFuture, NodeID: s.Tenant, Addr: s.Stream,
			Generation: Generation(id)}
		if moved.HasResume {
			moved.ResumeFrom = e.Available
		}
		readBack(t, &m, MsgShardMoved, func(dst []byte) []byte { return AppendShardMoved(dst, &moved) })
		got := ShardMoved{m.SubscriptionID, m.Has(FieldResumeFrom), m.ResumeFrom, string(m.NodeID),
			string(m.Addr), m.Generation}
		if got != moved || m.Has(FieldNodeID) != (moved.NodeID != "") {
			t.Fatalf("parsed %+v, want %+v", got, moved)
		}
	})
}

func TestRoundTripCache(t *testing.T) {
	var m Message
	rapid.Check(t, func(t *rapid.T) {
		k := CacheKey{Key: genName().Draw(t, "key"), RequestID: rapid.Uint64().Draw(t, "id")}
		k.Tenant, k.Namespace, k.Cache = genScope(t)
		value, ttl, has := genBytes().Draw(t, "value"), rapid.Uint64().Draw(t, "ttl"), rapid.Bool().Draw(t,
			"has")
		version := rapid.Uint64().Draw(t, "version")
		same := func(hasValue bool) {
			t.Helper()
			if string(m.Tenant) != k.Tenant || string(m.Namespace) != k.Namespace ||
				string(m.Cache) != k.Cache ||
				string(m.Key) != k.Key || m.RequestID != k.RequestID || !m.Has(FieldRequestID) ||
				!m.Has(FieldKey) {
				t.Fatalf("parsed %+v, want %+v", &m, k)
			}
			if got, err := DecodeBase64(nil, m.Value); err != nil || hasValue && !bytes.Equal(got, value) ||
				m.Has(FieldValue) != hasValue {
				t.Fatalf("value %x, %v; want %x, %v", got, err, value, hasValue)
			}
		}
		readBack(t, &m, MsgCachePut, func(dst []byte) []byte {
			return AppendCachePut(dst, &k, value, ttl,
				has)
		})
		same(true)
		if m.Has(FieldTTLMillis) != has || has && m.TTLMillis != ttl {
			t.Fatalf("ttl %d, %v", m.TTLMillis, m.Has(FieldTTLMillis))
		}
		readBack(t, &m, MsgCacheGet, func(dst []byte) []byte { return AppendCacheGet(dst, &k) })
		same(false)
		readBack(t, &m, MsgCacheDelete, func(dst []byte) []byte { return AppendCacheDelete(dst, &k) })
		same(false)
		c := Condition{Absent: true}
		if rapid.Bool().Draw(t, "by version") {
			c = Condition{Version: version}
		}
		readBack(t, &m, MsgCachePutIf, func(dst []byte) []byte {
			return AppendCachePutIf(dst, &k, value, ttl,
				has, c)
		})
		same(true)
		if m.Condition != c || m.Has(FieldTTLMillis) != has || has && m.TTLMillis != ttl {
			t.Fatalf("condition %+v, ttl %d", m.Condition, m.TTLMillis)
		}
		readBack(t, &m, MsgCacheDeleteIf, func(dst []byte) []byte {
			return AppendCacheDeleteIf(dst, &k,
				version)
		})
		same(false)
		if m.Version != version {
			t.Fatalf("version %d, want %d", m.Version, version)
		}

		v := CacheValue{Tenant: []byte(k.Tenant), Namespace: []byte(k.Namespace), Cache: []byte(k.Cache),
			Key:      []byte(k.Key),
			HasValue: has, Value: value, HasRequestID: true, RequestID: k.RequestID, HasVersion: c.Absent,
			Version: version}
		readBack(t, &m, MsgCacheValue, func(dst []byte) []byte { return AppendCacheValue(dst, &v) })
		same(has)
		if m.ValueNull == has || m.Has(FieldVersion) != v.HasVersion || v.HasVersion && m.Version != version {
			t.Fatalf("null %v, version %d", m.ValueNull, m.Version)
		}
		v.HasRequestID = false
		readBack(t, &m, MsgCacheValue, func(dst []byte) []byte { return AppendCacheValue(dst, &v) })
		if m.Has(FieldRequestID) {
			t.Fatalf("a request id of %d that nobody sent", m.RequestID)
		}
		readBack(t, &m, MsgCacheOK, func(dst []byte) []byte { return AppendCacheOK(dst, k.RequestID) })
		if m.RequestID != k.RequestID {
			t.Fatalf("request id %d", m.RequestID)
		}
		readBack(t, &m, MsgCacheConditionResult, func(dst []byte) []byte {
			return AppendCacheConditionResult(dst, k.RequestID, has, version, c.Absent)
		})
		if m.Applied != has || m.Has(FieldVersion) != c.Absent || c.Absent && m.Version != version ||
			m.RequestID != k.RequestID {
			t.Fatalf("parsed %+v", &m)
		}
	})
}

func TestRoundTripRouting(t *testing.T) {
	var m Message
	rapid.Check(t, func(t *rapid.T) {
		tenant, namespace, name := genScope(t)
		id, shards, jump := rapid.Uint64().Draw(t, "id"), rapid.Uint32().Draw(t,
			"shards"), rapid.Bool().Draw(t, "jump")
		readBack(t, &m, MsgStreamShards, func(dst []byte) []byte {
			return AppendStreamShards(dst, tenant,
				namespace, name, id)
		})
		if string(m.Stream) != name || m.RequestID != id || string(m.Tenant) != tenant ||
			string(m.Namespace) != namespace {
			t.Fatalf("parsed %+v", &m)
		}
		readBack(t, &m, MsgStreamShardsView, func(dst []byte) []byte {
			return AppendStreamShardsView(dst, id,
				shards, jump)
		})
		if m.Shards != shards || m.RoutingJump != jump || m.RequestID != id {
			t.Fatalf("parsed %+v", &m)
		}
		readBack(t, &m, MsgCacheShards, func(dst []byte) []byte {
			return AppendCacheShards(dst, tenant,
				namespace, name, id)
		})
		if string(m.Cache) != name || m.RequestID != id {
			t.Fatalf("parsed %+v", &m)
		}
		readBack(t, &m, MsgCacheShardsView, func(dst []byte) []byte {
			return AppendCacheShardsView(dst, id,
				shards)
		})
		if m.Shards != shards || m.RequestID != id {
			t.Fatalf("parsed %+v", &m)
		}
		kind := ScopeStream
		if jump {
			kind = ScopeCache
		}
		readBack(t, &m, MsgShardOwners, func(dst []byte) []byte {
			return AppendShardOwners(dst, tenant, namespace, name, kind, id)
		})
		if string(m.Name) != name || string(m.Kind) != kind.String() || m.RequestID != id {
			t.Fatalf("parsed %+v", &m)
		}
		readBack(t, &m, MsgTopology, AppendTopology)
	})
}
