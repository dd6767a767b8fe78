package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/felix-go/felix/controlplane/api"
)

// errStale is returned by commit when an object has changed since it was read: read it again and retry.
var errStale = errors.New("store: object changed meanwhile")

// maxRowsPerWrite bounds one transaction. Each row costs at most two operations, and etcd refuses a
// transaction of more than 128 by default.
const maxRowsPerWrite = 50

// head is the write position of one kind as this process last saw it.
type head struct {
	// turn holds a token while a writer of this process is in its transaction. Without it local writers
	// would only make one another retry.
	turn chan struct{}

	// Owned by the holder of turn.
	next     uint64 // sequence number of the next row
	revision int64  // mod revision of the cursor key, 0 when absent
}

// guard is a condition on one key of a write, and the error when it does not hold.
type guard struct {
	key      string
	revision int64 // mod revision the key must have; 0: must be absent; anyRevision: must exist
	err      error
}

const anyRevision = -1

func (g guard) cmp() clientv3.Cmp {
	if g.revision == anyRevision {
		return clientv3.Compare(clientv3.CreateRevision(g.key), ">", 0)
	}
	return clientv3.Compare(clientv3.ModRevision(g.key), "=", g.revision)
}

func (g guard) holds(kvs []*mvccpb.KeyValue) bool {
	if len(kvs) == 0 {
		return g.revision == 0
	}
	return g.revision == anyRevision || g.revision == kvs[0].ModRevision
}

// row is a change row as stored. The incarnation of an object that the same transaction creates is not
// known yet; it is left zero and equals the row's own revision.
type row struct {
	Op          api.Op          `json:"op"`
	Incarnation uint64          `json:"incarnation,omitempty"`
	Item        json.RawMessage `json:"item"`
}

// write is one transaction on one kind: conditions, operations on objects, and the change rows that
// describe them.
//
//	if every guard holds and cursor(kind) is where we saw it:
//	    apply ops; append rows at next...; cursor = next+len(rows); drop rows beyond the retention
//	else:
//	    read the guards and the cursor, all at one revision
//
// The else branch tells a lost race for the cursor, which is retried here at once, from a violated
// guard, which is the caller's business. Because both branches see one revision, exactly one of the two
// is the case.
//
// REQUIRES: at most maxRowsPerWrite rows and as many ops besides a constant few.
type write struct {
	guards []guard
	ops    []clientv3.Op
	rows   []row
}

// commit applies w and returns the revision of the transaction.
func (s *Store) commit(ctx context.Context, k kind, w *write) (int64, error) {
	h := &s.heads[k]
	select {
	case h.turn <- struct{}{}:
		defer func() { <-h.turn }()
	case <-ctx.Done():
		return 0, unavailable(context.Cause(ctx))
	}
	for {
		next := h.next + uint64(len(w.rows))
		resp, err := s.transact(ctx, k, h, w)
		if err != nil {
			return 0, err
		}
		rev := resp.Header.Revision
		if resp.Succeeded {
			h.next, h.revision = next, rev
			s.hub.advance(k, next, rev)
			return rev, nil
		}
		last := len(resp.Responses) - 1
		for i, g := range w.guards {
			if !g.holds(resp.Responses[i].GetResponseRange().Kvs) {
				return 0, g.err
			}
		}
		h.next, h.revision, err = parseCursor(resp.Responses[last].GetResponseRange().Kvs)
		if err != nil {
			return 0, err
		}
	}
}

func (s *Store) transact(ctx context.Context, k kind, h *head, w *write) (*clientv3.TxnResponse, error) {
	cursor := s.keys.cursor(k)
	cmps := make([]clientv3.Cmp, 0, len(w.guards)+1)
	reads := make([]clientv3.Op, 0, len(w.guards)+1)
	for _, g := range w.guards {
		cmps = append(cmps, g.cmp())
		reads = append(reads, clientv3.OpGet(g.key, clientv3.WithKeysOnly()))
	}
	cmps = append(cmps, clientv3.Compare(clientv3.ModRevision(cursor), "=", h.revision))
	reads = append(reads, clientv3.OpGet(cursor))

	ops := make([]clientv3.Op, 0, len(w.ops)+len(w.rows)+2)
	ops = append(ops, w.ops...)
	seq := h.next
	for _, r := range w.rows {
		b, err := json.Marshal(r)
		if err != nil {
			return nil, fmt.Errorf("cannot encode a change row: %w", err)
		}
		ops = append(ops, clientv3.OpPut(s.keys.change(k, seq), string(b)))
		seq++
	}
	ops = append(ops, clientv3.OpPut(cursor, strconv.FormatUint(seq, 10)))
	if keep := uint64(s.cfg.RetainChanges); seq > keep {
		end := clientv3.WithRange(s.keys.change(k, seq-keep))
		ops = append(ops, clientv3.OpDelete(s.keys.change(k, 0), end))
	}
	return s.etcd.txn(ctx, cmps, ops, reads)
}

// parseCursor reads a cursor key: the next sequence number and the key's revision, both zero when the
// kind was never written.
func parseCursor(kvs []*mvccpb.KeyValue) (next uint64, revision int64, err error) {
	if len(kvs) == 0 {
		return 0, 0, nil
	}
	next, err = strconv.ParseUint(string(kvs[0].Value), 10, 64)
	if err != nil {
		return 0, 0, fmt.Errorf("%w: cursor %q", ErrCorrupt, kvs[0].Key)
	}
	return next, kvs[0].ModRevision, nil
}
