package brokertest_test

import (
	"errors"
	"testing"
	"time"

	"github.com/felix-go/felix/controlplane/api"
	"github.com/felix-go/felix/dataplane/broker"
	"github.com/felix-go/felix/dataplane/brokertest"
	"github.com/felix-go/felix/dataplane/fanout"
	"github.com/felix-go/felix/dataplane/transport"
	"github.com/felix-go/felix/dataplane/wire"
)

// A deleted tenant ends what speaks for it: request streams are reset, subscriptions get stream_deleted.
func TestDeletedTenantEndsItsStreams(t *testing.T) {
	n := brokertest.Start(t, nil)
	n.Stream("s", 1)
	token := n.Token()
	r := n.Raw(t, nil)
	idle := r.Login(token)
	events := r.Subscribe(token, "s", wire.StartPosition{})
	ctx, cancel := n.Timeout()
	defer cancel()
	if err := n.API.DeleteTenant(ctx, n.Tenant); err != nil {
		t.Fatal(err)
	}
	if _, _, err := idle.Frame(); err == nil {
		t.Error("a request stream of a deleted tenant goes on")
	} else if code, ok := transport.StreamReset(err); !ok || code != transport.StreamAuth {
		t.Errorf("ended with %v", err)
	}
	f, payload, err := events.Frame()
	var m wire.Message
	if err != nil || f != 0 || wire.ParseMessage(payload, &m) != nil || m.Type != wire.MsgStreamDeleted || m.SubscriptionID != events.ID {
		t.Errorf("the subscription got %q %v", payload, err)
	}
	if _, _, err := events.Frame(); err == nil || errors.Is(err, wire.ErrBadMagic) {
		t.Errorf("after stream_deleted: %v", err)
	}
	// A new login with the old token is refused.
	s := r.Open()
	s.Send(n.Auth(token))
	if _, m := s.Message(); m.Type != wire.MsgError || string(m.CodeName) != "unauthenticated" {
		t.Errorf("login for a deleted tenant: %s", m.RawType)
	}
}

// A re-created stream is another stream: nothing of the old one is replayed, and positions start over.
func TestRecreatedStreamStartsOver(t *testing.T) {
	n := brokertest.Start(t, nil)
	n.Stream("s", 1)
	token := n.Token()
	r := n.Raw(t, nil)
	s := r.Login(token)
	s.Send(publishFrame(0x0009, n.Tenant))
	if a := s.Ack(); !a.OK {
		t.Fatalf("%+v", a.Refusal)
	}
	ctx, cancel := n.Timeout()
	defer cancel()
	if err := n.API.DeleteStream(ctx, n.Tenant, brokertest.Namespace, "s"); err != nil {
		t.Fatal(err)
	}
	waitGone := func() bool { return n.Catalog().Stream([]byte(n.Tenant), []byte("default"), []byte("s")) == nil }
	if !within(20*time.Second, waitGone) {
		t.Fatal("the stream did not go")
	}
	s.Send(publishFrame(0x0009, n.Tenant))
	if a := s.Ack(); a.OK || a.Refusal.Code != wire.CodeNotFound {
		t.Errorf("publish to a deleted stream: %+v", a)
	}
	if _, err := n.API.CreateStream(ctx, n.Tenant, brokertest.Namespace, api.CreateStream{Stream: "s"}); err != nil {
		t.Fatal(err)
	}
	if !within(20*time.Second, func() bool { return !waitGone() }) {
		t.Fatal("the stream did not come back")
	}
	events := r.Subscribe(token, "s", wire.StartPosition{Kind: wire.StartEarliest})
	s.Send(publishFrame(0x0009, n.Tenant))
	if a := s.Ack(); !a.OK {
		t.Errorf("publish to the new stream: %+v", a.Refusal)
	}
	_, payload, err := events.Frame()
	var e wire.EventBatch
	if err != nil || wire.ParseEventBatch(wire.FlagEventBatchShared, payload, &e) != nil || e.Count != 1 {
		t.Errorf("%d events, %v", e.Count, err)
	}
}

// A subscriber on one connection that does not read must not hold up its sibling, nor answers on the same connection.
func TestStalledSubscriptionSparesItsSiblings(t *testing.T) {
	n := brokertest.Start(t, func(c *broker.Config) { c.Ingress.IngressWait = true })
	n.Stream("a", 1)
	n.Stream("s", 1)
	n.Cache("c", 1)
	token := n.Token()
	r := n.Raw(t, func(c *transport.DialConfig) { c.StreamWindow = 64 << 10 })
	r.Subscribe(token, "a", wire.StartPosition{}) // never read
	reader := r.Subscribe(token, "s", wire.StartPosition{})
	p := n.Raw(t, nil).Login(token)
	flood := wire.AppendPublish(nil, &wire.PublishFrame{Tenant: n.Tenant, Namespace: brokertest.Namespace, Stream: "a", Payloads: [][]byte{make([]byte, 32<<10)}})
	for range 400 { // more than queue and windows hold
		p.Send(flood)
	}
	if !within(20*time.Second, func() bool { return n.Count("felix_subscribe_dropped_total") > 0 }) {
		t.Fatal("the stalled subscriber loses nothing")
	}
	request := r.Login(token)
	for range 20 {
		request.Send(publishFrame(0x0009, n.Tenant))
		if a := request.Ack(); !a.OK {
			t.Fatalf("%+v", a.Refusal)
		}
		if _, _, err := reader.Frame(); err != nil {
			t.Fatal(err)
		}
	}
}

