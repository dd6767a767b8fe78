package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/felix-go/felix/controlplane/api"
)

// ListOptions selects a page of a listing (rule P9).
type ListOptions struct {
	Limit  int    // 1-10000; 0 leaves it to the server, which takes 1000
	Cursor string // List.NextCursor of the page before
}

func (o ListOptions) query() string {
	q := url.Values{}
	if o.Limit != 0 {
		q.Set("limit", strconv.Itoa(o.Limit))
	}
	if o.Cursor != "" {
		q.Set("cursor", o.Cursor)
	}
	if len(q) == 0 {
		return ""
	}
	return "?" + q.Encode()
}

// ListTenants returns one page of tenants.
func (c *Client) ListTenants(ctx context.Context, o ListOptions) (api.List[api.Tenant], error) {
	return call[api.List[api.Tenant]](ctx, c, http.MethodGet, pathOf("tenants")+o.query(), nil)
}

// CreateTenant makes a tenant together with its first signing key.
func (c *Client) CreateTenant(ctx context.Context, t api.CreateTenant) (api.Tenant, error) {
	return call[api.Tenant](ctx, c, http.MethodPost, pathOf("tenants"), t)
}

// Tenant returns one tenant.
func (c *Client) Tenant(ctx context.Context, tenant string) (api.Tenant, error) {
	return call[api.Tenant](ctx, c, http.MethodGet, pathOf("tenants", tenant), nil)
}

// DeleteTenant deletes a tenant, its keys and everything in it.
func (c *Client) DeleteTenant(ctx context.Context, tenant string) error {
	return c.delete(ctx, pathOf("tenants", tenant))
}

// ListNamespaces returns one page of a tenant's namespaces.
func (c *Client) ListNamespaces(
	ctx context.Context, tenant string, o ListOptions,
) (api.List[api.Namespace], error) {
	path := pathOf("tenants", tenant, "namespaces") + o.query()
	return call[api.List[api.Namespace]](ctx, c, http.MethodGet, path, nil)
}

// CreateNamespace makes a namespace in a tenant.
func (c *Client) CreateNamespace(
	ctx context.Context, tenant string, n api.CreateNamespace,
) (api.Namespace, error) {
	return call[api.Namespace](ctx, c, http.MethodPost, pathOf("tenants", tenant, "namespaces"), n)
}

// Namespace returns one namespace.
func (c *Client) Namespace(ctx context.Context, tenant, namespace string) (api.Namespace, error) {
	path := pathOf("tenants", tenant, "namespaces", namespace)
	return call[api.Namespace](ctx, c, http.MethodGet, path, nil)
}

// DeleteNamespace deletes a namespace and everything in it.
func (c *Client) DeleteNamespace(ctx context.Context, tenant, namespace string) error {
	return c.delete(ctx, pathOf("tenants", tenant, "namespaces", namespace))
}

// ListStreams returns one page of a namespace's streams.
func (c *Client) ListStreams(
	ctx context.Context, tenant, namespace string, o ListOptions,
) (api.List[api.Stream], error) {
	return call[api.List[api.Stream]](ctx, c, http.MethodGet, streamPath(tenant, namespace)+o.query(), nil)
}

// CreateStream makes a stream in a namespace.
func (c *Client) CreateStream(
	ctx context.Context, tenant, namespace string, s api.CreateStream,
) (api.Stream, error) {
	return call[api.Stream](ctx, c, http.MethodPost, streamPath(tenant, namespace), s)
}

// Stream returns one stream.
func (c *Client) Stream(ctx context.Context, tenant, namespace, stream string) (api.Stream, error) {
	return call[api.Stream](ctx, c, http.MethodGet, streamPath(tenant, namespace, stream), nil)
}

// PatchStream changes the patchable fields of a stream (rule P12).
func (c *Client) PatchStream(
	ctx context.Context, tenant, namespace, stream string, p api.StreamPatch,
) (api.Stream, error) {
	return call[api.Stream](ctx, c, http.MethodPatch, streamPath(tenant, namespace, stream), p)
}

// DeleteStream deletes a stream.
func (c *Client) DeleteStream(ctx context.Context, tenant, namespace, stream string) error {
	return c.delete(ctx, streamPath(tenant, namespace, stream))
}

// ListCaches returns one page of a namespace's caches.
func (c *Client) ListCaches(
	ctx context.Context, tenant, namespace string, o ListOptions,
) (api.List[api.Cache], error) {
	return call[api.List[api.Cache]](ctx, c, http.MethodGet, cachePath(tenant, namespace)+o.query(), nil)
}

// CreateCache makes a cache in a namespace.
func (c *Client) CreateCache(
	ctx context.Context, tenant, namespace string, k api.CreateCache,
) (api.Cache, error) {
	return call[api.Cache](ctx, c, http.MethodPost, cachePath(tenant, namespace), k)
}

// Cache returns one cache.
func (c *Client) Cache(ctx context.Context, tenant, namespace, cache string) (api.Cache, error) {
	return call[api.Cache](ctx, c, http.MethodGet, cachePath(tenant, namespace, cache), nil)
}

// PatchCache changes the display name of a cache (rule P12).
func (c *Client) PatchCache(
	ctx context.Context, tenant, namespace, cache string, p api.CachePatch,
) (api.Cache, error) {
	return call[api.Cache](ctx, c, http.MethodPatch, cachePath(tenant, namespace, cache), p)
}

// DeleteCache deletes a cache.
func (c *Client) DeleteCache(ctx context.Context, tenant, namespace, cache string) error {
	return c.delete(ctx, cachePath(tenant, namespace, cache))
}

func (c *Client) delete(ctx context.Context, path string) error {
	return c.do(ctx, http.MethodDelete, path, nil, nil, maxErrorBytes)
}

func call[T any](ctx context.Context, c *Client, method, path string, body any) (T, error) {
	var out T
	err := c.do(ctx, method, path, body, &out, maxAnswerBytes)
	return out, err
}

func streamPath(tenant, namespace string, name ...string) string {
	return pathOf(append([]string{"tenants", tenant, "namespaces", namespace, "streams"}, name...)...)
}

func cachePath(tenant, namespace string, name ...string) string {
	return pathOf(append([]string{"tenants", tenant, "namespaces", namespace, "caches"}, name...)...)
}
