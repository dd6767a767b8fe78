package felix

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/felix-go/felix/dataplane/wire"
)

// Cache is one cache of the client's namespace. It holds nothing; make it when needed.
type Cache struct {
	c    *Client
	name string
}

// Cache returns the cache of that name.
func (c *Client) Cache(name string) *Cache { return &Cache{c: c, name: name} }

// Entry is a value with its version.
type Entry struct {
	Value   []byte
	Version uint64
}

// PutOption changes one put.
type PutOption func(*putOptions)

type putOptions struct {
	ttl    time.Duration
	hasTTL bool
}

// TTL makes the entry expire d after the put. Parts of a millisecond are rounded up. Without it the entry does not expire; a
// put replaces the expiry of the one before.
func TTL(d time.Duration) PutOption {
	return func(o *putOptions) { o.ttl, o.hasTTL = d, true }
}

func (o putOptions) millis() uint64 {
	if o.ttl <= 0 {
		return 0 // refused by the broker: a time to live of nothing is a mistake
	}
	return uint64((o.ttl + time.Millisecond - 1) / time.Millisecond)
}

// Condition is what a conditional put asks of the key's entry.
type Condition struct{ c wire.Condition }

// IfAbsent applies the put only if the key has no entry; an expired one counts as none.
func IfAbsent() Condition { return Condition{wire.Condition{Absent: true}} }

// IfVersion applies the put only if the entry still has this version.
func IfVersion(v uint64) Condition { return Condition{wire.Condition{Version: v}} }

// PutResult is the answer to a conditional write. A refusal is an answer, not an error.
type PutResult struct {
	// Applied says whether the write took effect.
	Applied bool
	// Version is the entry's new version after an applied put, and its current one after a refusal; 0 when it has none.
	Version uint64
}

func (k *Cache) key(key string, id uint64) *wire.CacheKey {
	return &wire.CacheKey{Tenant: k.c.cfg.tenant, Namespace: k.c.cfg.namespace, Cache: k.name, Key: key, RequestID: id}
}

// Get returns the value. Without an entry, or with an expired one, the error is ErrNotFound.
func (k *Cache) Get(ctx context.Context, key string) ([]byte, error) {
	e, err := k.GetVersioned(ctx, key)
	return e.Value, err
}

// GetVersioned returns the value with its version, for a later IfVersion.
func (k *Cache) GetVersioned(ctx context.Context, key string) (Entry, error) {
	c, err := k.read(ctx, "cache get", key, func(id uint64) []byte { return wire.AppendCacheGet(nil, k.key(key, id)) })
	if err != nil {
		return Entry{}, err
	}
	if !c.has {
		return Entry{}, &Error{Op: "cache get", Code: wire.CodeNotFound.String(), Class: ClassFatal, Message: "no such key", Reason: "key"}
	}
	return Entry{Value: c.value, Version: c.version}, nil
}

// Put stores the value.
func (k *Cache) Put(ctx context.Context, key string, value []byte, opts ...PutOption) error {
	var o putOptions
	for _, f := range opts {
		f(&o)
	}
	if err := checkValue("cache put", value); err != nil {
		return err
	}
	_, err := k.write(ctx, "cache put", key, func(id uint64) []byte {
		return wire.AppendCachePut(nil, k.key(key, id), value, o.millis(), o.hasTTL)
	})
	return err
}

// Delete removes the entry and returns the value it had; existed is false when there was none.
func (k *Cache) Delete(ctx context.Context, key string) (value []byte, existed bool, err error) {
	c, err := k.write(ctx, "cache delete", key, func(id uint64) []byte { return wire.AppendCacheDelete(nil, k.key(key, id)) })
	if err != nil {
		return nil, false, err
	}
	return c.value, c.has, nil
}

// PutIf stores the value if the condition holds: check and write are one step on the key's owner. It is never sent twice.
func (k *Cache) PutIf(ctx context.Context, key string, value []byte, cond Condition, opts ...PutOption) (PutResult, error) {
	var o putOptions
	for _, f := range opts {
		f(&o)
	}
	if err := checkValue("cache put", value); err != nil {
		return PutResult{}, err
	}
	c, err := k.write(ctx, "cache put", key, func(id uint64) []byte {
		return wire.AppendCachePutIf(nil, k.key(key, id), value, o.millis(), o.hasTTL, cond.c)
	})
	if err != nil {
		return PutResult{}, err
	}
	return PutResult{Applied: c.applied, Version: c.version}, nil
}

// DeleteIf removes the entry if it still has this version.
func (k *Cache) DeleteIf(ctx context.Context, key string, version uint64) (PutResult, error) {
	c, err := k.write(ctx, "cache delete", key, func(id uint64) []byte {
		return wire.AppendCacheDeleteIf(nil, k.key(key, id), version)
	})
	if err != nil {
		return PutResult{}, err
	}
	return PutResult{Applied: c.applied, Version: c.version}, nil
}

// Keys walks the keys that start with prefix, in byte order. Entries put or removed meanwhile may or may not be seen. It needs
// a grant that covers the prefix.
func (k *Cache) Keys(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		cursor := ""
		for {
			c, err := k.read(ctx, "cache keys", prefix, func(id uint64) []byte {
				return wire.AppendListKeys(nil, &wire.ListKeys{RequestID: id, Tenant: []byte(k.c.cfg.tenant),
					Namespace: []byte(k.c.cfg.namespace), Cache: []byte(k.name), Prefix: []byte(prefix),
					Cursor: []byte(cursor), Limit: keysPage})
			})
			if err != nil {
				yield("", err)
				return
			}
			for _, key := range c.keys {
				if !yield(key, nil) {
					return
				}
				cursor = key
			}
			if !c.more {
				return
			}
		}
	}
}

// keysPage is how many keys one request of Keys asks for.
const keysPage = 1000

func checkValue(op string, value []byte) error {
	if len(value) > wire.MaxValueBytes {
		return refused(op, wire.Refusal{Code: wire.CodeLimitExceeded, Message: "value larger than 12580000 bytes", Reason: "value_too_large"})
	}
	return nil
}

// write sends a request once.
func (k *Cache) write(ctx context.Context, op, key string, encode func(id uint64) []byte) (*call, error) {
	l, err := k.c.connected(ctx)
	if err != nil {
		return nil, err
	}
	p, err := l.cachePipe(ctx, k.c.nextID.Add(1))
	if err != nil {
		return nil, err
	}
	c := &call{op: op, id: k.c.nextID.Add(1), want: true}
	c.frame = encode(c.id)
	size := min(int64(len(c.frame)), k.c.cfg.inflightBytes)
	if err := k.c.bytes.Acquire(ctx, size); err != nil {
		return nil, abandoned(op, ctx, false)
	}
	c.retained = func() { k.c.bytes.Release(size) }
	return c, p.do(ctx, c)
}

// read sends a request, and once more over a new connection when the first was lost: a read changes nothing.
func (k *Cache) read(ctx context.Context, op, key string, encode func(id uint64) []byte) (*call, error) {
	c, err := k.write(ctx, op, key, encode)
	if errors.Is(err, ErrConnection) || errors.Is(err, ErrDraining) {
		c, err = k.write(ctx, op, key, encode)
	}
	if IsOutcomeUnknown(err) && ctx.Err() == nil {
		err.(*Error).Class = ClassRetry
	}
	return c, err
}
