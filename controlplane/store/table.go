package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/felix-go/felix/controlplane/api"
)

// Table is the objects of one kind. Objects are addressed by their names from the tenant down, for
// example (tenant, namespace, stream). The incarnation of an object is the etcd revision that created
// it, so it grows strictly over deletion and re-creation.
type Table[T any] struct {
	store  *Store
	schema schema[T]
}

// record is an object as read from etcd.
type record[T any] struct {
	item     T
	raw      []byte
	revision int64 // of the last change
	created  uint64
}

// Find returns one object, or ErrNotFound.
func (t *Table[T]) Find(ctx context.Context, names ...string) (T, error) {
	r, err := t.read(ctx, join(names...))
	return r.item, err
}

// Exists returns nil when the object exists, or ErrNotFound.
func (t *Table[T]) Exists(ctx context.Context, names ...string) error {
	_, err := t.read(ctx, join(names...))
	return err
}

// Name returns the last of the names of an object: what List takes to go on after it.
func (t *Table[T]) Name(item T) string {
	p := t.schema.path(&item)
	return p[strings.LastIndexByte(p, '/')+1:]
}

func (t *Table[T]) read(ctx context.Context, path string) (record[T], error) {
	resp, err := t.store.etcd.get(ctx, t.store.keys.object(t.schema.kind, path))
	if err != nil {
		return record[T]{}, err
	}
	if len(resp.Kvs) == 0 {
		return record[T]{}, t.notFound(path)
	}
	return t.decode(resp.Kvs[0])
}

func (t *Table[T]) notFound(path string) error {
	return fmt.Errorf("%w: %s %q", ErrNotFound, t.singular(), path)
}

func (t *Table[T]) singular() string { return strings.TrimSuffix(t.schema.kind.String(), "s") }

func (t *Table[T]) decode(kv *mvccpb.KeyValue) (record[T], error) {
	r := record[T]{raw: kv.Value, revision: kv.ModRevision, created: uint64(kv.CreateRevision)}
	if err := json.Unmarshal(kv.Value, &r.item); err != nil {
		return record[T]{}, fmt.Errorf("%w: %q: %w", ErrCorrupt, kv.Key, err)
	}
	t.schema.stamp(&r.item, r.created)
	return r, nil
}

// encode returns the stored form, which carries no incarnation: the key's own revision is it.
func (t *Table[T]) encode(item T) ([]byte, error) {
	t.schema.stamp(&item, 0)
	b, err := json.Marshal(item)
	if err != nil {
		return nil, fmt.Errorf("cannot encode a %s: %w", t.singular(), err)
	}
	return b, nil
}

// insert writes a new object together with extra, under extra conditions.
func (t *Table[T]) insert(ctx context.Context, item T, guards []guard, extra ...clientv3.Op) (T, error) {
	path := t.schema.path(&item)
	b, err := t.encode(item)
	if err != nil {
		return item, err
	}
	key := t.store.keys.object(t.schema.kind, path)
	taken := guard{key: key, err: fmt.Errorf("%w: %s %q", ErrExists, t.singular(), path)}
	w := &write{
		guards: append(slices.Clip(guards), taken),
		ops:    append(slices.Clip(extra), clientv3.OpPut(key, string(b))),
		rows:   []row{{Op: api.OpCreated, Item: b}},
	}
	rev, err := t.store.commit(ctx, t.schema.kind, w)
	if err != nil {
		return item, err
	}
	t.schema.stamp(&item, uint64(rev))
	return item, nil
}

// Update reads an object, lets change modify it, and writes the result. The call of change may be
// repeated when the object changes meanwhile; its error ends the update. A change that changes nothing
// writes nothing. change must not touch the names.
func (t *Table[T]) Update(ctx context.Context, change func(*T) error, names ...string) (T, error) {
	path := join(names...)
	for {
		old, err := t.read(ctx, path)
		if err != nil {
			return old.item, err
		}
		item := old.item
		if err := change(&item); err != nil {
			return old.item, err
		}
		b, err := t.encode(item)
		if err != nil || string(b) == string(old.raw) {
			return item, err
		}
		key := t.store.keys.object(t.schema.kind, path)
		_, err = t.store.commit(ctx, t.schema.kind, &write{
			guards: []guard{{key: key, revision: old.revision, err: errStale}},
			ops:    []clientv3.Op{clientv3.OpPut(key, string(b))},
			rows:   []row{{Op: api.OpUpdated, Incarnation: old.created, Item: b}},
		})
		if !errors.Is(err, errStale) {
			return item, err
		}
	}
}

// remove deletes one object together with extra.
func (t *Table[T]) remove(ctx context.Context, path string, extra ...clientv3.Op) error {
	for {
		old, err := t.read(ctx, path)
		if err != nil {
			return err
		}
		key := t.store.keys.object(t.schema.kind, path)
		_, err = t.store.commit(ctx, t.schema.kind, &write{
			guards: []guard{{key: key, revision: old.revision, err: errStale}},
			ops:    append([]clientv3.Op{clientv3.OpDelete(key)}, extra...),
			rows:   []row{{Op: api.OpDeleted, Incarnation: old.created, Item: old.raw}},
		})
		if !errors.Is(err, errStale) {
			return err
		}
	}
}

// present is the condition that an object exists.
func (t *Table[T]) present(path string) guard {
	return guard{key: t.store.keys.object(t.schema.kind, path), revision: anyRevision, err: t.notFound(path)}
}

// List returns up to limit objects below parent in name order, after the object named after, and
// whether more follow. The pages of one listing are not one point in time (rule P9), but an object that
// exists throughout is on exactly one of them.
func (t *Table[T]) List(ctx context.Context, after string, limit int, parent ...string) ([]T, bool, error) {
	prefix := t.store.keys.object(t.schema.kind, "")
	if len(parent) > 0 {
		prefix += join(parent...) + "/"
	}
	start := prefix
	if after != "" {
		start = prefix + after + "\x00" // the first key that can follow
	}
	resp, err := t.store.etcd.get(ctx, start,
		clientv3.WithRange(clientv3.GetPrefixRangeEnd(prefix)), clientv3.WithLimit(int64(limit)))
	if err != nil {
		return nil, false, err
	}
	items, err := t.decodeAll(make([]T, 0, len(resp.Kvs)), resp.Kvs)
	return items, resp.More, err
}

func (t *Table[T]) decodeAll(dst []T, kvs []*mvccpb.KeyValue) ([]T, error) {
	for _, kv := range kvs {
		r, err := t.decode(kv)
		if err != nil {
			return nil, err
		}
		dst = append(dst, r.item)
	}
	return dst, nil
}
