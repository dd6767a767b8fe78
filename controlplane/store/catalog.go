package store

import (
	"context"
	"errors"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/felix-go/felix/controlplane/api"
	"github.com/felix-go/felix/controlplane/token"
)

// CreateTenant makes a tenant and its first signing key in one step, so that a tenant without a key is
// never seen. The contents of an earlier tenant of that name are gone before it succeeds.
func (s *Store) CreateTenant(ctx context.Context, t api.Tenant, key token.Key) (api.Tenant, error) {
	doc, err := encodeKeys([]token.Key{key})
	if err != nil {
		return t, err
	}
	put := clientv3.OpPut(s.keys.keys(t.TenantID), string(doc))
	return createContainer(ctx, s.Tenants, t, nil, put)
}

// DeleteTenant deletes a tenant, its keys and everything in it (rule P15). The tenant and its keys go
// first, in one step.
func (s *Store) DeleteTenant(ctx context.Context, tenant string) error {
	return deleteContainer(ctx, s.Tenants, tenant, clientv3.OpDelete(s.keys.keys(tenant)))
}

// CreateNamespace makes a namespace. It returns ErrNotFound when the tenant does not exist.
func (s *Store) CreateNamespace(ctx context.Context, n api.Namespace) (api.Namespace, error) {
	return createContainer(ctx, s.Namespaces, n, []guard{s.Tenants.present(n.TenantID)})
}

// DeleteNamespace deletes a namespace and everything in it (rule P15).
func (s *Store) DeleteNamespace(ctx context.Context, tenant, namespace string) error {
	return deleteContainer(ctx, s.Namespaces, join(tenant, namespace))
}

// CreateStream makes a stream. It returns ErrNotFound when the tenant or namespace does not exist.
func (s *Store) CreateStream(ctx context.Context, st api.Stream) (api.Stream, error) {
	return s.Streams.insert(ctx, st, s.parents(st.TenantID, st.Namespace))
}

// DeleteStream deletes a stream.
func (s *Store) DeleteStream(ctx context.Context, tenant, namespace, stream string) error {
	return s.Streams.remove(ctx, join(tenant, namespace, stream))
}

// CreateCache makes a cache. It returns ErrNotFound when the tenant or namespace does not exist.
func (s *Store) CreateCache(ctx context.Context, c api.Cache) (api.Cache, error) {
	return s.Caches.insert(ctx, c, s.parents(c.TenantID, c.Namespace))
}

// DeleteCache deletes a cache.
func (s *Store) DeleteCache(ctx context.Context, tenant, namespace, cache string) error {
	return s.Caches.remove(ctx, join(tenant, namespace, cache))
}

func (s *Store) parents(tenant, namespace string) []guard {
	return []guard{s.Tenants.present(tenant), s.Namespaces.present(join(tenant, namespace))}
}

// createContainer makes a tenant or namespace. When the contents of an earlier one are still being
// removed it first helps to finish that.
func createContainer[T any](
	ctx context.Context, t *Table[T], item T, guards []guard, extra ...clientv3.Op,
) (T, error) {
	s, path := t.store, t.schema.path(&item)
	marker := s.keys.deleting(t.schema.kind, path)
	guards = append(guards, guard{key: marker, err: errMarked})
	for {
		made, err := t.insert(ctx, item, guards, extra...)
		if !errors.Is(err, errMarked) {
			return made, err
		}
		if err := s.sweep(ctx, marker); err != nil {
			return item, err
		}
	}
}

// deleteContainer deletes a tenant or namespace and then its contents. A repeated call after a failure
// half way finishes the work.
func deleteContainer[T any](ctx context.Context, t *Table[T], path string, extra ...clientv3.Op) error {
	s := t.store
	marker := s.keys.deleting(t.schema.kind, path)
	missing := t.remove(ctx, path, append(extra, clientv3.OpPut(marker, ""))...)
	if missing != nil && !errors.Is(missing, ErrNotFound) {
		return missing
	}
	swept, err := s.sweepIfMarked(ctx, marker)
	switch {
	case err != nil:
		s.sweeper.kick()
		return err
	case missing != nil && !swept:
		return missing
	}
	return nil
}
