package ingress

import (
	"sync/atomic"

	"github.com/felix-go/felix/dataplane/auth"
	"github.com/felix-go/felix/dataplane/fanout"
	"github.com/felix-go/felix/dataplane/stream"
	"github.com/felix-go/felix/dataplane/transport"
	"github.com/felix-go/felix/dataplane/wire"
)

// subscription is one live subscription: a place in a stream shard's subscriber set, a queue, an event stream and the pump
// that writes it.
//
// The order in which it is set up is what makes it exact. The subscriber is registered first, and its ring backlog is cut at
// the same offset; then the event stream opens with its hello; then `subscribed` leaves on the request stream; and only after
// that write does the pump start, with the backlog before anything live. Events published meanwhile wait in the queue.
type subscription struct {
	c       *conn
	id      wire.SubscriptionID
	place   *shardPlace
	sub     *stream.Subscriber
	queue   *fanout.Queue
	events  *transport.SendStream
	backlog []*fanout.Envelope
	deleted bool // the client understands stream_deleted

	state atomic.Uint32 // subscriptionIdle, then Started or Ended
}

const (
	subscriptionIdle uint32 = iota
	subscriptionStarted
	subscriptionEnded
)

// subscribe handles `subscribe`. Every refusal is an answer on the request stream, which stays.
func (s *session) subscribe(m *wire.Message) fate {
	r := &s.c.srv.rooms
	if string(m.Tenant) != s.identity.Tenant {
		return s.refuse(refuseTenant, s.afterDenial())
	}
	if !s.identity.Matcher.AllowStream(auth.StreamSubscribe, m.Namespace, m.Stream) {
		return s.refuse(refuseForbidden, s.afterDenial())
	}
	place := s.findStream(m.Tenant, m.Namespace, m.Stream)
	if place == nil {
		return s.refuse(refuseStream(m.Tenant, m.Namespace, m.Stream), keep)
	}
	id := wire.ShardID(m.Shard)
	if int(id) >= len(place.shards) {
		return s.refuse(refuseShard, keep)
	}
	if d := r.Router.Stream(place.desc, id); !d.Local {
		return s.refuse(d.Refusal, keep)
	}
	items := s.c.srv.cfg.QueueItems
	capacity := uint32(0)
	if m.Has(wire.FieldQueueCapacity) {
		items = min(max(int(m.QueueCapacity), 1), s.c.srv.cfg.QueueItemsMax)
		capacity = uint32(items)
	}
	sub := &subscription{c: s.c, id: wire.SubscriptionID(s.c.srv.ids.Add(1)), place: place.shards[id],
		deleted: s.peerFeatures&wire.FeatureStreamDeleted != 0}
	sub.queue = fanout.NewQueue(fanout.QueueConfig{MaxItems: items, MaxBytes: s.c.srv.cfg.QueueBytes,
		Policy: s.c.srv.cfg.QueuePolicy, Egress: r.Egress, Delivery: r.Delivery})
	if !s.c.addSubscription(sub) {
		sub.queue.Close(fanout.EndCancelled)
		return s.refuse(refuseSubsLimit, keep)
	}
	var cursor *stream.CursorError
	var ok bool
	sub.sub, sub.backlog, cursor, ok = sub.place.state.Subscribe(sub.queue, m.Start)
	if cursor != nil || !ok {
		sub.queue.Close(fanout.EndCancelled)
		s.c.removeSubscription(sub)
		if !ok {
			return s.refuse(refuseStream(m.Tenant, m.Namespace, m.Stream), keep)
		}
		return s.answerEncoded(func(dst []byte) []byte {
			return wire.AppendSubscribeCursorError(dst, &wire.CursorError{InFuture: cursor.InFuture, Requested: cursor.Requested,
				Available: cursor.Available})
		}, keep)
	}
	var err error
	if sub.events, err = s.c.t.OpenUniStream(); err != nil {
		sub.abandon()
		return s.refuse(refuseSubStreams, keep)
	}
	// The hello goes out at once: the client's router waits for it on every stream it accepts.
	if _, err := sub.events.Write(wire.AppendEventStreamHello(nil, sub.id)); err != nil {
		sub.abandon()
		return drop
	}
	seq, ok := s.answers.reserve(formFrame, 0)
	if !ok {
		sub.abandon()
		return drop
	}
	a := encoded(s.encodeFrame(func(dst []byte) []byte { return wire.AppendSubscribed(dst, sub.id, capacity) }))
	a.sub = sub
	s.answers.complete(seq, a)
	return keep
}

// start begins the delivery. Called by the writer of the request stream after `subscribed` was written.
func (u *subscription) start() {
	if !u.state.CompareAndSwap(subscriptionIdle, subscriptionStarted) {
		return
	}
	backlog := u.backlog
	u.backlog = nil
	fanout.StartPump(fanout.PumpConfig{Stream: u.events, Queue: u.queue, Arena: u.c.srv.rooms.Arena, Subscription: u.id,
		StreamDeletedOffered: u.deleted, Preface: backlog, MaxWriteBytes: u.c.srv.cfg.MaxBytesPerWrite, OnEnd: u.ended})
}

// abandon ends a subscription whose delivery never started.
func (u *subscription) abandon() {
	if !u.state.CompareAndSwap(subscriptionIdle, subscriptionEnded) {
		return
	}
	u.queue.Close(fanout.EndCancelled)
	for _, e := range u.backlog {
		e.Release()
	}
	u.backlog = nil
	if u.events != nil {
		u.events.Reset(transport.StreamCancelled)
	}
	u.leave()
}

// ended is the pump's last act.
func (u *subscription) ended() {
	u.state.Store(subscriptionEnded)
	u.leave()
}

func (u *subscription) leave() {
	u.place.state.Unsubscribe(u.sub)
	u.c.srv.n.disconnects.Inc()
	u.c.removeSubscription(u)
}

func (c *conn) addSubscription(u *subscription) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.subscriptions) >= c.srv.cfg.MaxSubscriptionsPerConn {
		return false
	}
	if len(c.subscriptions) == 0 {
		c.srv.n.subConnections.Add(1)
	}
	c.subscriptions[u] = struct{}{}
	c.srv.n.subscriptions.Add(1)
	c.wg.Add(1) // the connection is gone when its deliveries are
	return true
}

func (c *conn) removeSubscription(u *subscription) {
	c.mu.Lock()
	delete(c.subscriptions, u)
	c.srv.n.subscriptions.Add(-1)
	if len(c.subscriptions) == 0 {
		c.srv.n.subConnections.Add(-1)
	}
	c.mu.Unlock()
	c.wg.Done()
}

// endSubscriptions ends the deliveries of a connection that is gone. A subscription whose delivery has not started is still being
// made by its reader or waits in the answer window; whoever holds it finds the connection gone and abandons it.
func (c *conn) endSubscriptions() {
	c.mu.Lock()
	all := make([]*subscription, 0, len(c.subscriptions))
	for u := range c.subscriptions {
		all = append(all, u)
	}
	c.mu.Unlock()
	for _, u := range all {
		if u.state.Load() == subscriptionStarted {
			u.queue.Close(fanout.EndShutdown)
		}
	}
}
