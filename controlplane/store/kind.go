package store

import (
	"fmt"
	"strings"

	"github.com/felix-go/felix/controlplane/api"
)

// kind is a resource kind with a change feed of its own.
type kind uint8

const (
	tenants kind = iota
	namespaces
	streams
	caches
	kindCount
)

var kindNames = [kindCount]string{"tenants", "namespaces", "streams", "caches"}

// String returns the name of the kind in keys and paths.
func (k kind) String() string { return kindNames[k] }

// parseKind is the inverse of String.
func parseKind(s string) (kind, bool) {
	for k, name := range kindNames {
		if name == s {
			return kind(k), true
		}
	}
	return 0, false
}

// schema is what the generic table needs to know about one kind.
type schema[T any] struct {
	kind  kind
	path  func(*T) string  // "tenant/namespace/name"
	stamp func(*T, uint64) // sets the incarnation
}

func join(names ...string) string { return strings.Join(names, "/") }

var (
	tenantSchema = schema[api.Tenant]{
		kind:  tenants,
		path:  func(t *api.Tenant) string { return t.TenantID },
		stamp: func(t *api.Tenant, inc uint64) { t.Incarnation = inc },
	}
	namespaceSchema = schema[api.Namespace]{
		kind:  namespaces,
		path:  func(n *api.Namespace) string { return join(n.TenantID, n.Namespace) },
		stamp: func(n *api.Namespace, inc uint64) { n.Incarnation = inc },
	}
	streamSchema = schema[api.Stream]{
		kind:  streams,
		path:  func(s *api.Stream) string { return join(s.TenantID, s.Namespace, s.Stream) },
		stamp: func(s *api.Stream, inc uint64) { s.Incarnation = inc },
	}
	cacheSchema = schema[api.Cache]{
		kind:  caches,
		path:  func(c *api.Cache) string { return join(c.TenantID, c.Namespace, c.Cache) },
		stamp: func(c *api.Cache, inc uint64) { c.Incarnation = inc },
	}
)

// layout builds keys. It is immutable.
type layout struct{ prefix string }

func (l layout) object(k kind, path string) string {
	return l.prefix + "objects/" + k.String() + "/" + path
}
func (l layout) keys(tenant string) string { return l.prefix + "keys/" + tenant }
func (l layout) cursors() string           { return l.prefix + "cursor/" }
func (l layout) cursor(k kind) string      { return l.cursors() + k.String() }
func (l layout) change(k kind, seq uint64) string {
	return fmt.Sprintf("%schanges/%s/%020d", l.prefix, k, seq)
}

// changesEnd is the first key after every change row of a kind: '0' follows '/'.
func (l layout) changesEnd(k kind) string { return fmt.Sprintf("%schanges/%s0", l.prefix, k) }

func (l layout) deletings() string { return l.prefix + "deleting/" }
func (l layout) deleting(k kind, path string) string {
	return l.deletings() + k.String() + "/" + path
}
