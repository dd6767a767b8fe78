package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
)

// equalPublish compares a parsed batch with the frame it came from.
func equalPublish(tb testing.TB, p *Publish, f *PublishFrame) {
	tb.Helper()
	flags := f.Flags()
	want := Publish{
		Acked: flags.Has(FlagPublishAcked), Idempotent: f.Idempotent, Keyed: f.Keyed,
		Tenant: []byte(f.Tenant), Namespace: []byte(f.Namespace), Stream: []byte(f.Stream),
		Count: uint32(len(f.Payloads)),
	}
	if want.Acked {
		want.RequestID, want.Ack = f.RequestID, f.Ack
	}
	if f.Idempotent {
		want.Ack, want.ProducerID, want.Sequence = AckPerBatch, f.ProducerID, f.Sequence
	}
	if p.Acked != want.Acked || p.Idempotent != want.Idempotent || p.Keyed != want.Keyed ||
		p.RequestID != want.RequestID || p.Ack != want.Ack || p.ProducerID != want.ProducerID ||
		p.Sequence != want.Sequence || p.Count != want.Count {
		tb.Fatalf("parsed %+v, want %+v", p, want)
	}
	if !bytes.Equal(p.Tenant, want.Tenant) || !bytes.Equal(p.Namespace, want.Namespace) ||
		!bytes.Equal(p.Stream, want.Stream) || (f.Keyed && !bytes.Equal(p.Key, f.Key)) {
		tb.Fatalf("names %q/%q/%q key %q differ from %+v", p.Tenant, p.Namespace, p.Stream, p.Key, f)
	}
	sum, rest := 0, p.Body[4:]
	for i, rec := range f.Payloads {
		got, after, ok := NextRecord(rest)
		if !ok || !bytes.Equal(got, rec) {
			tb.Fatalf("record %d is %q, %v; want %q", i, got, ok, rec)
		}
		rest = after
		sum += len(rec)
	}
	if len(rest) != 0 || binary.BigEndian.Uint32(p.Body) != want.Count || p.PayloadBytes != sum {
		tb.Fatalf("body has %d bytes left, count %d, sum %d; want 0, %d, %d", len(rest),
			binary.BigEndian.Uint32(p.Body), p.PayloadBytes, want.Count, sum)
	}
}

// bodyWith builds the common body around names and a raw tail, for malformed frames.
func bodyWith(tenant, namespace, stream string, tail ...byte) []byte {
	b := appendText(nil, tenant)
	b = appendText(b, namespace)
	b = appendText(b, stream)
	return append(b, tail...)
}

func TestParsePublishMalformed(t *testing.T) {
	const acked, keyed = FlagPublishBatch | FlagPublishAcked, FlagPublishBatch | FlagPublishKeyed
	idempotent := acked | FlagPublishIdempotent
	good := bodyWith("t", "n", "s", 0, 0, 0, 0)
	prefix := func(mode byte, body []byte) []byte {
		return append([]byte{0, 0, 0, 0, 0, 0, 0, 9, mode},
			body...)
	}
	cases := []struct {
		name    string
		flags   Flags
		payload []byte
		err     error
	}{
		{"empty", FlagPublishBatch, nil, ErrTruncated},
		{"not a publish", FlagEventBatchShared, good, ErrFlags},
		{"json", 0, good, ErrFlags},
		{"idempotent without ack", FlagPublishBatch | FlagPublishIdempotent, good, ErrFlags},
		{"extra bit", FlagPublishBatch | FlagExtension, good, ErrFlags},
		{"acked without batch", FlagPublishAcked, good, ErrFlags},
		{"count of one, no record", FlagPublishBatch, bodyWith("t", "n", "s", 0, 0, 0, 1), ErrCount},
		{"count larger than a quarter", FlagPublishBatch,
			bodyWith("t", "n", "s", 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0), ErrCount},
		{"largest count", FlagPublishBatch, bodyWith("t", "n", "s", 255, 255, 255, 255, 0, 0, 0, 0),
			ErrCount},
		{"lying count within a quarter", FlagPublishBatch,
			bodyWith("t", "n", "s", 0, 0, 0, 2, 0, 0, 0, 4, 1, 2, 3, 4), ErrTruncated},
		{"record longer than payload", FlagPublishBatch,
			bodyWith("t", "n", "s", 0, 0, 0, 1, 0, 0, 0, 5, 1, 2, 3, 4), ErrTruncated},
		{"largest record length", FlagPublishBatch,
			bodyWith("t", "n", "s", 0, 0, 0, 1, 255, 255, 255, 255, 1, 2, 3, 4), ErrTruncated},
		{"tenant not UTF-8", FlagPublishBatch, bodyWith("\xff", "n", "s", 0, 0, 0, 0), ErrNotUTF8},
		{"namespace not UTF-8", FlagPublishBatch, bodyWith("t", "\xc0\xaf", "s", 0, 0, 0, 0), ErrNotUTF8},
		{"stream a surrogate", FlagPublishBatch, bodyWith("t", "n", "\xed\xa0\x80", 0, 0, 0, 0), ErrNotUTF8},
		{"key not UTF-8", keyed, append([]byte{0, 2, 0, 0xff}, good...), ErrNotUTF8},
		{"key longer than payload", keyed, []byte{0, 9, 'a'}, ErrTruncated},
		{"ack mode 0", acked, prefix(0, good), ErrAckMode},
		{"ack mode 3", acked, prefix(3, good), ErrAckMode},
		{"idempotent per message", idempotent, prefix(1, append(make([]byte, 16), good...)), ErrAckMode},
		{"idempotent cut in sequence", idempotent, prefix(2, make([]byte, 12)), ErrTruncated},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var p Publish
			if err := ParsePublish(c.flags, c.payload, &p); !errors.Is(err, c.err) || !IsMalformed(err) {
				t.Fatalf("error %v, want %v", err, c.err)
			}
			id, ok := PublishRequestID(c.flags, c.payload)
			if c.err != ErrFlags && (ok != p.Acked || id != p.RequestID) {
				t.Fatalf("request id %d, %v; parser kept %d, %v", id, ok, p.RequestID, p.Acked)
			}
			if ok && c.flags != idempotent && id != 9 {
				t.Fatalf("request id %d, want 9", id)
			}
		})
	}
}

