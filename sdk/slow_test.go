package felix_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/felix-go/felix/dataplane/broker"
	"github.com/felix-go/felix/dataplane/brokertest"
	felix "github.com/felix-go/felix/sdk"
)

// fullSubscription is a subscription whose one place is taken, with more events waiting for it.
func fullSubscription(t *testing.T, c *felix.Client) *felix.Subscription {
	t.Helper()
	sub, err := c.Subscribe(deadline(t), "orders", felix.Buffer(1, 1))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		if _, err := c.Publish(deadline(t), "orders", fmt.Appendf(nil, "%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	if ev, err := sub.Next(deadline(t)); err != nil || string(ev.Payload) != "0" {
		t.Fatalf("first event %q, %v", ev.Payload, err)
	}
	return sub
}

// inTime fails the test when f does not return.
func inTime(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-deadline(t).Done():
		t.Fatalf("%s does not return", what)
	}
}

// A subscription that nobody takes from holds up neither the end of its client nor a new connection of it, and what was
// received before the loss is still there.
func TestFullSubscriptionHoldsNobodyUp(t *testing.T) {
	n := brokertest.Start(t, func(c *broker.Config) { c.DrainTimeout = 200 * time.Millisecond })
	n.Stream("orders", 1)
	c := connect(t, n)
	sub := fullSubscription(t, c)
	n.Restart()
	n.Stream("again", 1)
	inTime(t, "a publish over a new connection", func() {
		if _, err := c.Publish(deadline(t), "again", []byte("x")); err != nil {
			t.Error(err)
		}
	})
	var end error
	for end == nil {
		_, end = sub.Next(deadline(t))
	}
	if lost := new(felix.LostError); !errors.As(end, &lost) && !errors.Is(end, felix.ErrSubscriptionEnded) {
		t.Errorf("the subscription ended with %v", end)
	}

	full := fullSubscription(t, c)
	inTime(t, "Close", func() { c.Close() })
	if _, err := full.Next(deadline(t)); !errors.Is(err, felix.ErrClosed) {
		t.Errorf("Next after Close: %v", err)
	}
	full.Close()
	sub.Close()
}

// Close ends a dial that is under way.
func TestCloseEndsADial(t *testing.T) {
	silent, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	n := brokertest.Start(t, nil)
	n.Stream("orders", 1)
	c, err := felix.Dial(deadline(t), "felix://"+silent.LocalAddr().String()+","+n.DialAddr()+"/"+n.Tenant+"/"+brokertest.Namespace,
		felix.WithToken(n.Token()), felix.WithCAFile(n.CAFile()), felix.WithDialTimeout(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	n.Stop()
	b := make([]byte, 2048)
	for silent.SetReadDeadline(time.Now()); ; { // what came for the first connection
		if _, _, err := silent.ReadFrom(b); err != nil {
			break
		}
	}
	result := make(chan error, 1)
	go func() {
		for {
			_, err := c.Publish(context.Background(), "orders", []byte("x"))
			if e := new(felix.Error); errors.As(err, &e) && e.Op != "connect" { // the loss of the connection, before a new one
				continue
			}
			result <- err
			return
		}
	}()
	silent.SetReadDeadline(time.Now().Add(30 * time.Second))
	if _, _, err := silent.ReadFrom(b); err != nil {
		t.Fatal(err)
	}
	c.Close()
	select {
	case err := <-result:
		if !errors.Is(err, felix.ErrClosed) {
			t.Errorf("publish: %v, want ErrClosed", err)
		}
	case <-deadline(t).Done():
		t.Error("the publish does not return")
	}
}
