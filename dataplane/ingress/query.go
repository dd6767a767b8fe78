package ingress

import (
	"github.com/felix-go/felix/dataplane/auth"
	"github.com/felix-go/felix/dataplane/wire"
)

// query answers the width and owner questions and `topology`. They reveal nothing beyond names the caller may use: another
// tenant's objects look unknown.
func (s *session) query(m *wire.Message) fate {
	s.c.srv.n.queries.Inc()
	if m.Type == wire.MsgTopology {
		return s.answerEncoded(func(dst []byte) []byte { return wire.AppendTopologyView(dst, nil) }, keep)
	}
	if string(m.Tenant) != s.identity.Tenant {
		return s.refuse(refuseTenant, keep)
	}
	router := s.c.srv.rooms.Router
	switch m.Type {
	case wire.MsgStreamShards:
		if !s.mayUseStream(m.Namespace, m.Stream) {
			return s.refuse(refuseForbidden, keep)
		}
		var shards uint32 // 0 = unknown stream
		var jump bool
		if place := s.findStream(m.Tenant, m.Namespace, m.Stream); place != nil {
			shards, jump = uint32(len(place.shards)), place.desc.Jump
		}
		return s.answerEncoded(func(dst []byte) []byte {
			return wire.AppendStreamShardsView(dst, m.RequestID, shards, jump)
		}, keep)
	case wire.MsgCacheShards:
		var shards uint32
		if place := s.findCache(m.Tenant, m.Namespace, m.Cache); place != nil {
			shards = uint32(len(place.lanes))
		}
		return s.answerEncoded(func(dst []byte) []byte {
			return wire.AppendCacheShardsView(dst, m.RequestID, shards)
		}, keep)
	}
	var owners []wire.ShardOwner
	switch string(m.Kind) {
	case "stream":
		if place := s.findStream(m.Tenant, m.Namespace, m.Name); place != nil {
			owners = router.StreamOwners(place.desc)
		}
	case "cache":
		if place := s.findCache(m.Tenant, m.Namespace, m.Name); place != nil {
			owners = router.CacheOwners(place.desc)
		}
	}
	return s.answerEncoded(func(dst []byte) []byte { return wire.AppendShardOwnersView(dst, m.RequestID, owners) }, keep)
}

// mayUseStream reports whether the identity may publish to or read the stream.
func (s *session) mayUseStream(namespace, stream []byte) bool {
	a := s.identity.Matcher
	return a.AllowStream(auth.StreamPublish, namespace, stream) || a.AllowStream(auth.StreamSubscribe, namespace, stream)
}
