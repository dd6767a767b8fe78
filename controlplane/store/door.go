package store

import (
	"context"
	"errors"
	"fmt"
	"sync"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// errClosed is the cause of calls that the end of the store refused or cut short.
var errClosed = errors.New("store: closed")

// door is the way to etcd: every read and write passes it, and gets its failures marked as
// ErrUnavailable.
//
// Close has to know when the last call has left. An embedded member runs calls on the goroutines of
// their callers, and would otherwise pull its database away below them.
type door struct {
	client *clientv3.Client

	life context.Context // ends with close, and with it every call inside
	end  context.CancelCauseFunc

	mu     sync.Mutex // guards closed, and orders inside.Add before inside.Wait
	closed bool
	inside sync.WaitGroup
}

func newDoor(c *clientv3.Client) *door {
	d := &door{client: c}
	d.life, d.end = context.WithCancelCause(context.Background())
	return d
}

// enter returns the context of a call, and what to do when it is over.
func (d *door) enter(ctx context.Context) (context.Context, func(), error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, nil, unavailable(errClosed)
	}
	d.inside.Add(1)
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(d.life, func() { cancel(errClosed) })
	return ctx, func() {
		stop()
		cancel(nil)
		d.inside.Done()
	}, nil
}

func (d *door) get(
	ctx context.Context, key string, opts ...clientv3.OpOption,
) (*clientv3.GetResponse, error) {
	ctx, leave, err := d.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	resp, err := d.client.Get(ctx, key, opts...)
	return resp, unavailable(err)
}

// txn does then when every condition holds, and otherwise reads, at one revision.
func (d *door) txn(
	ctx context.Context, conditions []clientv3.Cmp, then, otherwise []clientv3.Op,
) (*clientv3.TxnResponse, error) {
	ctx, leave, err := d.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	resp, err := d.client.Txn(ctx).If(conditions...).Then(then...).Else(otherwise...).Commit()
	return resp, unavailable(err)
}

// close refuses new calls, cuts short those inside, and returns when they have left. It may be called
// again.
func (d *door) close() {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.end(errClosed)
	d.inside.Wait()
}

// unavailable marks a failure of etcd. It returns nil for nil.
func unavailable(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}
