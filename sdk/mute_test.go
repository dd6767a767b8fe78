package felix_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"testing"

	"github.com/felix-go/felix/dataplane/transport"
	"github.com/felix-go/felix/dataplane/wire"
	felix "github.com/felix-go/felix/sdk"
)

// muteBroker accepts logins and then says only what a test says. Its windows stay at their size before authentication.
type muteBroker struct {
	t       *testing.T
	conn    *transport.Conn
	publish *transport.Stream // opened by Dial
	client  *felix.Client
}

func startMute(t *testing.T) *muteBroker {
	t.Helper()
	certs, err := transport.SelfSigned(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l, err := transport.Listen(transport.ListenConfig{Addr: "127.0.0.1:0", Certificates: certs, ResetKey: [32]byte{1}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	b := &muteBroker{t: t}
	accepted := make(chan error, 1)
	go func() {
		var err error
		if b.conn, err = l.Accept(context.Background()); err == nil {
			b.publish, err = b.login()
		}
		accepted <- err
	}()
	b.client, err = felix.Dial(deadline(t), "felix://"+net.JoinHostPort("127.0.0.1", strconv.Itoa(l.Addr().Port))+"/t/n", felix.WithToken("any"),
		felix.WithCAFile(certs.CAFile()), felix.WithStreams(1, 1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.client.Close() })
	if err := <-accepted; err != nil {
		t.Fatal(err)
	}
	return b
}

// login accepts a stream and lets it in.
func (b *muteBroker) login() (*transport.Stream, error) {
	st, err := b.conn.AcceptStream(deadline(b.t))
	if err != nil {
		return nil, err
	}
	if err := skipFrame(st); err != nil {
		return nil, err
	}
	_, err = st.Send().Write(wire.AppendOK(nil))
	return st, err
}

func skipFrame(st *transport.Stream) error {
	head := make([]byte, wire.HeaderLen)
	if _, err := io.ReadFull(st.Receive(), head); err != nil {
		return err
	}
	h, err := wire.ParseHeader(head)
	if err == nil {
		_, err = io.CopyN(io.Discard, st.Receive(), int64(h.Length))
	}
	return err
}

// An unacknowledged publish that is being written when the connection goes returns, with an unknown outcome: no answer would
// ever end it.
func TestUnacknowledgedPublishEndsWithItsConnection(t *testing.T) {
	b := startMute(t)
	ctx := deadline(t)
	result := make(chan error, 1)
	go func() {
		_, err := b.client.Publish(ctx, "s", make([]byte, 1<<20), felix.WithAck(felix.AckNone)) // more than the window
		result <- err
	}()
	if _, err := b.publish.Receive().Peek(make([]byte, 1)); err != nil { // the write has begun
		t.Fatal(err)
	}
	b.conn.Close(transport.CloseShutdown, "gone")
	if err := <-result; !felix.IsOutcomeUnknown(err) || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("publish: %v, want an unknown outcome because the connection is gone", err)
	}
}

// A subscription that the broker registers after its caller gave up is refused when its event stream arrives: nobody would
// ever read it, and under the policy block it would hold up every publisher.
func TestAbandonedSubscriptionIsRefused(t *testing.T) {
	b := startMute(t)
	ctx, cancel := context.WithCancel(deadline(t))
	result := make(chan error, 1)
	go func() {
		_, err := b.client.Subscribe(ctx, "s")
		result <- err
	}()
	st, err := b.login()
	if err == nil {
		err = skipFrame(st) // the request is here
	}
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Fatalf("subscribe: %v, want context.Canceled", err)
	}
	if _, err := st.Send().Write(wire.AppendSubscribed(nil, 7, 0)); err != nil {
		t.Fatal(err)
	}
	events, err := b.conn.OpenUniStreamSync(deadline(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := events.Write(wire.AppendEventStreamHello(nil, 7)); err != nil {
		t.Fatal(err)
	}
	select {
	case <-events.Context().Done(): // the client stopped reading it
	case <-deadline(t).Done():
		t.Error("the event stream of an abandoned subscription is still open")
	}
}
