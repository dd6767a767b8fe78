package wire

import "strconv"

// ScopeKind says whether a name is a stream or a cache.
type ScopeKind uint8

// The scopes that `shard_owners` asks about.
const (
	ScopeStream ScopeKind = iota
	ScopeCache
)

// String returns the wire name.
func (k ScopeKind) String() string {
	if k == ScopeCache {
		return "cache"
	}
	return "stream"
}

// AppendStreamShards appends a `stream_shards` frame: how wide is the stream? Only to brokers that advertised
// FeatureStreamShards.
func AppendStreamShards(dst []byte, tenant, namespace, stream string, id RequestID) []byte {
	dst, start := openMessage(dst, MsgStreamShards)
	dst = putScope(dst, tenant, namespace, "stream", stream)
	dst = putUint(dst, "request_id", id)
	return closeMessage(dst, start)
}

// AppendStreamShardsView appends a `stream_shards_view` frame; 0 shards mean an unknown stream.
func AppendStreamShardsView(dst []byte, id RequestID, shards uint32, jump bool) []byte {
	dst, start := openMessage(dst, MsgStreamShardsView)
	dst = putShards(dst, shards, jump)
	dst = putUint(dst, "request_id", id)
	return closeMessage(dst, start)
}

// AppendCacheShards appends a `cache_shards` frame: how wide is the cache? Only to brokers that advertised
// FeatureCacheShards.
func AppendCacheShards(dst []byte, tenant, namespace, cache string, id RequestID) []byte {
	dst, start := openMessage(dst, MsgCacheShards)
	dst = putScope(dst, tenant, namespace, "cache", cache)
	dst = putUint(dst, "request_id", id)
	return closeMessage(dst, start)
}

// AppendCacheShardsView appends a `cache_shards_view` frame; caches are always routed by modulo.
func AppendCacheShardsView(dst []byte, id RequestID, shards uint32) []byte {
	dst, start := openMessage(dst, MsgCacheShardsView)
	dst = putShards(dst, shards, false)
	dst = putUint(dst, "request_id", id)
	return closeMessage(dst, start)
}

// AppendShardOwners appends a `shard_owners` frame: who serves the shards? Only to brokers that advertised
// FeatureShardOwners.
func AppendShardOwners(dst []byte, tenant, namespace, name string, kind ScopeKind, id RequestID) []byte {
	dst, start := openMessage(dst, MsgShardOwners)
	dst = putScope(dst, tenant, namespace, "name", name)
	dst = putText(dst, "kind", kind.String())
	dst = putUint(dst, "request_id", id)
	return closeMessage(dst, start)
}

// ShardOwner is one shard of a `shard_owners_view` (wire protocol section 8.8).
type ShardOwner struct {
	// Shard is the shard's number.
	Shard ShardID
	// NodeID and Addr name the owner; empty ones are left out.
	NodeID, Addr string
	// Generation stamps the answer.
	Generation Generation
	// Unavailable says why nobody serves the shard; empty is left out.
	Unavailable string
}

// AppendShardOwnersView appends a `shard_owners_view` frame. REQUIRES owners in shard order; none is a legal
// answer.
func AppendShardOwnersView(dst []byte, id RequestID, owners []ShardOwner) []byte {
	dst, start := openMessage(dst, MsgShardOwnersView)
	dst = append(putName(dst, "owners"), '[')
	for i := range owners {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendOwner(dst, &owners[i])
	}
	dst = append(dst, ']')
	dst = putUint(dst, "request_id", id)
	return closeMessage(dst, start)
}

func appendOwner(dst []byte, o *ShardOwner) []byte {
	dst = append(dst, `{"shard":`...)
	dst = strconv.AppendUint(dst, uint64(o.Shard), 10)
	if o.NodeID != "" {
		dst = putText(dst, "node_id", o.NodeID)
	}
	if o.Addr != "" {
		dst = putText(dst, "addr", o.Addr)
	}
	dst = putUint(dst, "generation", uint64(o.Generation))
	if o.Unavailable != "" {
		dst = putText(dst, "unavailable", o.Unavailable)
	}
	return append(dst, '}')
}

// BrokerAddr is one broker of a `topology_view`.
type BrokerAddr struct {
	// NodeID is the broker's id.
	NodeID string
	// Addr is its client-facing host:port; IPv4, numeric to be safe.
	Addr string
}

// AppendTopology appends a `topology` frame: which brokers are there? Only to brokers that advertised
// FeatureTopology.
func AppendTopology(dst []byte) []byte {
	dst, start := openMessage(dst, MsgTopology)
	return closeMessage(dst, start)
}

// AppendTopologyView appends a `topology_view` frame; no brokers is a legal answer.
func AppendTopologyView(dst []byte, brokers []BrokerAddr) []byte {
	dst, start := openMessage(dst, MsgTopologyView)
	dst = append(putName(dst, "brokers"), '[')
	for i := range brokers {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"node_id":`...)
		dst = appendQuoted(dst, brokers[i].NodeID)
		dst = putText(dst, "addr", brokers[i].Addr)
		dst = append(dst, '}')
	}
	dst = append(dst, ']')
	return closeMessage(dst, start)
}
