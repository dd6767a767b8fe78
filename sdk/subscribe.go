package felix

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/felix-go/felix/dataplane/ring"
	"github.com/felix-go/felix/dataplane/transport"
	"github.com/felix-go/felix/dataplane/wire"
)

// SubscribeOption changes a subscription.
type SubscribeOption func(*subscribeOptions)

type subscribeOptions struct {
	start     wire.StartPosition
	shard     uint32
	capacity  uint32
	dropNew   bool
	maxEvents int
	maxBytes  int
}

// FromLatest delivers only what is published from now on. This is the default.
func FromLatest() SubscribeOption {
	return func(o *subscribeOptions) { o.start = wire.StartPosition{Kind: wire.StartLatest} }
}

// FromEarliest starts at the oldest record the broker still has.
func FromEarliest() SubscribeOption {
	return func(o *subscribeOptions) { o.start = wire.StartPosition{Kind: wire.StartEarliest} }
}

// FromOffset starts at that record. An offset that is gone or not there yet is refused with a *CursorError.
func FromOffset(n uint64) SubscribeOption {
	return func(o *subscribeOptions) {
		o.start = wire.StartPosition{Kind: wire.StartOffset, Offset: wire.Offset(n)}
	}
}

// Shard subscribes to that shard of the stream instead of shard 0.
func Shard(n uint32) SubscribeOption { return func(o *subscribeOptions) { o.shard = n } }

// BrokerQueue asks the broker for room for that many batches; the broker clamps it.
func BrokerQueue(batches uint32) SubscribeOption {
	return func(o *subscribeOptions) { o.capacity = batches }
}

// Buffer bounds what is received ahead of Next: events and bytes. Default 64 Ki events and 4 MiB.
func Buffer(events, bytes int) SubscribeOption {
	return func(o *subscribeOptions) { o.maxEvents, o.maxBytes = events, bytes }
}

// DropWhenFull drops what arrives while the buffer is full, and counts it (Subscription.Lost). By default the subscription
// stops reading instead, and the broker's queue and policy decide.
func DropWhenFull() SubscribeOption { return func(o *subscribeOptions) { o.dropNew = true } }

// CursorError refuses a start offset.
type CursorError struct {
	// InFuture says that the offset lies past the tail; otherwise the record is no longer kept.
	InFuture bool
	// Requested is the offset asked for; Available is the tail, or the oldest offset there is.
	Requested, Available uint64
}

// Error implements error.
func (e *CursorError) Error() string {
	if e.InFuture {
		return fmt.Sprintf("felix: subscribe: offset %d is past the tail %d", e.Requested, e.Available)
	}
	return fmt.Sprintf("felix: subscribe: offset %d is no longer kept; the oldest is %d", e.Requested, e.Available)
}

// Subscribe registers with the broker and returns when it has: everything published after that is delivered.
func (c *Client) Subscribe(ctx context.Context, stream string, opts ...SubscribeOption) (*Subscription, error) {
	o := subscribeOptions{maxEvents: defaultBufferEvents, maxBytes: defaultBufferBytes}
	for _, f := range opts {
		f(&o)
	}
	if o.maxEvents < 1 || o.maxBytes < 1 {
		return nil, fmt.Errorf("%w: Buffer(%d, %d) must be positive", ErrConfig, o.maxEvents, o.maxBytes)
	}
	l, err := c.connected(ctx)
	if err != nil {
		return nil, err
	}
	in, err := l.login(ctx)
	if err != nil {
		return nil, err
	}
	// The exchange goes on when ctx ends, because the broker may register the subscription all the same: then its event stream
	// is refused here, which ends it there.
	registered := make(chan registration)
	c.wg.Go(func() {
		r := l.register(ctx, in, stream, &o)
		select {
		case registered <- r:
		case <-ctx.Done():
			if r.err == nil {
				r.events.recv.StopReading(transport.StreamCancelled)
			}
		}
	})
	var r registration
	select {
	case r = <-registered:
	case <-ctx.Done():
		return nil, abandoned("subscribe", ctx, false)
	}
	if r.err != nil {
		return nil, r.err
	}
	s := &Subscription{stream: stream, opts: o, events: r.events, bell: ring.NewBell(), space: ring.NewBell(), stop: make(chan struct{}),
		done: make(chan struct{}), queue: ring.NewBuffer[eventBatch](1 << 30)}
	s.unwatch = context.AfterFunc(c.stop, s.shut)
	c.wg.Go(func() { s.read(c) })
	return s, nil
}

// registration is the outcome of a subscribe exchange.
type registration struct {
	events *eventStream
	err    error
}

// abandonedFor is how long an exchange whose caller is gone may still take.
const abandonedFor = 10 * time.Second

// register asks for a subscription and waits for its event stream. It ends at the latest abandonedFor after ctx.
func (l *link) register(ctx context.Context, in *login, stream string, o *subscribeOptions) registration {
	late, cancel := context.WithCancel(context.Background())
	defer cancel()
	stopWatch := context.AfterFunc(ctx, func() { time.AfterFunc(abandonedFor, cancel) })
	defer stopWatch()
	stopCut := context.AfterFunc(late, func() { cutStream(in.stream) })
	id, err := l.c.askSubscribe(in, stream, o)
	if stopCut() {
		cutStream(in.stream) // the exchange is over; a successful one was finished before
	}
	if err != nil {
		return registration{err: err}
	}
	expected, ok := l.router.expect(id)
	if !ok {
		return registration{err: lost("subscribe", l.conn.Cause(), false)}
	}
	select {
	case events := <-expected:
		return registration{events: events}
	case <-late.Done():
		l.router.forget(id, expected)
		return registration{err: abandoned("subscribe", ctx, false)}
	case <-l.conn.Done():
		l.router.forget(id, expected)
		return registration{err: lost("subscribe", l.conn.Cause(), false)}
	}
}

// askSubscribe sends the request and reads its answer.
func (c *Client) askSubscribe(in *login, stream string, o *subscribeOptions) (wire.SubscriptionID, error) {
	q := wire.Subscribe{Tenant: c.cfg.tenant, Namespace: c.cfg.namespace, Stream: stream, Start: o.start,
		Shard: wire.ShardID(o.shard)}
	if in.features.Has(wire.FeatureSubscribeQueue) {
		q.QueueCapacity = o.capacity
	}
	if _, err := in.stream.Send().Write(wire.AppendSubscribe(nil, &q)); err != nil {
		return 0, lost("subscribe", err, false)
	}
	in.stream.Send().Close()
	f, payload, err := in.in.next(false)
	if err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return 0, lost("subscribe", err, false)
	}
	var m wire.Message
	if f != 0 || wire.ParseMessage(payload, &m) != nil {
		return 0, lost("subscribe", errors.New("felix: unreadable answer"), false)
	}
	switch m.Type {
	case wire.MsgSubscribed:
		return m.SubscriptionID, nil
	case wire.MsgSubscribeCursorError:
		return 0, &CursorError{InFuture: string(m.Reason) == "in_future", Requested: uint64(m.Requested), Available: uint64(m.Available)}
	case wire.MsgError:
		return 0, refused("subscribe", m.Refusal())
	}
	return 0, lost("subscribe", fmt.Errorf("felix: %s in answer", m.Type), false)
}
