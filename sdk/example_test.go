package felix_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/felix-go/felix/dataplane/brokertest"
	felix "github.com/felix-go/felix/sdk"
)

func TestMain(m *testing.M) { brokertest.Main(m) }

// startExample runs a broker for an example; a program dials its own.
func startExample() (url string, opts []felix.Option, stop func()) {
	t := &exampleT{}
	n := brokertest.Start(t, nil)
	n.Stream("orders", 1)
	n.Cache("sessions", 1)
	return "felix://" + n.DialAddr() + "/" + n.Tenant + "/" + brokertest.Namespace,
		[]felix.Option{felix.WithToken(n.Token()), felix.WithCAFile(n.CAFile())}, t.cleanup
}

// Publish to a stream and receive from it.
func ExampleDial() {
	url, opts, stop := startExample()
	defer stop()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	c, err := felix.Dial(ctx, url, opts...)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	sub, err := c.Subscribe(ctx, "orders")
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := c.Publish(ctx, "orders", []byte("hello")); err != nil {
		fmt.Println(err)
		return
	}
	ev, err := sub.Next(ctx)
	fmt.Println(string(ev.Payload), err)
	// Output: hello <nil>
}

// Store a value that expires, read it, and change it only if nobody else did.
func ExampleClient_Cache() {
	url, opts, stop := startExample()
	defer stop()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	c, err := felix.Dial(ctx, url, opts...)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	sessions := c.Cache("sessions")
	if err := sessions.Put(ctx, "user:7", []byte("alice"), felix.TTL(time.Minute)); err != nil {
		fmt.Println(err)
		return
	}
	e, err := sessions.GetVersioned(ctx, "user:7")
	if err != nil {
		fmt.Println(err)
		return
	}
	first, _ := sessions.PutIf(ctx, "user:7", []byte("alice, again"), felix.IfVersion(e.Version))
	second, _ := sessions.PutIf(ctx, "user:7", []byte("too late"), felix.IfVersion(e.Version))
	fmt.Println(string(e.Value), first.Applied, second.Applied)
	// Output: alice true false
}
