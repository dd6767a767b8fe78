package server

import (
	"net/http"
	"unicode"
	"unicode/utf8"

	"github.com/felix-go/felix/controlplane/api"
	"github.com/felix-go/felix/dataplane/auth"
)

// Bounds of the catalog. Shards cost a lane and an assignment each, copies a broker each.
const (
	maxShards           = 10_000
	maxReplication      = 9
	maxDisplayNameBytes = 256
)

// What exists but cannot be patched (rule P12), so that the refusal can say so.
var (
	fixedStreamFields = []string{
		"tenant_id", "namespace", "stream", "kind", "shards", "replication_factor", "region", "routing",
		"incarnation",
	}
	fixedCacheFields = []string{
		"tenant_id", "namespace", "cache", "shards", "replication_factor", "consistency", "incarnation",
	}
)

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// checkName refuses what cannot name anything.
func checkName(field, name string) error {
	if auth.ValidName(name) {
		return nil
	}
	return invalid("%s must be 1 to 128 of ASCII letters, digits, '-', '_' and '.', "+
		"the first a letter or digit", field)
}

// checkTenantID is checkName without the two names that are paths of the tenant feed.
func checkTenantID(id string) error {
	if id == "snapshot" || id == "changes" {
		return invalid("tenant_id %q is reserved", id)
	}
	return checkName("tenant_id", id)
}

func checkDisplayName(s string) error {
	if len(s) > maxDisplayNameBytes || !utf8.ValidString(s) {
		return invalid("display_name must be UTF-8 of at most %d bytes", maxDisplayNameBytes)
	}
	for _, c := range s {
		if unicode.IsControl(c) {
			return invalid("display_name must not contain control characters")
		}
	}
	return nil
}

func orDefault[T comparable](v, fallback T) T {
	var zero T
	if v == zero {
		return fallback
	}
	return v
}

// streamOf turns a creation body into a stream with every default in place, or refuses it.
func streamOf(tenant, namespace string, b api.CreateStream, g given) (api.Stream, error) {
	s := api.Stream{
		TenantID:          tenant,
		Namespace:         namespace,
		Stream:            b.Stream,
		Kind:              orDefault(b.Kind, api.KindStream),
		Shards:            orDefault(b.Shards, 1),
		ReplicationFactor: orDefault(b.ReplicationFactor, 1),
		Consistency:       orDefault(b.Consistency, api.ConsistencyLeader),
		Delivery:          orDefault(b.Delivery, api.DeliveryAtMostOnce),
		Durable:           b.Durable,
		Region:            b.Region,
		Routing:           orDefault(b.Routing, api.RoutingModulo),
	}
	if b.Retention != nil {
		s.Retention = *b.Retention
	}
	if err := firstError(
		checkName("stream", s.Stream),
		checkWidth(s.Shards, s.ReplicationFactor, g),
		checkRegion(s.Region, g),
		checkRouting(s.Routing),
		checkRetention(b.Retention, g),
		checkStream(s),
	); err != nil {
		return api.Stream{}, err
	}
	return s, nil
}

// cacheOf is streamOf for caches.
func cacheOf(tenant, namespace string, b api.CreateCache, g given) (api.Cache, error) {
	c := api.Cache{
		TenantID:          tenant,
		Namespace:         namespace,
		Cache:             b.Cache,
		DisplayName:       b.DisplayName,
		Shards:            orDefault(b.Shards, 1),
		ReplicationFactor: orDefault(b.ReplicationFactor, 1),
		Consistency:       orDefault(b.Consistency, api.ConsistencyLeader),
	}
	if err := firstError(
		checkName("cache", c.Cache),
		checkDisplayName(c.DisplayName),
		checkWidth(c.Shards, c.ReplicationFactor, g),
		checkConsistency(c.Consistency),
	); err != nil {
		return api.Cache{}, err
	}
	return c, nil
}

// patchStream applies a patch to s, or refuses the result.
func patchStream(s *api.Stream, p api.StreamPatch) error {
	if p.Consistency != nil {
		s.Consistency = *p.Consistency
	}
	if p.Delivery != nil {
		s.Delivery = *p.Delivery
	}
	if p.Durable != nil {
		s.Durable = *p.Durable
	}
	if p.Retention != nil {
		s.Retention = *p.Retention
	}
	return checkStream(*s)
}

// patchCache applies a patch to c, or refuses the result.
func patchCache(c *api.Cache, p api.CachePatch) error {
	if p.DisplayName != nil {
		c.DisplayName = *p.DisplayName
	}
	return checkDisplayName(c.DisplayName)
}

// checkStream checks the fields that can change, and what they must agree with (rule P16).
func checkStream(s api.Stream) error {
	return firstError(
		checkKind(s),
		checkConsistency(s.Consistency),
		checkDelivery(s),
	)
}

func checkKind(s api.Stream) error {
	switch s.Kind {
	case api.KindStream:
		return nil
	case api.KindQueue:
		if !s.Durable {
			return invalid("kind Queue needs durable: groups work over durable streams only")
		}
		return nil
	case api.KindCache:
		return invalid("kind Cache is not a stream: create it under caches")
	}
	return invalid("kind must be Stream or Queue")
}

func checkDelivery(s api.Stream) error {
	switch s.Delivery {
	case api.DeliveryAtMostOnce:
		return nil
	case api.DeliveryAtLeastOnce:
		if !s.Durable {
			return invalid("delivery AtLeastOnce needs durable: a stream in memory forgets on restart")
		}
		return nil
	}
	return invalid("delivery must be AtMostOnce or AtLeastOnce")
}

func checkConsistency(c api.Consistency) error {
	if c == api.ConsistencyLeader || c == api.ConsistencyQuorum {
		return nil
	}
	return invalid("consistency must be Leader or Quorum")
}

// checkRetention refuses a bound that is not positive. An absent one is zero too, so it looks at the body.
func checkRetention(r *api.Retention, g given) error {
	if r == nil {
		return nil
	}
	in := g.inside("retention")
	if in.has("max_age_seconds") && r.MaxAgeSeconds <= 0 || in.has("max_size_bytes") && r.MaxSizeBytes <= 0 {
		return invalid("a retention bound must be positive; leave it out for no bound")
	}
	return nil
}

func checkWidth(shards, copies uint32, g given) error {
	// Zero stands for "not given" in the struct, but is wrong when it is spelled out.
	if shards > maxShards || g.has("shards") && string(g["shards"]) == "0" {
		return invalid("shards must be from 1 to %d", maxShards)
	}
	if copies > maxReplication || g.has("replication_factor") && string(g["replication_factor"]) == "0" {
		return invalid("replication_factor must be from 1 to %d", maxReplication)
	}
	return nil
}

func checkRegion(region string, g given) error {
	if region == "" && !g.has("region") {
		return nil
	}
	return checkName("region", region)
}

// checkRouting refuses jump_hash as long as there is no fleet that has finalized it (rule P14).
func checkRouting(r api.Routing) error {
	switch r {
	case api.RoutingModulo:
		return nil
	case api.RoutingJumpHash:
		return refuse(http.StatusConflict, api.CodeFeatureNotFinal,
			"routing jump_hash needs its fleet feature to be finalized")
	}
	return invalid("routing must be modulo or jump_hash")
}
