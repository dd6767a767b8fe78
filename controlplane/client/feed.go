package client

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/felix-go/felix/controlplane/api"
)

// maxFeedWait is the longest wait the server grants to a long poll.
const maxFeedWait = 25 * time.Second

// TenantSnapshot returns every tenant and where its change feed goes on.
func (c *Client) TenantSnapshot(ctx context.Context) (api.Snapshot[api.Tenant], error) {
	return snapshot[api.Tenant](ctx, c, "tenants")
}

// NamespaceSnapshot returns every namespace and where its change feed goes on.
func (c *Client) NamespaceSnapshot(ctx context.Context) (api.Snapshot[api.Namespace], error) {
	return snapshot[api.Namespace](ctx, c, "namespaces")
}

// StreamSnapshot returns every stream and where its change feed goes on.
func (c *Client) StreamSnapshot(ctx context.Context) (api.Snapshot[api.Stream], error) {
	return snapshot[api.Stream](ctx, c, "streams")
}

// CacheSnapshot returns every cache and where its change feed goes on.
func (c *Client) CacheSnapshot(ctx context.Context) (api.Snapshot[api.Cache], error) {
	return snapshot[api.Cache](ctx, c, "caches")
}

// TenantChanges returns the changes of tenants from since on. With nothing to say the server waits for
// a change up to wait, at most 25 s; zero answers at once.
func (c *Client) TenantChanges(
	ctx context.Context, since uint64, wait time.Duration,
) (api.Changes[api.Tenant], error) {
	return changes[api.Tenant](ctx, c, "tenants", since, wait)
}

// NamespaceChanges is TenantChanges for namespaces.
func (c *Client) NamespaceChanges(
	ctx context.Context, since uint64, wait time.Duration,
) (api.Changes[api.Namespace], error) {
	return changes[api.Namespace](ctx, c, "namespaces", since, wait)
}

// StreamChanges is TenantChanges for streams.
func (c *Client) StreamChanges(
	ctx context.Context, since uint64, wait time.Duration,
) (api.Changes[api.Stream], error) {
	return changes[api.Stream](ctx, c, "streams", since, wait)
}

// CacheChanges is TenantChanges for caches.
func (c *Client) CacheChanges(
	ctx context.Context, since uint64, wait time.Duration,
) (api.Changes[api.Cache], error) {
	return changes[api.Cache](ctx, c, "caches", since, wait)
}

// NeedsSnapshot reports whether a page asked for with since shows that the reader missed changes and
// must take a new snapshot (rule P19): its first rows are evicted, all rows are evicted, or the
// sequence was reset.
func NeedsSnapshot[T any](since uint64, page api.Changes[T]) bool {
	if len(page.Items) > 0 {
		return page.Items[0].Seq != since
	}
	return page.NextSeq != since
}

func snapshot[T any](ctx context.Context, c *Client, kind string) (api.Snapshot[T], error) {
	var out api.Snapshot[T]
	err := c.do(ctx, http.MethodGet, pathOf(kind, "snapshot"), nil, &out, maxFeedBytes)
	return out, err
}

func changes[T any](
	ctx context.Context, c *Client, kind string, since uint64, wait time.Duration,
) (api.Changes[T], error) {
	path := fmt.Sprintf("%s?since=%d", pathOf(kind, "changes"), since)
	if wait > 0 {
		path += fmt.Sprintf("&wait_ms=%d", wait.Milliseconds())
	}
	var out api.Changes[T]
	err := c.do(ctx, http.MethodGet, path, nil, &out, maxFeedBytes)
	return out, err
}
