package route

import (
	"github.com/felix-go/felix/dataplane/catalog"
	"github.com/felix-go/felix/dataplane/wire"
)

// Decision is what to do with a request for one shard. Exactly one of three holds: Local, a Node to forward
// to, or a Refusal to answer.
type Decision struct {
	Local bool
	// Refusal is preallocated and shared; it must not be changed.
	Refusal *wire.Refusal
	// Node and Addr name the owner when it is another broker.
	Node, Addr string
	// Generation stamps the decision; a larger one is newer.
	Generation wire.Generation
}

// firstGeneration is the generation of every shard of a lone broker: its ownership never changes hands.
const firstGeneration wire.Generation = 1

// refuseShard answers a request for a shard beyond the width of its stream or cache.
var refuseShard = &wire.Refusal{Code: wire.CodeInvalidRequest, Message: "no such shard", Reason: "shard"}

// Router decides for every request; it takes no lock and makes no call.
type Router struct{}

// New returns the Router of a lone broker.
func New() *Router { return &Router{} }

// Stream decides about one shard of a stream.
//
//felix:hot
func (r *Router) Stream(s *catalog.Stream, shard wire.ShardID) Decision {
	return decide(s.Shards, shard)
}

// Cache decides about one shard of a cache.
//
//felix:hot
func (r *Router) Cache(c *catalog.Cache, shard wire.ShardID) Decision { return decide(c.Shards, shard) }

// StreamOwners is the view that `shard_owners` answers for a stream: every shard, in order.
func (r *Router) StreamOwners(s *catalog.Stream) []wire.ShardOwner { return owners(s.Shards) }

// CacheOwners is StreamOwners for a cache.
func (r *Router) CacheOwners(c *catalog.Cache) []wire.ShardOwner { return owners(c.Shards) }

//felix:hot
func decide(shards uint32, shard wire.ShardID) Decision {
	if uint32(shard) >= shards {
		return Decision{Refusal: refuseShard, Generation: firstGeneration}
	}
	return Decision{Local: true, Generation: firstGeneration}
}

// owners names no node and no address: the connection that asks is the way to the owner.
func owners(shards uint32) []wire.ShardOwner {
	all := make([]wire.ShardOwner, shards)
	for i := range all {
		all[i] = wire.ShardOwner{Shard: wire.ShardID(i), Generation: firstGeneration}
	}
	return all
}
