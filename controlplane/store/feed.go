package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/felix-go/felix/controlplane/api"
)

// pageLimit is the most change rows in one page, and the size of the reads behind a snapshot (rule P20).
const pageLimit = 1000

// snapshotAttempts bounds how often a snapshot starts over because its revision was compacted away.
const snapshotAttempts = 3

// Snapshot returns every object of the kind and the next sequence number, both at one revision (rule
// P17).
func (t *Table[T]) Snapshot(ctx context.Context) (api.Snapshot[T], error) {
	var err error
	for range snapshotAttempts {
		var snap api.Snapshot[T]
		if snap, err = t.snapshotOnce(ctx); err == nil {
			return snap, nil
		}
		if !errors.Is(err, rpctypes.ErrCompacted) {
			break
		}
	}
	return api.Snapshot[T]{}, err
}

func (t *Table[T]) snapshotOnce(ctx context.Context) (snap api.Snapshot[T], err error) {
	s := t.store
	prefix := s.keys.object(t.schema.kind, "")
	opts := []clientv3.OpOption{
		clientv3.WithRange(clientv3.GetPrefixRangeEnd(prefix)), clientv3.WithLimit(pageLimit),
	}
	// The first page and the cursor come from one read-only transaction, and fix the revision.
	reads := []clientv3.Op{clientv3.OpGet(s.keys.cursor(t.schema.kind)), clientv3.OpGet(prefix, opts...)}
	resp, err := s.etcd.txn(ctx, nil, reads, nil)
	if err != nil {
		return snap, err
	}
	if snap.NextSeq, _, err = parseCursor(resp.Responses[0].GetResponseRange().Kvs); err != nil {
		return snap, err
	}
	page := resp.Responses[1].GetResponseRange()
	snap.Items = make([]T, 0, page.Count)
	kvs, more := page.Kvs, page.More
	for {
		if snap.Items, err = t.decodeAll(snap.Items, kvs); err != nil || !more {
			return snap, err
		}
		start := string(kvs[len(kvs)-1].Key) + "\x00"
		next, err := s.etcd.get(ctx, start, append(opts, clientv3.WithRev(resp.Header.Revision))...)
		if err != nil {
			return snap, err
		}
		kvs, more = next.Kvs, next.More
	}
}

// Changes returns the change rows from since on, at most pageLimit, and the next number to ask for. It
// never waits; see Wait.
func (t *Table[T]) Changes(ctx context.Context, since uint64) (api.Changes[T], error) {
	s, k := t.store, t.schema.kind
	page := api.Changes[T]{Items: []api.Change[T]{}}
	before := s.hub.revision(k)
	resp, err := s.etcd.txn(ctx, nil, []clientv3.Op{
		clientv3.OpGet(s.keys.cursor(k)),
		clientv3.OpGet(s.keys.change(k, since),
			clientv3.WithRange(s.keys.changesEnd(k)), clientv3.WithLimit(pageLimit)),
	}, nil)
	if err != nil {
		return page, err
	}
	next, rev, err := parseCursor(resp.Responses[0].GetResponseRange().Kvs)
	if err != nil {
		return page, err
	}
	// A waiter compares with the hub: it must know at least what this reader has seen.
	s.observe(k, before, resp.Header.Revision, next, rev)
	page.NextSeq = next
	for _, kv := range resp.Responses[1].GetResponseRange().Kvs {
		c, err := t.decodeRow(kv)
		if err != nil {
			return page, err
		}
		page.Items = append(page.Items, c)
		page.NextSeq = c.Seq + 1
	}
	return page, nil
}

func (t *Table[T]) decodeRow(kv *mvccpb.KeyValue) (api.Change[T], error) {
	var c api.Change[T]
	key := string(kv.Key)
	seq, err := strconv.ParseUint(key[len(key)-20:], 10, 64)
	if err != nil {
		return c, fmt.Errorf("%w: change row %q", ErrCorrupt, key)
	}
	var r row
	if err := json.Unmarshal(kv.Value, &r); err != nil {
		return c, fmt.Errorf("%w: change row %q: %w", ErrCorrupt, key, err)
	}
	if err := json.Unmarshal(r.Item, &c.Item); err != nil {
		return c, fmt.Errorf("%w: change row %q: %w", ErrCorrupt, key, err)
	}
	if r.Incarnation == 0 {
		r.Incarnation = uint64(kv.ModRevision)
	}
	t.schema.stamp(&c.Item, r.Incarnation)
	c.Seq, c.Op = seq, r.Op
	return c, nil
}

// Wait returns nil once the next sequence number of the kind is known to differ from since, so that
// Changes has something to say, and the cause of ctx when that ends first. A waiter holds nothing but a
// channel.
func (t *Table[T]) Wait(ctx context.Context, since uint64) error {
	return t.store.hub.wait(ctx, t.schema.kind, since)
}
