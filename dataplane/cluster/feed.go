package cluster

import (
	"context"
	"time"

	"github.com/felix-go/felix/controlplane/api"
	"github.com/felix-go/felix/dataplane/catalog"
	"github.com/felix-go/felix/dataplane/stat"
)

const (
	pollWait      = 20 * time.Second // how long a long-poll may wait for a change
	pollLimit     = pollWait + 15*time.Second
	snapshotLimit = 2 * time.Minute // a whole kind, over a slow line
	quickPoll     = time.Second     // an empty page sooner than this did not wait
	quickPause    = 200 * time.Millisecond
)

// feed follows one kind: S is its form in the API, T in the catalog. It is owned by one goroutine.
type feed[S, T any] struct {
	sync     *Sync
	kind     string
	snapshot func(context.Context) (api.Snapshot[S], error)
	changes  func(context.Context, uint64, time.Duration) (api.Changes[S], error)
	convert  func(*S) (T, string)
	reset    func([]T)
	apply    func([]catalog.Change[T])

	next    uint64 // sequence number of the first row not yet seen
	backoff backoff

	syncs, failures, refused *stat.Counter
	resyncs                  map[string]*stat.Counter
}

func newFeed[S, T any](
	s *Sync, kind string,
	snapshot func(context.Context) (api.Snapshot[S], error),
	changes func(context.Context, uint64, time.Duration) (api.Changes[S], error),
	convert func(*S) (T, string), reset func([]T), apply func([]catalog.Change[T]),
) *feed[S, T] {
	counter := func(name, help string) *stat.Counter {
		return s.cfg.Stats.Counter(stat.Label(name, "kind", kind), help)
	}
	f := &feed[S, T]{
		sync: s, kind: kind, snapshot: snapshot, changes: changes,
		convert: convert, reset: reset, apply: apply,
		backoff: backoff{clock: s.cfg.Clock},
		syncs: counter("felix_broker_catalog_syncs_total",
			"Snapshots and pages of changes applied to the catalog."),
		failures: counter("felix_broker_catalog_sync_failures_total",
			"Fetches of metadata that failed; the catalog kept what it had."),
		refused: counter("felix_broker_catalog_rows_refused_total", "Metadata rows this broker cannot use."),
		resyncs: make(map[string]*stat.Counter),
	}
	for _, reason := range []string{resyncEvicted, resyncAllEvicted, resyncReset} {
		f.resyncs[reason] = counter(stat.Label("felix_broker_catalog_resyncs_total", "reason", reason),
			"New snapshots because changes were missed, by reason.")
	}
	return f
}

func (f *feed[S, T]) name() string { return f.kind }

// seed replaces the kind by a snapshot, asking until one comes. It returns false when ctx ended before.
func (f *feed[S, T]) seed(ctx context.Context) bool {
	for {
		limited, cancel := limit(ctx, f.sync.cfg.Clock, snapshotLimit)
		snap, err := f.snapshot(limited)
		cancel()
		if err == nil {
			f.replace(snap)
			f.worked()
			return true
		}
		if !f.failed(ctx, limited, err) {
			return false
		}
	}
}

func (f *feed[S, T]) replace(snap api.Snapshot[S]) {
	items := make([]T, 0, len(snap.Items))
	for i := range snap.Items {
		if item, ok := f.usable(&snap.Items[i]); ok {
			items = append(items, item)
		}
	}
	f.reset(items)
	f.next = snap.NextSeq
}

// follow polls for changes until ctx ends.
func (f *feed[S, T]) follow(ctx context.Context) {
	for ctx.Err() == nil {
		asked := f.sync.cfg.Clock.Monotonic()
		limited, cancel := limit(ctx, f.sync.cfg.Clock, pollLimit)
		page, err := f.changes(limited, f.next, pollWait)
		cancel()
		if err == nil {
			err = check(page)
		}
		if err != nil {
			f.failed(ctx, limited, err)
			continue
		}
		if reason := resync(f.next, page); reason != "" {
			f.resyncs[reason].Inc()
			f.sync.cfg.Logger.Warn("metadata changes were missed; taking a new snapshot",
				"kind", f.kind, "reason", reason, "since", f.next, "next", page.NextSeq)
			f.seed(ctx)
			continue
		}
		if len(page.Items) > 0 {
			f.apply(f.rows(page.Items))
			f.next = page.NextSeq
			f.worked()
			continue
		}
		f.recovered()
		// An instance that drains answers at once; do not ask it in a tight loop.
		if f.sync.cfg.Clock.Monotonic()-asked < quickPoll {
			pause(ctx, f.sync.cfg.Clock, jitter(quickPause))
		}
	}
}

// check refuses a page after which the cursor would not be behind its rows.
func check[S any](page api.Changes[S]) error {
	if n := len(page.Items); n > 0 && page.NextSeq <= page.Items[n-1].Seq {
		return errBadPage
	}
	return nil
}

func (f *feed[S, T]) rows(changes []api.Change[S]) []catalog.Change[T] {
	rows := make([]catalog.Change[T], 0, len(changes))
	for i := range changes {
		c := &changes[i]
		if c.Op == api.OpDeleted {
			item, _ := f.convert(&c.Item) // a deletion needs only names and incarnation
			rows = append(rows, catalog.Change[T]{Deleted: true, Item: item})
		} else if item, ok := f.usable(&c.Item); ok {
			rows = append(rows, catalog.Change[T]{Item: item})
		}
	}
	return rows
}

// usable converts a row; one that a newer control plane writes and this broker does not understand is left
// out.
func (f *feed[S, T]) usable(row *S) (T, bool) {
	item, why := f.convert(row)
	if why != "" {
		f.refused.Inc()
		f.sync.cfg.Logger.Error("metadata row is not usable by this broker", "kind", f.kind, "err", why)
	}
	return item, why == ""
}

func (f *feed[S, T]) worked() {
	f.syncs.Inc()
	f.recovered()
}

func (f *feed[S, T]) recovered() {
	if f.backoff.failures > 0 {
		f.sync.cfg.Logger.Info("metadata feed works again", "kind", f.kind, "failures", f.backoff.failures)
	}
	f.backoff.failures = 0
}

// failed counts a failure and waits. It returns false when ctx has ended, which is no failure.
func (f *feed[S, T]) failed(ctx, limited context.Context, err error) bool {
	if ctx.Err() != nil {
		return false
	}
	if cause := context.Cause(limited); cause == errTimeout {
		err = cause
	}
	f.failures.Inc()
	if f.backoff.failures == 0 {
		f.sync.cfg.Logger.Warn("metadata feed failed; the last known metadata stays in use",
			"kind", f.kind, "err", err)
	}
	return f.backoff.wait(ctx)
}
