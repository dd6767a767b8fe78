package store

import (
	"context"
	"errors"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/felix-go/felix/controlplane/api"
)

var (
	// errMarked is the violated guard of a name whose earlier contents are still being removed.
	errMarked = errors.New("store: earlier contents are being removed")

	// errSwept is the violated guard of a sweep that somebody else has finished.
	errSwept = errors.New("store: already swept")
)

// Deleting a tenant or namespace removes more than one transaction may hold, so it is done in steps that
// anybody can take up:
//
//  1. One transaction deletes the object itself (and a tenant's keys) and leaves a marker under
//     deleting/. From here on nothing can be created inside, because every creation requires its
//     parents, and the name cannot be taken again, because that requires that there is no marker.
//  2. Contents are deleted in batches, each with its change rows: namespaces, then caches and streams.
//     Every batch requires the marker as it was found. A slow sweeper can therefore not touch the
//     contents of a later object of the same name.
//  3. The marker is removed.
//
// The caller of the deletion takes the steps itself. After a crash or a failure the sweeper of the next
// Open, a repeated deletion, or the next creation of that name finishes them.

// sweep removes the contents named by a marker, and the marker. It returns nil when there is none.
func (s *Store) sweep(ctx context.Context, marker string) error {
	_, err := s.sweepIfMarked(ctx, marker)
	return err
}

// sweepIfMarked is sweep, and reports whether there was a marker.
func (s *Store) sweepIfMarked(ctx context.Context, marker string) (bool, error) {
	resp, err := s.etcd.get(ctx, marker)
	if err != nil {
		return false, err
	}
	if len(resp.Kvs) == 0 {
		return false, nil
	}
	held := guard{key: marker, revision: resp.Kvs[0].ModRevision, err: errSwept}
	err = s.sweepHeld(ctx, held)
	if errors.Is(err, errSwept) {
		err = nil
	}
	return true, err
}

func (s *Store) sweepHeld(ctx context.Context, held guard) error {
	name, path, _ := strings.Cut(strings.TrimPrefix(held.key, s.keys.deletings()), "/")
	done := []clientv3.Op{clientv3.OpDelete(held.key)}
	if k, _ := parseKind(name); k == tenants {
		if err := sweepTable(ctx, s.Namespaces, path, held); err != nil {
			return err
		}
		// Deletions of single namespaces that got stuck are covered by this one.
		inner := s.keys.deleting(namespaces, path+"/")
		done = append(done, clientv3.OpDelete(inner, clientv3.WithPrefix()))
	}
	if err := sweepTable(ctx, s.Caches, path, held); err != nil {
		return err
	}
	if err := sweepTable(ctx, s.Streams, path, held); err != nil {
		return err
	}
	_, err := s.etcd.txn(ctx, []clientv3.Cmp{held.cmp()}, done, nil)
	return err
}

// sweepTable deletes every object of a table below parent.
func sweepTable[T any](ctx context.Context, t *Table[T], parent string, held guard) error {
	s := t.store
	batch := int64(min(maxRowsPerWrite, s.cfg.RetainChanges)) // a row must survive its own transaction
	prefix := s.keys.object(t.schema.kind, parent+"/")
	for {
		resp, err := s.etcd.get(ctx, prefix, clientv3.WithPrefix(), clientv3.WithLimit(batch))
		if err != nil {
			return err
		}
		if len(resp.Kvs) == 0 {
			return nil
		}
		w := &write{guards: []guard{held}}
		for _, kv := range resp.Kvs {
			key := string(kv.Key)
			w.guards = append(w.guards, guard{key: key, revision: kv.ModRevision, err: errStale})
			w.ops = append(w.ops, clientv3.OpDelete(key))
			gone := row{Op: api.OpDeleted, Incarnation: uint64(kv.CreateRevision), Item: kv.Value}
			w.rows = append(w.rows, gone)
		}
		if _, err := s.commit(ctx, t.schema.kind, w); err != nil && !errors.Is(err, errStale) {
			return err
		}
	}
}

// sweeper finishes deletions that their callers could not. One goroutine, see run.
type sweeper struct {
	store *Store
	bell  chan struct{} // one token: there may be markers
}

// Timing of the sweeper: one attempt, and the rest after a failed one.
const (
	sweepTimeout = 30 * time.Second
	sweepRest    = time.Second
)

func newSweeper(s *Store) *sweeper {
	sw := &sweeper{store: s, bell: make(chan struct{}, 1)}
	sw.kick() // an earlier process may have left some
	return sw
}

// kick makes the sweeper look again. It never blocks.
func (sw *sweeper) kick() {
	select {
	case sw.bell <- struct{}{}:
	default:
	}
}

// run sweeps whenever it is kicked, until ctx ends.
func (sw *sweeper) run(ctx context.Context) {
	for {
		select {
		case <-sw.bell:
		case <-ctx.Done():
			return
		}
		if err := sw.sweepAll(ctx); err != nil && ctx.Err() == nil {
			sw.store.log.Warn("cannot finish a deletion, will retry", "err", err)
			sw.store.rest(ctx, sweepRest)
			sw.kick()
		}
	}
}

func (sw *sweeper) sweepAll(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, sweepTimeout)
	defer cancel()
	s := sw.store
	resp, err := s.etcd.get(ctx, s.keys.deletings(), clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil {
		return err
	}
	for _, kv := range resp.Kvs {
		if err := s.sweep(ctx, string(kv.Key)); err != nil {
			return err
		}
	}
	return nil
}

// rest waits for d or the end of ctx.
func (s *Store) rest(ctx context.Context, d time.Duration) {
	t := s.cfg.Clock.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C():
	case <-ctx.Done():
	}
}
