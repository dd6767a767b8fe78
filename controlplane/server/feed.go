package server

import (
	"context"
	"net/http"
	"time"

	"github.com/felix-go/felix/controlplane/api"
	"github.com/felix-go/felix/controlplane/store"
)

// maxWait is the longest long poll (rule P21).
const maxWait = 25 * time.Second

// feed registers the snapshot and the changes of one kind.
func feed[T any](h *Handler, kind string, t *store.Table[T]) {
	h.handle(classFeed, "GET /v1/"+kind+"/snapshot", func(r *http.Request) (answer, error) {
		snap, err := t.Snapshot(r.Context())
		return okay(snap), err
	})
	h.handle(classFeed, "GET /v1/"+kind+"/changes", func(r *http.Request) (answer, error) {
		q := r.URL.Query()
		since, err := uintParam(q, "since")
		if err != nil {
			return answer{}, err
		}
		millis, err := uintParam(q, "wait_ms")
		if err != nil {
			return answer{}, err
		}
		wait := time.Duration(min(millis, uint64(maxWait.Milliseconds()))) * time.Millisecond
		page, err := poll(r.Context(), h, t, since, wait)
		return okay(page), err
	})
}

// poll reads the changes from since on. Only when there is nothing at all to say, not even that since
// is not where the sequence stands, does it wait: until a write moves the sequence, wait has passed, or
// draining ends. The wait holds no store connection.
func poll[T any](
	ctx context.Context, h *Handler, t *store.Table[T], since uint64, wait time.Duration,
) (api.Changes[T], error) {
	page, err := t.Changes(ctx, since)
	if err != nil || wait == 0 || !quiet(page, since) {
		return page, err
	}
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(h.draining, cancel)()
	defer h.cfg.Clock.AfterFunc(wait, cancel).Stop()
	h.counts.waiting.Add(1)
	defer h.counts.waiting.Add(-1)
	for t.Wait(waiting, since) == nil {
		if page, err = t.Changes(ctx, since); err != nil || !quiet(page, since) {
			break
		}
	}
	return page, err
}

// quiet reports whether a page says nothing.
func quiet[T any](page api.Changes[T], since uint64) bool {
	return len(page.Items) == 0 && page.NextSeq == since
}
