package transport

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

// streams returns both ends of a stream that the client opened, on which it sent one byte that was read.
func streams(t *testing.T, client, server *Conn) (opened, accepted *Stream) {
	t.Helper()
	opened, err := client.OpenStream(within(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := opened.Write([]byte{1}); err != nil {
		t.Fatal(err)
	}
	accepted, err = server.AcceptStream(within(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(accepted, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	return opened, accepted
}

func pair(t *testing.T) (client, server *Conn) {
	t.Helper()
	n := newNode(t)
	return connect(t, n.dialer(t, nil), n.listen(t, nil))
}

func TestStreamReset(t *testing.T) {
	client, server := pair(t)
	t.Run("reset", func(t *testing.T) {
		opened, accepted := streams(t, client, server)
		opened.Reset(StreamLimit)
		_, err := accepted.Read(make([]byte, 1))
		if code, ok := StreamReset(err); !ok || code != StreamLimit {
			t.Fatalf("the reader got %v", err)
		}
		if _, ok := Closed(err); ok {
			t.Fatal("a reset counts as the end of the connection")
		}
	})
	t.Run("stop reading", func(t *testing.T) {
		opened, accepted := streams(t, client, server)
		accepted.StopReading(StreamAuth)
		<-opened.Context().Done()
		_, err := opened.Write([]byte{2})
		if code, ok := StreamReset(err); !ok || code != StreamAuth {
			t.Fatalf("the writer got %v", err)
		}
	})
	t.Run("unidirectional", func(t *testing.T) {
		out, err := server.OpenUniStream()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := out.Write([]byte("event")); err != nil {
			t.Fatal(err)
		}
		in, err := client.AcceptUniStream(within(t))
		if err != nil {
			t.Fatal(err)
		}
		peeked, got := make([]byte, 3), make([]byte, 5)
		if n, err := in.Peek(peeked); err != nil || string(peeked[:n]) != "eve" {
			t.Fatalf("peeked %q, %v", peeked[:n], err)
		}
		if _, err := io.ReadFull(in, got); err != nil || string(got) != "event" {
			t.Fatalf("read %q, %v", got, err)
		}
		in.StopReading(StreamCancelled)
		<-out.Context().Done()
		if code, ok := StreamReset(causeOf(out)); !ok || code != StreamCancelled {
			t.Fatalf("the context ended with %v", causeOf(out))
		}
		out.Reset(StreamShardStopped)
	})
}

// causeOf returns what a write on an ended stream returns.
func causeOf(s *SendStream) error {
	_, err := s.Write([]byte{0})
	return err
}

func TestOrderlyEnd(t *testing.T) {
	client, server := pair(t)
	out, err := server.OpenUniStreamSync(within(t))
	if err != nil {
		t.Fatal(err)
	}
	write(t, out, []byte("the end"))
	in, err := client.AcceptUniStream(within(t))
	if err != nil {
		t.Fatal(err)
	}
	if got := read(t, in); !bytes.Equal(got, []byte("the end")) {
		t.Fatalf("read %q", got)
	}
	if _, err := in.Peek(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Fatalf("peeked beyond the end: %v", err)
	}
}

func TestDeadlines(t *testing.T) {
	client, server := pair(t)
	opened, accepted := streams(t, client, server)
	accepted.SetReadDeadline(time.Now().Add(time.Millisecond))
	if _, err := accepted.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("the read ended with %v", err)
	}
	opened.SetWriteDeadline(time.Now().Add(time.Millisecond))
	if _, err := opened.Write(make([]byte, 1<<20)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("the write ended with %v", err)
	}
}

func TestStreamLimit(t *testing.T) {
	n := newNode(t)
	d := n.dialer(t, func(c *DialConfig) { c.MaxStreams = 2 })
	_, server := connect(t, d, n.listen(t, nil))
	for range 2 {
		if _, err := server.OpenUniStream(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := server.OpenUniStream(); !errors.Is(err, ErrStreamLimit) {
		t.Fatalf("got %v", err)
	}
}

// TestConnClose carries the code and the reason to every call on both ends.
func TestConnClose(t *testing.T) {
	client, server := pair(t)
	opened, accepted := streams(t, client, server)
	server.Close(CloseAuthTimeout, "authentication timeout"+strings.Repeat(".", 10_000))
	info := closedWith(t, client)
	if info.Kind != CloseApplication || info.Code != CloseAuthTimeout || !info.Remote ||
		!strings.HasPrefix(info.Reason, "authentication timeout.") || len(info.Reason) != maxCloseReason {
		t.Fatalf("the client saw %+v", info)
	}
	_, writeErr := opened.Write([]byte{1})
	_, openErr := client.OpenStream(within(t))
	_, acceptErr := client.AcceptUniStream(within(t))
	_, uniErr := client.OpenUniStream()
	for _, err := range []error{writeErr, openErr, acceptErr, uniErr} {
		if got, ok := Closed(err); !ok || got != info {
			t.Errorf("a call returned %v", err)
		}
	}
	_, readErr := accepted.Read(make([]byte, 1))
	if got, ok := Closed(readErr); !ok || got.Remote || got.Code != CloseAuthTimeout {
		t.Errorf("a read of the closing side returned %v", readErr)
	}
	server.Close(CloseShutdown, "again")
	if client.Cause() == nil || client.ID() == server.ID() {
		t.Error("the connection forgets why it ended, or who it is")
	}
}

func TestClosedKnowsOnlyEnds(t *testing.T) {
	for _, err := range []error{nil, io.EOF, os.ErrDeadlineExceeded, ErrStreamLimit} {
		if _, ok := Closed(err); ok {
			t.Errorf("%v counts as the end of a connection", err)
		}
		if _, ok := StreamReset(err); ok {
			t.Errorf("%v counts as a reset", err)
		}
	}
	for kind := CloseApplication; kind <= CloseTransport; kind++ {
		if kind.String() == "" {
			t.Errorf("kind %d has no name", kind)
		}
	}
}

func TestDialerClose(t *testing.T) {
	n := newNode(t)
	l, d := n.listen(t, nil), n.dialer(t, nil)
	_, server := connect(t, d, l)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if info := closedWith(t, server); info.Kind != CloseApplication || !info.Remote {
		t.Fatalf("the broker saw %+v", info)
	}
	if _, err := d.Dial(within(t), l.Addr().String()); !errors.Is(err, ErrDialerClosed) {
		t.Fatalf("a closed dialer dials: %v", err)
	}
}
