package catalog

import "github.com/felix-go/felix/dataplane/wire"

// Tenant is one known tenant. Another Incarnation under the same name is another tenant.
type Tenant struct {
	Name        string
	Incarnation uint64
}

// Namespace is one known namespace.
type Namespace struct {
	Tenant, Name string
	Incarnation  uint64
}

// Stream describes one stream. What the catalog hands out never changes; a changed stream is another object
// with the same Handle.
type Stream struct {
	Tenant, Namespace, Name string

	// Handle is a small number, unique among streams, given by the catalog and never used for another stream,
	// not even for a later one of the same name. It starts at 1.
	Handle wire.Handle
	// Incarnation tells two lives of one name apart; the control plane sets it.
	Incarnation uint64

	Shards           uint32 // at least 1, fixed for the stream's life
	Jump             bool   // keys choose shards by jump hash instead of modulo (wire protocol section 18)
	Durable          bool
	Consistency      string // "Leader" or "Quorum"
	RetentionSeconds int64  // 0 = unlimited
	RetentionBytes   int64  // 0 = unlimited
}

// Cache describes one cache, under the rules of Stream.
type Cache struct {
	Tenant, Namespace, Name string

	Handle      wire.Handle // unique among caches
	Incarnation uint64

	Shards      uint32
	Consistency string
}

// Change is one row of a feed: Item exists now as it stands, or is Deleted.
type Change[T any] struct {
	Deleted bool
	Item    T
}

// Delta is what one Apply makes visible at once. Rows of one kind are in feed order; handles in them are
// ignored.
type Delta struct {
	Tenants    []Change[Tenant]
	Namespaces []Change[Namespace]
	Streams    []Change[Stream]
	Caches     []Change[Cache]
}
