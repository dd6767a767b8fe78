package cluster

import (
	"github.com/felix-go/felix/controlplane/api"
	"github.com/felix-go/felix/dataplane/catalog"
)

// maxShards is the most shards of one stream or cache that a broker opens.
const maxShards = 10_000

// The conversions return why a row cannot be used, or "". Names and incarnation are filled in either way.

func convertTenant(t *api.Tenant) (catalog.Tenant, string) {
	return catalog.Tenant{Name: t.TenantID, Incarnation: t.Incarnation}, missing(t.TenantID)
}

func convertNamespace(n *api.Namespace) (catalog.Namespace, string) {
	return catalog.Namespace{Tenant: n.TenantID, Name: n.Namespace, Incarnation: n.Incarnation},
		missing(n.TenantID, n.Namespace)
}

func convertStream(s *api.Stream) (catalog.Stream, string) {
	out := catalog.Stream{
		Tenant: s.TenantID, Namespace: s.Namespace, Name: s.Stream, Incarnation: s.Incarnation,
		Shards: s.Shards, Jump: s.Routing == api.RoutingJumpHash,
		Durable: s.Durable, Consistency: string(s.Consistency),
		RetentionSeconds: s.Retention.MaxAgeSeconds, RetentionBytes: s.Retention.MaxSizeBytes,
	}
	why := missing(s.TenantID, s.Namespace, s.Stream)
	switch {
	case why != "":
	case s.Shards == 0 || s.Shards > maxShards:
		why = "number of shards out of range"
	case s.Routing != "" && s.Routing != api.RoutingModulo && s.Routing != api.RoutingJumpHash:
		// A guess would put keys on shards where nobody looks for them.
		why = "unknown key mapping"
	}
	return out, why
}

func convertCache(c *api.Cache) (catalog.Cache, string) {
	out := catalog.Cache{
		Tenant: c.TenantID, Namespace: c.Namespace, Name: c.Cache, Incarnation: c.Incarnation,
		Shards: c.Shards, Consistency: string(c.Consistency),
	}
	why := missing(c.TenantID, c.Namespace, c.Cache)
	if why == "" && (c.Shards == 0 || c.Shards > maxShards) {
		why = "number of shards out of range"
	}
	return out, why
}

func missing(names ...string) string {
	for _, n := range names {
		if n == "" {
			return "a name is missing"
		}
	}
	return ""
}
