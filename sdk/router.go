package felix

import (
	"sync"

	"github.com/felix-go/felix/dataplane/transport"
	"github.com/felix-go/felix/dataplane/wire"
)

// Bounds of a router: hellos that are being read, and streams and registrations that wait for their other half.
const (
	maxHellos  = 64
	maxPending = 16_384
)

// router joins event streams, which the broker opens, with the subscriptions that they belong to. Either may come first.
type router struct {
	l      *link
	hellos chan struct{}
	wg     sync.WaitGroup // hello readers

	mu      sync.Mutex // guards the following
	waiting map[wire.SubscriptionID]chan *eventStream
	early   map[wire.SubscriptionID]*eventStream
	ended   bool
}

// eventStream is an event stream after its hello.
type eventStream struct {
	recv *transport.ReceiveStream
	in   *frameReader
}

func newRouter(l *link) *router {
	return &router{l: l, hellos: make(chan struct{}, maxHellos), waiting: make(map[wire.SubscriptionID]chan *eventStream),
		early: make(map[wire.SubscriptionID]*eventStream)}
}

// run accepts event streams until the connection ends.
func (r *router) run() {
	defer r.end()
	ctx := r.l.conn.Context()
	for {
		st, err := r.l.conn.AcceptUniStream(ctx)
		if err != nil {
			return
		}
		select {
		case r.hellos <- struct{}{}:
		case <-ctx.Done():
			return
		}
		r.wg.Add(1)
		go func() {
			defer r.wg.Done()
			defer func() { <-r.hellos }()
			r.hello(st)
		}()
	}
}

func (r *router) end() {
	r.wg.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	r.early = nil
}

// hello reads the first frame of an event stream. A stream that starts with anything else is refused.
func (r *router) hello(st *transport.ReceiveStream) {
	es := &eventStream{recv: st, in: newFrameReader(st, 64<<10)}
	f, payload, err := es.in.next(false)
	var m wire.Message
	if err != nil || f != 0 || wire.ParseMessage(payload, &m) != nil || m.Type != wire.MsgEventStreamHello {
		st.StopReading(transport.StreamCancelled)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.waiting[m.SubscriptionID]; c != nil {
		delete(r.waiting, m.SubscriptionID)
		c <- es
		return
	}
	if r.ended || len(r.early) >= maxPending {
		st.StopReading(transport.StreamCancelled)
		return
	}
	r.early[m.SubscriptionID] = es
}

// expect returns a channel that receives the event stream of id.
func (r *router) expect(id wire.SubscriptionID) (<-chan *eventStream, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := make(chan *eventStream, 1)
	if es := r.early[id]; es != nil {
		delete(r.early, id)
		c <- es
		return c, true
	}
	if r.ended || len(r.waiting) >= maxPending {
		return nil, false
	}
	r.waiting[id] = c
	return c, true
}

// forget ends an expectation whose subscriber gave up; a stream that came meanwhile is refused.
func (r *router) forget(id wire.SubscriptionID, c <-chan *eventStream) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.waiting, id)
	select {
	case es := <-c:
		es.recv.StopReading(transport.StreamCancelled)
	default:
	}
}