func TestParsePublishTruncatedAtEveryByte(t *testing.T) {
	for _, c := range goldenPublish {
		flags, payload := payloadOf(t, unhex(t, c.hex))
		for n := range payload {
			var p Publish
			if err := ParsePublish(flags, payload[:n:n], &p); err == nil {
				t.Fatalf("%s: the first %d of %d bytes parsed", c.name, n, len(payload))
			}
			if wantID := flags.Has(FlagPublishAcked) && n >= 8; p.Acked != wantID ||
				(wantID && p.RequestID != 7) {
				t.Fatalf("%s: after %d bytes request id %d, %v", c.name, n, p.RequestID, p.Acked)
			}
		}
	}
}

func TestParsePublishAcceptsOddities(t *testing.T) {
	frame := PublishFrame{Keyed: true, Payloads: [][]byte{{}, []byte("x"), {}}}
	flags, payload := payloadOf(t, AppendPublish(nil, &frame))
	var p Publish
	// Empty names and keys, empty records, and bytes behind the last record.
	withTail := append(bytes.Clone(payload), "trailing"...)
	if err := ParsePublish(flags, withTail, &p); err != nil {
		t.Fatal(err)
	}
	equalPublish(t, &p, &frame)
	if cap(p.Body) != len(p.Body) {
		t.Fatalf("body can grow into %d bytes that are not its own", cap(p.Body)-len(p.Body))
	}
	// A batch of no records is the receiver's to refuse.
	empty := PublishFrame{Tenant: "t", Ack: AckPerMessage, RequestID: 1<<64 - 1}
	flags, payload = payloadOf(t, AppendPublish(nil, &empty))
	if err := ParsePublish(flags, payload, &p); err != nil {
		t.Fatal(err)
	}
	equalPublish(t, &p, &empty)
}

func TestPublishBodyIsASharedEventBatch(t *testing.T) {
	frame := goldenFrame(PublishFrame{Ack: AckPerBatch, RequestID: 7})
	frame.Payloads = [][]byte{[]byte("a"), []byte("bc")}
	raw := AppendPublish(nil, &frame)
	flags, payload := payloadOf(t, raw)
	var p Publish
	if err := ParsePublish(flags, payload, &p); err != nil {
		t.Fatal(err)
	}
	// The header goes over the bytes in front of the body: request id and names have been read by then.
	at := len(raw) - len(p.Body) - HeaderLen
	PutSharedEventHeader(raw[at:], len(p.Body))
	equalFrame(t, raw[at:], unhex(t, goldenEvents[0].hex))
}

func TestPublishFrameValidate(t *testing.T) {
	long := strings.Repeat("x", MaxNameBytes)
	cases := []struct {
		name  string
		frame PublishFrame
		err   error
	}{
		{"longest names", PublishFrame{Tenant: long, Namespace: long, Stream: long, Key: []byte(long),
			Keyed: true}, nil},
		{"tenant", PublishFrame{Tenant: long + "x"}, ErrNameTooLong},
		{"namespace", PublishFrame{Namespace: long + "x"}, ErrNameTooLong},
		{"stream", PublishFrame{Stream: long + "x"}, ErrNameTooLong},
		{"key", PublishFrame{Keyed: true, Key: []byte(long + "x")}, ErrNameTooLong},
		{"largest payload", PublishFrame{Payloads: [][]byte{make([]byte, MaxFramePayload-14)}}, nil},
		{"too large", PublishFrame{Payloads: [][]byte{make([]byte, MaxFramePayload-13)}}, ErrFrameTooLarge},
	}
	for _, c := range cases {
		if err := c.frame.Validate(); !errors.Is(err, c.err) || (err != nil && IsMalformed(err)) {
			t.Errorf("%s: %v, want %v", c.name, err, c.err)
		}
	}
}

func TestPublishRequestIDOfUnreadBody(t *testing.T) {
	payload := []byte{0, 0, 0, 0, 0, 0, 1, 0}
	if id, ok := PublishRequestID(FlagPublishBatch|FlagPublishAcked, payload); !ok || id != 256 {
		t.Fatalf("id %d, %v", id, ok)
	}
	if _, ok := PublishRequestID(FlagPublishBatch, payload); ok {
		t.Fatal("an unacked batch has no request id")
	}
	if _, ok := PublishRequestID(FlagPublishBatch|FlagPublishAcked, payload[:7]); ok {
		t.Fatal("seven bytes hold no request id")
	}
}
