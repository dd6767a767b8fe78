package brokertest

import (
	"bufio"
	"context"
	"io"
	"testing"

	"github.com/felix-go/felix/dataplane/transport"
	"github.com/felix-go/felix/dataplane/wire"
)

// Raw is a client connection without a client: tests write bytes on its streams and look at what comes back.
type Raw struct {
	*transport.Conn
	n      *Node
	t      testing.TB
	dialer *transport.Dialer
}

// Raw connects to the node. edit may change how.
func (n *Node) Raw(t testing.TB, edit func(*transport.DialConfig)) *Raw {
	t.Helper()
	cfg := transport.DialConfig{CAFile: n.CAFile()}
	if edit != nil {
		edit(&cfg)
	}
	d, err := transport.NewDialer(cfg)
	if err != nil {
		t.Fatalf("brokertest: dialer: %v", err)
	}
	ctx, cancel := n.timeout()
	defer cancel()
	c, err := d.Dial(ctx, n.DialAddr())
	if err != nil {
		d.Close()
		t.Fatalf("brokertest: dial: %v", err)
	}
	r := &Raw{Conn: c, n: n, t: t, dialer: d}
	shared.Lock()
	n.raw = append(n.raw, r)
	shared.Unlock()
	t.Cleanup(r.Hangup)
	return r
}

// Hangup closes the connection and its socket. It is called at the end of the test.
func (r *Raw) Hangup() {
	r.Conn.Close(transport.CloseShutdown, "test")
	r.dialer.Close()
}

// RawStream is one bidirectional stream.
type RawStream struct {
	*transport.Stream
	in *bufio.Reader
	t  testing.TB
}

// Open opens a stream on which nothing has been said.
func (r *Raw) Open() *RawStream {
	r.t.Helper()
	ctx, cancel := r.n.timeout()
	defer cancel()
	st, err := r.OpenStream(ctx)
	if err != nil {
		r.t.Fatalf("brokertest: open stream: %v", err)
	}
	return &RawStream{Stream: st, in: bufio.NewReader(st.Receive()), t: r.t}
}

// Features is what Login offers besides error codes.
const Features = wire.FeatureErrorCodes | wire.FeatureUnsupported | wire.FeaturePublishPipeline |
	wire.FeatureStreamPublishWindow | wire.FeatureCacheConditional | wire.FeatureSubscribeQueue | wire.FeatureExtended |
	wire.FeatureStreamDeleted | wire.FeatureMultiKeys

// Auth is the login frame for a token of the node's tenant.
func (n *Node) Auth(token string) []byte {
	return wire.AppendAuth(nil, &wire.Auth{Tenant: n.Tenant, Token: token, Flags: 0x1FFF, Features: Features})
}

// Login opens a stream and logs in.
func (r *Raw) Login(token string) *RawStream {
	r.t.Helper()
	s := r.Open()
	s.Send(r.n.Auth(token))
	if f, m := s.Message(); f != 0 || m.Type != wire.MsgAuthOK {
		r.t.Fatalf("brokertest: login answered %v %s %s", f, m.RawType, m.Text)
	}
	return s
}

// Send writes bytes.
func (s *RawStream) Send(b []byte) {
	s.t.Helper()
	if _, err := s.Stream.Send().Write(b); err != nil {
		s.t.Fatalf("brokertest: write: %v", err)
	}
}

// Finish sends FIN.
func (s *RawStream) Finish() { s.Stream.Send().Close() }

// Frame reads one frame.
func (s *RawStream) Frame() (wire.Flags, []byte, error) { return readFrame(s.in) }

// Message reads one frame, which must be JSON.
func (s *RawStream) Message() (wire.Flags, *wire.Message) {
	s.t.Helper()
	f, payload, err := s.Frame()
	if err != nil {
		s.t.Fatalf("brokertest: read: %v", err)
	}
	m := new(wire.Message)
	if err := wire.ParseMessage(payload, m); f == 0 && err != nil {
		s.t.Fatalf("brokertest: %v in %q", err, payload)
	}
	return f, m
}

// Ack reads one frame, which must be a binary publish acknowledgement.
func (s *RawStream) Ack() wire.PublishAck {
	s.t.Helper()
	f, payload, err := s.Frame()
	if err != nil {
		s.t.Fatalf("brokertest: read: %v", err)
	}
	var a wire.PublishAck
	if err := wire.ParsePublishAck(f, payload, &a); err != nil {
		s.t.Fatalf("brokertest: %v in frame %#x %q", err, f, payload)
	}
	return a
}

// Events accepts the next event stream and reads its hello.
func (r *Raw) Events() *EventReader {
	r.t.Helper()
	ctx, cancel := r.n.timeout()
	defer cancel()
	st, err := r.AcceptUniStream(ctx)
	if err != nil {
		r.t.Fatalf("brokertest: accept event stream: %v", err)
	}
	e := &EventReader{Recv: st, in: bufio.NewReaderSize(st, 64<<10)}
	f, payload, err := e.Frame()
	var m wire.Message
	if err != nil || f != 0 || wire.ParseMessage(payload, &m) != nil || m.Type != wire.MsgEventStreamHello {
		r.t.Fatalf("brokertest: no hello on the event stream: %v %q", err, payload)
	}
	e.ID = m.SubscriptionID
	return e
}

// EventReader is an event stream after its hello.
type EventReader struct {
	ID   wire.SubscriptionID
	Recv *transport.ReceiveStream
	in   *bufio.Reader
}

// Frame reads one frame.
func (e *EventReader) Frame() (wire.Flags, []byte, error) { return readFrame(e.in) }

// Subscribe subscribes to a stream of the node's tenant and returns its event stream.
func (r *Raw) Subscribe(token, stream string, start wire.StartPosition) *EventReader {
	r.t.Helper()
	s := r.Login(token)
	s.Send(wire.AppendSubscribe(nil, &wire.Subscribe{Tenant: r.n.Tenant, Namespace: Namespace, Stream: stream, Start: start}))
	s.Finish()
	if f, m := s.Message(); f != 0 || m.Type != wire.MsgSubscribed {
		r.t.Fatalf("brokertest: subscribe answered %s: %s", m.RawType, m.Text)
	}
	return r.Events()
}

func readFrame(in io.Reader) (wire.Flags, []byte, error) {
	var head [wire.HeaderLen]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return 0, nil, err
	}
	h, err := wire.ParseHeader(head[:])
	if err != nil {
		return 0, nil, err
	}
	payload := make([]byte, h.Length)
	if _, err := io.ReadFull(in, payload); err != nil {
		return 0, nil, err
	}
	return h.Flags, payload, nil
}

// Timeout is a context for one step of a test.
func (n *Node) Timeout() (context.Context, context.CancelFunc) { return n.timeout() }
