package server

import (
	"context"
	"net/http"

	"github.com/felix-go/felix/controlplane/api"
	"github.com/felix-go/felix/controlplane/store"
	"github.com/felix-go/felix/controlplane/token"
)

var deleted = answer{status: http.StatusNoContent}

func created(body any) answer { return answer{status: http.StatusCreated, body: body} }

// names reads path segments and checks them against rule P8. The mux has undone percent-encoding, so an
// encoded slash ends here too.
func names(r *http.Request, keys ...string) ([]string, error) {
	values := make([]string, 0, len(keys))
	for _, k := range keys {
		v := r.PathValue(k)
		if err := checkName(k, v); err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	return values, nil
}

// finding is the endpoint that returns one object.
func finding[T any](t *store.Table[T], keys ...string) endpoint {
	return func(r *http.Request) (answer, error) {
		n, err := names(r, keys...)
		if err != nil {
			return answer{}, err
		}
		item, err := t.Find(r.Context(), n...)
		return okay(item), err
	}
}

// parent is the table of what a listing is below.
type parent interface {
	Exists(ctx context.Context, names ...string) error
}

// listing is the endpoint that returns one page of the objects below the named parent.
func listing[T any](t *store.Table[T], p parent, keys ...string) endpoint {
	return func(r *http.Request) (answer, error) {
		n, err := names(r, keys...)
		if err != nil {
			return answer{}, err
		}
		after, limit, err := pageOf(r)
		if err != nil {
			return answer{}, err
		}
		items, more, err := t.List(r.Context(), after, limit, n...)
		if err == nil && len(items) == 0 && p != nil {
			err = p.Exists(r.Context(), n...) // an empty page of nothing is 404
		}
		if err != nil {
			return answer{}, err
		}
		page := api.List[T]{Items: items}
		if more {
			page.NextCursor = encodeCursor(t.Name(items[len(items)-1]))
		}
		return okay(page), nil
	}
}

func (h *Handler) createTenant(r *http.Request) (answer, error) {
	var body api.CreateTenant
	if _, err := decode(r, &body); err != nil {
		return answer{}, err
	}
	if err := firstError(checkTenantID(body.TenantID), checkDisplayName(body.DisplayName)); err != nil {
		return answer{}, err
	}
	key, err := token.NewKey(h.cfg.Clock.Now())
	if err != nil {
		return answer{}, err
	}
	item := api.Tenant{TenantID: body.TenantID, DisplayName: body.DisplayName}
	made, err := h.cfg.Store.CreateTenant(r.Context(), item, key)
	return created(made), err
}

func (h *Handler) deleteTenant(r *http.Request) (answer, error) {
	n, err := names(r, "tenant")
	if err != nil {
		return answer{}, err
	}
	return deleted, h.cfg.Store.DeleteTenant(r.Context(), n[0])
}

func (h *Handler) createNamespace(r *http.Request) (answer, error) {
	n, err := names(r, "tenant")
	if err != nil {
		return answer{}, err
	}
	var body api.CreateNamespace
	if _, err := decode(r, &body); err != nil {
		return answer{}, err
	}
	err = firstError(checkName("namespace", body.Namespace), checkDisplayName(body.DisplayName))
	if err != nil {
		return answer{}, err
	}
	made, err := h.cfg.Store.CreateNamespace(r.Context(), api.Namespace{
		TenantID:    n[0],
		Namespace:   body.Namespace,
		DisplayName: body.DisplayName,
	})
	return created(made), err
}

func (h *Handler) deleteNamespace(r *http.Request) (answer, error) {
	n, err := names(r, "tenant", "namespace")
	if err != nil {
		return answer{}, err
	}
	return deleted, h.cfg.Store.DeleteNamespace(r.Context(), n[0], n[1])
}

func (h *Handler) createStream(r *http.Request) (answer, error) {
	n, err := names(r, "tenant", "namespace")
	if err != nil {
		return answer{}, err
	}
	var body api.CreateStream
	given, err := decode(r, &body)
	if err != nil {
		return answer{}, err
	}
	item, err := streamOf(n[0], n[1], body, given)
	if err != nil {
		return answer{}, err
	}
	made, err := h.cfg.Store.CreateStream(r.Context(), item)
	return created(made), err
}

func (h *Handler) patchStream(r *http.Request) (answer, error) {
	n, err := names(r, "tenant", "namespace", "stream")
	if err != nil {
		return answer{}, err
	}
	var patch api.StreamPatch
	g, err := decode(r, &patch, fixedStreamFields...)
	if err != nil {
		return answer{}, err
	}
	if err := checkRetention(patch.Retention, g); err != nil {
		return answer{}, err
	}
	change := func(s *api.Stream) error { return patchStream(s, patch) }
	item, err := h.cfg.Store.Streams.Update(r.Context(), change, n...)
	return okay(item), err
}

func (h *Handler) deleteStream(r *http.Request) (answer, error) {
	n, err := names(r, "tenant", "namespace", "stream")
	if err != nil {
		return answer{}, err
	}
	return deleted, h.cfg.Store.DeleteStream(r.Context(), n[0], n[1], n[2])
}

func (h *Handler) createCache(r *http.Request) (answer, error) {
	n, err := names(r, "tenant", "namespace")
	if err != nil {
		return answer{}, err
	}
	var body api.CreateCache
	given, err := decode(r, &body)
	if err != nil {
		return answer{}, err
	}
	item, err := cacheOf(n[0], n[1], body, given)
	if err != nil {
		return answer{}, err
	}
	made, err := h.cfg.Store.CreateCache(r.Context(), item)
	return created(made), err
}

func (h *Handler) patchCache(r *http.Request) (answer, error) {
	n, err := names(r, "tenant", "namespace", "cache")
	if err != nil {
		return answer{}, err
	}
	var patch api.CachePatch
	if _, err := decode(r, &patch, fixedCacheFields...); err != nil {
		return answer{}, err
	}
	change := func(c *api.Cache) error { return patchCache(c, patch) }
	item, err := h.cfg.Store.Caches.Update(r.Context(), change, n...)
	return okay(item), err
}

func (h *Handler) deleteCache(r *http.Request) (answer, error) {
	n, err := names(r, "tenant", "namespace", "cache")
	if err != nil {
		return answer{}, err
	}
	return deleted, h.cfg.Store.DeleteCache(r.Context(), n[0], n[1], n[2])
}
