package api

// Kind is what a stream is meant for.
type Kind string

// The stream kinds. A queue must be durable, because queue groups work over durable streams only.
const (
	KindStream Kind = "Stream"
	KindQueue  Kind = "Queue"
	// KindCache is part of the published vocabulary, and refused for a stream: a cache is a resource
	// of its own.
	KindCache Kind = "Cache"
)

// Consistency says which copies must hold a write before it is acknowledged.
type Consistency string

// The consistency levels.
const (
	ConsistencyLeader Consistency = "Leader"
	ConsistencyQuorum Consistency = "Quorum"
)

// Delivery is the promise a stream makes about one record.
type Delivery string

// The delivery promises. AtLeastOnce needs a durable stream.
const (
	DeliveryAtMostOnce  Delivery = "AtMostOnce"
	DeliveryAtLeastOnce Delivery = "AtLeastOnce"
)

// Routing says how a key chooses its shard.
type Routing string

// The key mappings. RoutingJumpHash can be used only once its fleet feature is finalized.
const (
	RoutingModulo   Routing = "modulo"
	RoutingJumpHash Routing = "jump_hash"
)

// Tenant is an isolated customer: it owns namespaces and signing keys.
type Tenant struct {
	TenantID    string `json:"tenant_id"`
	DisplayName string `json:"display_name,omitempty"`
	// Incarnation is set by the server and grows strictly when the object is deleted and made again.
	Incarnation uint64 `json:"incarnation"`
}

// Namespace groups the streams and caches of a tenant.
type Namespace struct {
	TenantID    string `json:"tenant_id"`
	Namespace   string `json:"namespace"`
	DisplayName string `json:"display_name,omitempty"`
	Incarnation uint64 `json:"incarnation"` // as Tenant.Incarnation
}

// Retention bounds what a stream keeps. Zero here is a bound that is absent and does not limit; a body
// that spells out a zero is refused (rule P13).
type Retention struct {
	MaxAgeSeconds int64 `json:"max_age_seconds,omitempty"`
	MaxSizeBytes  int64 `json:"max_size_bytes,omitempty"`
}

// Stream is one stream of a namespace.
type Stream struct {
	TenantID          string      `json:"tenant_id"`
	Namespace         string      `json:"namespace"`
	Stream            string      `json:"stream"`
	Kind              Kind        `json:"kind"`
	Shards            uint32      `json:"shards"`
	ReplicationFactor uint32      `json:"replication_factor"`
	Retention         Retention   `json:"retention"`
	Consistency       Consistency `json:"consistency"`
	Delivery          Delivery    `json:"delivery"`
	Durable           bool        `json:"durable"`
	Region            string      `json:"region,omitempty"`
	Routing           Routing     `json:"routing"`
	Incarnation       uint64      `json:"incarnation"` // as Tenant.Incarnation
}

// Cache is one cache of a namespace.
type Cache struct {
	TenantID          string      `json:"tenant_id"`
	Namespace         string      `json:"namespace"`
	Cache             string      `json:"cache"`
	DisplayName       string      `json:"display_name,omitempty"`
	Shards            uint32      `json:"shards"`
	ReplicationFactor uint32      `json:"replication_factor"`
	Consistency       Consistency `json:"consistency"`
	Incarnation       uint64      `json:"incarnation"` // as Tenant.Incarnation
}

// CreateTenant is the body of POST /v1/tenants.
type CreateTenant struct {
	TenantID    string `json:"tenant_id"`
	DisplayName string `json:"display_name,omitempty"`
}

// CreateNamespace is the body of POST /v1/tenants/{t}/namespaces.
type CreateNamespace struct {
	Namespace   string `json:"namespace"`
	DisplayName string `json:"display_name,omitempty"`
}

// CreateStream is the body of POST /v1/tenants/{t}/namespaces/{ns}/streams. Absent fields mean: kind
// Stream, one shard, one copy, no retention bound, consistency Leader, delivery AtMostOnce, not
// durable, no region, routing modulo. Shards, copies, region and routing are fixed from then on
// (rule P12).
type CreateStream struct {
	Stream            string      `json:"stream"`
	Kind              Kind        `json:"kind,omitempty"`
	Shards            uint32      `json:"shards,omitempty"`
	ReplicationFactor uint32      `json:"replication_factor,omitempty"`
	Retention         *Retention  `json:"retention,omitempty"`
	Consistency       Consistency `json:"consistency,omitempty"`
	Delivery          Delivery    `json:"delivery,omitempty"`
	Durable           bool        `json:"durable,omitempty"`
	Region            string      `json:"region,omitempty"`
	Routing           Routing     `json:"routing,omitempty"`
}

// CreateCache is the body of POST /v1/tenants/{t}/namespaces/{ns}/caches. Absent fields mean one
// shard, one copy, consistency Leader.
type CreateCache struct {
	Cache             string      `json:"cache"`
	DisplayName       string      `json:"display_name,omitempty"`
	Shards            uint32      `json:"shards,omitempty"`
	ReplicationFactor uint32      `json:"replication_factor,omitempty"`
	Consistency       Consistency `json:"consistency,omitempty"`
}

// StreamPatch is the body of PATCH on a stream. An absent field keeps its value. Retention is
// replaced as a whole, so an empty object removes both bounds.
type StreamPatch struct {
	Consistency *Consistency `json:"consistency,omitempty"`
	Delivery    *Delivery    `json:"delivery,omitempty"`
	Durable     *bool        `json:"durable,omitempty"`
	Retention   *Retention   `json:"retention,omitempty"`
}

// CachePatch is the body of PATCH on a cache. An absent field keeps its value.
type CachePatch struct {
	DisplayName *string `json:"display_name,omitempty"`
}

// List is one page of a listing (rule P9).
type List[T any] struct {
	Items []T `json:"items"`
	// NextCursor is present while more follows; it is opaque and goes back as the cursor parameter.
	NextCursor string `json:"next_cursor,omitempty"`
}