// Answers leave in request order, also when a refusal needs no work and the publish before it does.
func TestAnswersKeepRequestOrder(t *testing.T) {
	n := brokertest.Start(t, func(c *broker.Config) { c.Ingress.AckOnCommit = true })
	n.Stream("s", 1)
	n.Cache("c", 4)
	s := n.Raw(t, nil).Login(n.Token())
	var b []byte
	const requests = 200
	for i := range requests {
		name := "s"
		if i%3 == 1 {
			name = "no-such-stream"
		}
		b = wire.AppendPublish(b, &wire.PublishFrame{RequestID: uint64(i), Ack: wire.AckPerBatch, Tenant: n.Tenant,
			Namespace: brokertest.Namespace, Stream: name, Payloads: [][]byte{{1}}})
	}
	s.Send(b)
	for i := range requests {
		a := s.Ack()
		if a.RequestID != uint64(i) || a.OK == (i%3 == 1) {
			t.Fatalf("answer %d is for %d, ok %v", i, a.RequestID, a.OK)
		}
	}
}

// A peer that never reads its answers is ended, and takes nobody along.
func TestPeerThatReadsNoAnswersIsEnded(t *testing.T) {
	n := brokertest.Start(t, func(c *broker.Config) { c.Ingress.AnswerStallTimeout = time.Second })
	n.Stream("s", 1)
	n.Cache("c", 1)
	token := n.Token()
	r := n.Raw(t, func(c *transport.DialConfig) { c.StreamWindow, c.ConnWindow = 16<<10, 32<<10 })
	s := r.Login(token)
	key := &wire.CacheKey{Tenant: n.Tenant, Namespace: brokertest.Namespace, Cache: "c", Key: "k"}
	s.Send(wire.AppendCachePut(nil, key, make([]byte, 64<<10), 0, false))
	go func() {
		for range 1000 {
			if _, err := s.Stream.Send().Write(wire.AppendCacheGet(nil, key)); err != nil {
				return
			}
		}
	}()
	if !within(30*time.Second, func() bool { return n.Count("felix_streams_stalled_total") > 0 }) {
		t.Fatal("the stalled stream goes on")
	}
	freshClientIsServed(t, n)
	n.HangupAll()
	n.Quiesce()
}

// A tenant that publishes more than its lane can take is refused or shed, each time counted; a publish that was queued is
// delivered.
func TestOverloadIsRefusedAndCounted(t *testing.T) {
	n := brokertest.Start(t, func(c *broker.Config) {
		c.Ingress.QueuePolicy = fanout.Block
		c.Ingress.QueueItems = 2
		c.Scheduler.DepthPerTenant = 4
	})
	n.Stream("s", 1)
	token := n.Token()
	stalled := n.Raw(t, func(c *transport.DialConfig) { c.StreamWindow = 16 << 10 })
	events := stalled.Subscribe(token, "s", wire.StartPosition{})
	s := n.Raw(t, nil).Login(token)
	big := wire.PublishFrame{Ack: wire.AckPerBatch, Tenant: n.Tenant, Namespace: brokertest.Namespace, Stream: "s", Payloads: [][]byte{make([]byte, 16<<10)}}
	var acked, refused int
	for i := range 200 {
		big.RequestID = uint64(i)
		s.Send(wire.AppendPublish(nil, &big))
		switch a := s.Ack(); {
		case a.OK:
			acked++
		case a.Refusal.Code == wire.CodeOverloaded && a.Refusal.Class == wire.ClassRetryAfter && a.Refusal.Reason == wire.ReasonPublishQueueFull && a.Refusal.RetryAfterMillis > 0:
			refused++
		default:
			t.Fatalf("%+v", a.Refusal)
		}
	}
	if refused == 0 {
		t.Fatal("nothing was refused")
	}
	name := `felix_tenant_publish_queue_full_total{tenant="` + n.Tenant + `",action="refused"}`
	if got := n.Count(name); got != int64(refused) {
		t.Errorf("%s is %d, refused %d", name, got, refused)
	}
	for range acked {
		if _, _, err := events.Frame(); err != nil {
			t.Fatal(err)
		}
	}
	n.HangupAll()
	n.Quiesce()
}
