package felix_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/felix-go/felix/dataplane/broker"
	"github.com/felix-go/felix/dataplane/brokertest"
	felix "github.com/felix-go/felix/sdk"
)

func deadline(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func url(n *brokertest.Node) string {
	return "felix://" + n.DialAddr() + "/" + n.Tenant + "/" + brokertest.Namespace
}

func connect(t testing.TB, n *brokertest.Node, opts ...felix.Option) *felix.Client {
	t.Helper()
	c, err := felix.Dial(deadline(t), url(n), append([]felix.Option{felix.WithToken(n.Token()), felix.WithCAFile(n.CAFile())}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func TestDialRefusesWhatCannotWork(t *testing.T) {
	n := brokertest.Start(t, nil)
	good := []felix.Option{felix.WithToken(n.Token()), felix.WithCAFile(n.CAFile())}
	for _, bad := range []string{"", "http://x:1/a/b", "felix://x/a/b", "felix://x:1", "felix://x:1/a", "felix://x:1/a/b/c", "felix://u@x:1/a/b", "felix://:1/a/b"} {
		if _, err := felix.Dial(deadline(t), bad, good...); !errors.Is(err, felix.ErrConfig) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	_, err := felix.Dial(deadline(t), url(n), felix.WithToken("nonsense"), felix.WithCAFile(n.CAFile()))
	if !errors.Is(err, felix.ErrUnauthenticated) || felix.IsRetryable(err) {
		t.Errorf("bad token: %v", err)
	}
	if _, err := felix.Dial(deadline(t), url(n), felix.WithToken(n.Token())); err == nil {
		t.Error("an unknown certificate was trusted")
	}
	if _, err := felix.Dial(deadline(t), url(n), felix.WithCAFile(n.CAFile())); err == nil {
		t.Error("no token was good enough")
	}
	if _, err := felix.Dial(deadline(t), url(n), append(good, felix.WithStreams(0, 1))...); !errors.Is(err, felix.ErrConfig) {
		t.Errorf("WithStreams(0, 1): %v", err)
	}
	n.Quiesce()
}

func TestErrorsAreTyped(t *testing.T) {
	n := brokertest.Start(t, nil)
	n.Stream("orders", 2)
	n.Cache("c", 1)
	c := connect(t, n)
	ctx := deadline(t)
	if _, err := c.Publish(ctx, "nosuch", nil); !errors.Is(err, felix.ErrNotFound) {
		t.Errorf("publish to nothing: %v", err)
	}
	if _, err := c.PublishBatch(ctx, "orders", nil); !errors.Is(err, felix.ErrInvalidRequest) {
		t.Errorf("empty batch: %v", err)
	}
	if _, err := c.Publish(ctx, "orders", make([]byte, 17<<20)); !errors.Is(err, felix.ErrLimitExceeded) {
		t.Errorf("17 MiB: %v", err)
	}
	if _, err := c.Subscribe(ctx, "nosuch"); !errors.Is(err, felix.ErrNotFound) {
		t.Errorf("subscribe to nothing: %v", err)
	}
	if _, err := c.Subscribe(ctx, "orders", felix.Shard(2)); !errors.Is(err, felix.ErrInvalidRequest) {
		t.Errorf("shard 2 of 2: %v", err)
	}
	var cursor *felix.CursorError
	if _, err := c.Subscribe(ctx, "orders", felix.FromOffset(5)); !errors.As(err, &cursor) || !cursor.InFuture || cursor.Available != 0 {
		t.Errorf("offset in the future: %v", err)
	}
	if err := c.Cache("nosuch").Put(ctx, "k", nil); !errors.Is(err, felix.ErrNotFound) {
		t.Errorf("put into nothing: %v", err)
	}
	if err := c.Cache("c").Put(ctx, "k", nil, felix.TTL(-time.Second)); !errors.Is(err, felix.ErrInvalidRequest) {
		t.Errorf("negative ttl: %v", err)
	}
	for _, err := range c.Cache("nosuch").Keys(ctx, "") {
		if !errors.Is(err, felix.ErrNotFound) {
			t.Errorf("keys of nothing: %v", err)
		}
	}
	narrow := connect(t, n, felix.WithToken(n.Token("stream.publish:stream:"+n.Tenant+"/default/orders", "cache.read:cache:"+n.Tenant+"/default/c/room1/*")))
	if _, err := narrow.Publish(ctx, "orders", nil); err != nil {
		t.Error(err)
	}
	if _, err := narrow.Subscribe(ctx, "orders"); !errors.Is(err, felix.ErrForbidden) {
		t.Errorf("subscribe without a grant: %v", err)
	}
	for key, want := range map[string]error{"room1/a": felix.ErrNotFound, "room2/a": felix.ErrForbidden, "room1": felix.ErrForbidden} {
		if _, err := narrow.Cache("c").Get(ctx, key); !errors.Is(err, want) {
			t.Errorf("get %s: %v, want %v", key, err, want)
		}
	}
	if err := narrow.Cache("c").Put(ctx, "room1/a", nil); !errors.Is(err, felix.ErrForbidden) {
		t.Errorf("put without a grant: %v", err)
	}
	for prefix, want := range map[string]error{"room1/": nil, "room1/x": nil, "room": felix.ErrForbidden, "": felix.ErrForbidden} {
		var got error
		for _, err := range narrow.Cache("c").Keys(ctx, prefix) {
			got = err
		}
		if want == nil && got != nil || want != nil && !errors.Is(got, want) {
			t.Errorf("keys with prefix %q: %v, want %v", prefix, got, want)
		}
	}
}

// Payloads of every shape come back byte for byte, in order, from the start of the ring.
func TestPayloadsRoundTrip(t *testing.T) {
	n := brokertest.Start(t, func(c *broker.Config) { c.Stream.RingMaxBytes = 64 << 20 })
	n.Stream("orders", 1)
	c := connect(t, n)
	ctx := deadline(t)
	big := []byte(strings.Repeat("0123456789abcdef", 3<<16)) // 3 MiB
	batches := [][][]byte{{nil}, {[]byte("one")}, {nil, []byte("x"), nil}, {big}, {[]byte("a"), big, []byte("b")}}
	var want [][]byte
	for _, b := range batches {
		if _, err := c.PublishBatch(ctx, "orders", b); err != nil {
			t.Fatal(err)
		}
		want = append(want, b...)
	}
	sub, err := c.Subscribe(ctx, "orders", felix.FromEarliest())
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range want {
		ev, err := sub.Next(ctx)
		if err != nil || string(ev.Payload) != string(w) {
			t.Fatalf("event %d: %d bytes, %v; want %d", i, len(ev.Payload), err, len(w))
		}
	}
	if err := sub.Close(); err != nil {
		t.Error(err)
	}
	if _, err := sub.Next(ctx); !errors.Is(err, felix.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

func TestSubscriptionEnds(t *testing.T) {
	n := brokertest.Start(t, nil)
	n.Stream("orders", 1)
	c := connect(t, n)
	ctx := deadline(t)
	sub, err := c.Subscribe(ctx, "orders")
	if err != nil {
		t.Fatal(err)
	}
	// A poll with a context that ends is not the end of the subscription.
	for range 100 {
		short, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := sub.Next(short); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	if _, err := c.Publish(ctx, "orders", []byte("x")); err != nil {
		t.Fatal(err)
	}
	if ev, err := sub.Next(ctx); err != nil || string(ev.Payload) != "x" {
		t.Fatalf("%q %v", ev.Payload, err)
	}
	if err := n.API.DeleteStream(ctx, n.Tenant, brokertest.Namespace, "orders"); err != nil {
		t.Fatal(err)
	}
	if _, err := sub.Next(ctx); !errors.Is(err, felix.ErrStreamDeleted) {
		t.Errorf("deleted stream: %v", err)
	}
	n.Stream("other", 1)
	lost, err := c.Subscribe(ctx, "other")
	if err != nil {
		t.Fatal(err)
	}
	n.Restart()
	var l *felix.LostError
	if _, err := lost.Next(ctx); !errors.As(err, &l) || !errors.Is(err, felix.ErrConnection) {
		t.Errorf("lost connection: %v", err)
	}
	// The client goes on by itself over a new connection.
	if _, err := c.Publish(ctx, "other", []byte("x")); err != nil {
		t.Errorf("after a restart: %v", err)
	}
	if again, err := c.Subscribe(ctx, "other", felix.FromLatest()); err != nil {
		t.Error(err)
	} else {
		again.Close()
	}
}

// A call whose context ends at any moment leaves no goroutine and no stuck stream behind: the next call works.
func TestCancellationAnywhere(t *testing.T) {
	n := brokertest.Start(t, nil)
	n.Stream("orders", 1)
	n.Cache("c", 1)
	c := connect(t, n)
	calls := map[string]func(ctx context.Context) error{
		"publish": func(ctx context.Context) error { _, err := c.Publish(ctx, "orders", []byte("x")); return err },
		"get": func(ctx context.Context) error {
			_, err := c.Cache("c").Get(ctx, "k")
			if errors.Is(err, felix.ErrNotFound) {
				return nil
			}
			return err
		},
		"put": func(ctx context.Context) error { return c.Cache("c").Put(ctx, "k2", []byte("v")) },
		"subscribe": func(ctx context.Context) error {
			s, err := c.Subscribe(ctx, "orders")
			if err == nil {
				err = s.Close()
			}
			return err
		},
	}
	for name, call := range calls {
		var wg sync.WaitGroup
		for i := range 60 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i*20)*time.Microsecond)
				defer cancel()
				if err := call(ctx); err != nil && ctx.Err() == nil {
					t.Errorf("%s: %v", name, err)
				}
			}()
		}
		wg.Wait()
		if err := call(deadline(t)); err != nil {
			t.Errorf("%s after cancelled ones: %v", name, err)
		}
	}
	c.Close()
	if err := calls["put"](deadline(t)); !errors.Is(err, felix.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	n.Quiesce()
}

func TestAsyncPublishes(t *testing.T) {
	n := brokertest.Start(t, func(c *broker.Config) { c.Ingress.IngressWait = true })
	n.Stream("orders", 1)
	c := connect(t, n, felix.WithAckOnCommit())
	ctx := deadline(t)
	p := c.Publisher("orders")
	var mu sync.Mutex
	done := 0
	for i := range 500 {
		err := p.PublishAsync(ctx, [][]byte{fmt.Appendf(nil, "%d", i)}, func(_ felix.Ack, err error) {
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				done++
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Flush(ctx); err != nil || done != 500 {
		t.Errorf("flush: %v, %d acknowledged", err, done)
	}
	sub, err := c.Subscribe(ctx, "orders", felix.FromEarliest())
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for range 500 {
		ev, err := sub.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		seen[string(ev.Payload)] = true
	}
	if len(seen) != 500 {
		t.Errorf("%d different records of 500", len(seen))
	}
}

// A token source is asked again when the broker refuses what it gave, and once only when it has nothing else.
func TestTokenSource(t *testing.T) {
	n := brokertest.Start(t, nil)
	n.Stream("orders", 1)
	good := n.Token()
	asked := 0
	source := felix.TokenFunc(func(context.Context) (string, error) {
		if asked++; asked == 1 {
			return "stale", nil
		}
		return good, nil
	})
	c := connect(t, n, felix.WithTokenSource(source))
	if _, err := c.Publish(deadline(t), "orders", nil); err != nil || asked != 2 {
		t.Errorf("%v, asked %d times", err, asked)
	}
	asked = 0
	never := felix.TokenFunc(func(context.Context) (string, error) { asked++; return "stale", nil })
	if _, err := felix.Dial(deadline(t), url(n), felix.WithTokenSource(never), felix.WithCAFile(n.CAFile())); !errors.Is(err, felix.ErrUnauthenticated) || asked != 2 {
		t.Errorf("%v, asked %d times", err, asked)
	}
}
