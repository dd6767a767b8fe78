package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// hub tells waiters that a kind's sequence has moved.
//
// One watch on the cursor keys feeds it for the whole process, and a local write does so a little
// sooner, so any number of long polls cost one watch and no store connection each. The revision keeps
// the two sources in order: what the watch repeats late is ignored.
//
// Revisions can also run backwards, when an operator restores etcd from a backup below a running
// process. A watch does not notice that: etcd lets it wait for the old revision to come again. Reads do,
// see Store.observe, and then rewind overwrites what the hub believed.
type hub struct {
	mu    sync.Mutex
	kinds [kindCount]struct {
		next     uint64
		revision int64
		moved    chan struct{} // closed and replaced when next changes
	}
}

func newHub() *hub {
	h := &hub{}
	for k := range h.kinds {
		h.kinds[k].moved = make(chan struct{})
	}
	return h
}

// advance records the cursor of a kind as of a revision, and wakes the waiters if it is news.
func (h *hub) advance(k kind, next uint64, revision int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := &h.kinds[k]
	if revision <= s.revision {
		return
	}
	s.revision = revision
	if next != s.next {
		s.next = next
		close(s.moved)
		s.moved = make(chan struct{})
	}
}

// rewind overwrites what is known of a kind, whatever its revision.
func (h *hub) rewind(k kind, next uint64, revision int64) {
	h.mu.Lock()
	h.kinds[k].revision = -1
	h.mu.Unlock()
	h.advance(k, next, revision)
}

// revision returns the newest revision at which the cursor of a kind is known.
func (h *hub) revision(k kind) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.kinds[k].revision
}

// wait returns nil when the cursor of a kind differs from since, or the cause of ctx.
func (h *hub) wait(ctx context.Context, k kind, since uint64) error {
	for {
		h.mu.Lock()
		next, moved := h.kinds[k].next, h.kinds[k].moved
		h.mu.Unlock()
		if next != since {
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

var (
	errWatchEnded = errors.New("store: the watch ended")
	errRewound    = errors.New("store: etcd went back to an older state")
)

// watchRest is the pause before a broken watch is set up again.
const watchRest = 100 * time.Millisecond

// observe hands the hub a cursor that was just read. before is what hub.revision said when the read
// began, and at the revision the read saw: a smaller one means that etcd was put back to an older state.
func (s *Store) observe(k kind, before, at int64, next uint64, revision int64) {
	if at >= before {
		s.hub.advance(k, next, revision)
		return
	}
	s.log.Warn("etcd went back to an older state", "kind", k.String(), "revision", at, "known", before)
	s.hub.rewind(k, next, revision)
	select {
	case s.rewound <- struct{}{}:
	default:
	}
}

// loadCursors reads every cursor into the hub, and returns the revision it read at.
func (s *Store) loadCursors(ctx context.Context) (int64, error) {
	resp, err := s.etcd.get(ctx, s.keys.cursors(), clientv3.WithPrefix())
	if err != nil {
		return 0, fmt.Errorf("cannot read the change cursors: %w", err)
	}
	found := map[string][]*mvccpb.KeyValue{}
	for _, kv := range resp.Kvs {
		found[string(kv.Key)] = []*mvccpb.KeyValue{kv}
	}
	for k := range kindCount {
		next, rev, err := parseCursor(found[s.keys.cursor(k)])
		if err != nil {
			return 0, err
		}
		s.hub.rewind(k, next, rev)
	}
	return resp.Header.Revision, nil
}

// watch feeds the hub until ctx ends. A watch that breaks, for want of a leader, because its start was
// compacted away or because etcd was rewound, begins again after a fresh read. What the read overwrites
// with an older value, the watch repeats.
func (s *Store) watch(ctx context.Context, from int64) {
	for {
		err := s.watchFrom(ctx, from)
		if ctx.Err() != nil {
			return
		}
		s.log.Warn("watch on the change cursors broke, will resume", "err", err)
		if from = s.resume(ctx); ctx.Err() != nil {
			return
		}
		s.log.Info("watch on the change cursors resumed")
	}
}

// resume reads the cursors as often as it takes, and returns the revision to watch from.
func (s *Store) resume(ctx context.Context) int64 {
	for ctx.Err() == nil {
		s.rest(ctx, watchRest)
		if rev, err := s.loadCursors(ctx); err == nil {
			return rev + 1
		}
	}
	return 0
}

func (s *Store) watchFrom(ctx context.Context, from int64) error {
	ctx, cancel := context.WithCancel(clientv3.WithRequireLeader(ctx))
	defer cancel()
	events := s.etcd.client.Watch(ctx, s.keys.cursors(), clientv3.WithPrefix(), clientv3.WithRev(from))
	for {
		select {
		case <-s.rewound:
			return errRewound
		case resp, ok := <-events:
			if !ok {
				return errWatchEnded
			}
			if err := resp.Err(); err != nil {
				return unavailable(err)
			}
			if err := s.cursorsMoved(resp.Events); err != nil {
				return err
			}
		}
	}
}

func (s *Store) cursorsMoved(events []*clientv3.Event) error {
	for _, ev := range events {
		k, known := parseKind(strings.TrimPrefix(string(ev.Kv.Key), s.keys.cursors()))
		if !known || ev.Type != clientv3.EventTypePut {
			continue // a kind of a newer build
		}
		next, rev, err := parseCursor([]*mvccpb.KeyValue{ev.Kv})
		if err != nil {
			return err
		}
		s.hub.advance(k, next, rev)
	}
	return nil
}
