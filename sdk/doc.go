// Package felix is the Go client of Felix: publish to streams, subscribe to them, and use caches, over one encrypted QUIC
// connection.
//
//	c, err := felix.Dial(ctx, "felix://127.0.0.1:5000/acme/prod", felix.WithTokenFile("token"), felix.WithCAFile("ca.pem"))
//	defer c.Close()
//
//	_, err = c.Publish(ctx, "orders", []byte("hello"))
//
//	sub, err := c.Subscribe(ctx, "orders", felix.FromEarliest())
//	for ev, err := range sub.Events(ctx) { … }
//
//	sessions := c.Cache("sessions")
//	err = sessions.Put(ctx, "k", []byte("v"), felix.TTL(time.Minute))
//	v, err := sessions.Get(ctx, "k")            // errors.Is(err, felix.ErrNotFound) when there is none
//
// Everything is safe for concurrent use unless its comment says otherwise. Calls honour their context at every wait, and
// concurrent callers share packets: each request stream has one writer that combines everything that is ready into one write.
//
// Errors carry what the broker said: see Error, IsRetryable and IsOutcomeUnknown. A lost connection is replaced at the next
// call; a publish or a write that was in flight then fails with an unknown outcome, a read is asked once more.
package felix
