package wire

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// Round trips: what an encoder writes, the parser reads back, for any input. Every encoder appends to a
// prefix that must survive, and its frame is cut to its exact length so that reading past it would panic.

// onlyFrame checks the prefix and the header of an appended frame and returns flags and payload.
func onlyFrame(t *rapid.T, appendTo func(dst []byte) []byte) (Flags, []byte) {
	prefix := []byte("prefix")
	b := appendTo(bytes.Clone(prefix))
	if !bytes.HasPrefix(b, prefix) {
		t.Fatalf("prefix damaged: %q", b)
	}
	frame := b[len(prefix):len(b):len(b)]
	h, err := ParseHeader(frame)
	if err != nil || int(h.Length) != len(frame)-HeaderLen {
		t.Fatalf("header %+v, %v of a frame of %d bytes", h, err, len(frame))
	}
	return h.Flags, frame[HeaderLen:]
}

// readBack parses the JSON frame an encoder makes and compares the payload with encoding/json's opinion of
// it.
func readBack(t *rapid.T, m *Message, want MessageType, appendTo func(dst []byte) []byte) {
	flags, payload := onlyFrame(t, appendTo)
	if flags != 0 {
		t.Fatalf("flags %#x on a JSON frame", flags)
	}
	if !json.Valid(payload) {
		t.Fatalf("invalid JSON %q", payload)
	}
	if err := ParseMessage(payload, m); err != nil || m.Type != want {
		t.Fatalf("ParseMessage(%q): %v, field %s, type %s", payload, err, m.BadField, m.Type)
	}
}

// genName draws any UTF-8 text, with the characters that need care in JSON more often than by chance.
func genName() *rapid.Generator[string] {
	return rapid.OneOf(rapid.String(),
		rapid.StringOf(rapid.SampledFrom([]rune("\"\\/\x00\x1f\x7f\b\f\n\r\té€😀\u2028\u2029\uFFFDaz"))))
}

func genBytes() *rapid.Generator[[]byte] { return rapid.SliceOfN(rapid.Byte(), 0, 40) }

func genRefusal() *rapid.Generator[Refusal] {
	return rapid.Custom(func(t *rapid.T) Refusal {
		return Refusal{
			Code:             Code(rapid.IntRange(1, int(CodeStaleWidth)).Draw(t, "code")),
			Class:            Class(rapid.IntRange(1, 5).Draw(t, "class")),
			Message:          genName().Draw(t, "message"),
			Reason:           genName().Draw(t, "reason"),
			RetryAfterMillis: rapid.Uint64().Draw(t, "wait"),
		}
	})
}

func genScope(t *rapid.T) (tenant, namespace, name string) {
	return genName().Draw(t, "tenant"), genName().Draw(t, "namespace"), genName().Draw(t, "name")
}

func TestRoundTripPublish(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		frame := PublishFrame{
			Ack:        AckMode(rapid.IntRange(0, 2).Draw(t, "ack")),
			RequestID:  rapid.Uint64().Draw(t, "id"),
			Idempotent: rapid.Bool().Draw(t, "idempotent"),
			ProducerID: rapid.Uint64().Draw(t, "producer"),
			Sequence:   rapid.Uint64().Draw(t, "sequence"),
			Keyed:      rapid.Bool().Draw(t, "keyed"),
			Payloads:   rapid.SliceOfN(genBytes(), 0, 9).Draw(t, "payloads"),
		}
		frame.Tenant, frame.Namespace, frame.Stream = genScope(t)
		if frame.Keyed {
			frame.Key = []byte(genName().Draw(t, "key"))
		}
		if err := frame.Validate(); err != nil {
			t.Fatalf("Validate: %v", err)
		}
		flags, payload := onlyFrame(t, func(dst []byte) []byte { return AppendPublish(dst, &frame) })
		if flags != frame.Flags() || !flags.ValidFromClient() || len(payload)+HeaderLen != frame.Size() {
			t.Fatalf("flags %#x, %d bytes; want %#x, %d", flags, len(payload)+HeaderLen, frame.Flags(),
				frame.Size())
		}
		var p Publish
		if err := ParsePublish(flags, payload, &p); err != nil {
			t.Fatalf("ParsePublish(%x): %v", payload, err)
		}
		equalPublishRapid(t, &p, &frame)
		// The head alone, in front of records that are encoded already, is the same frame.
		_, again := onlyFrame(t, func(dst []byte) []byte {
			return append(AppendPublishHead(dst, &frame, len(payload), len(frame.Payloads)), p.Body[4:]...)
		})
		if !bytes.Equal(again, payload) {
			t.Fatalf("head and records are %x, want %x", again, payload)
		}
	})
}

// equalPublishRapid is equalPublish inside a property.
func equalPublishRapid(t *rapid.T, p *Publish, f *PublishFrame) {
	flags := f.Flags()
	if p.Acked != flags.Has(FlagPublishAcked) || p.Acked && p.RequestID != f.RequestID ||
		p.Idempotent != f.Idempotent ||
		p.Idempotent && (p.ProducerID != f.ProducerID || p.Sequence != f.Sequence || p.Ack != AckPerBatch) ||
		!p.Idempotent && p.Ack != f.Ack || p.Keyed != f.Keyed || !bytes.Equal(p.Key, f.Key) ||
		string(p.Tenant) != f.Tenant || string(p.Namespace) != f.Namespace || string(p.Stream) != f.Stream ||
		int(p.Count) != len(f.Payloads) {
		t.Fatalf("parsed %+v, want %+v", p, f)
	}
	rest := p.Body[4:]
	for i, rec := range f.Payloads {
		got, after, ok := NextRecord(rest)
		if !ok || !bytes.Equal(got, rec) {
			t.Fatalf("record %d is %x, want %x", i, got, rec)
		}
		rest = after
	}
	if len(rest) != 0 {
		t.Fatalf("%d bytes behind the last record", len(rest))
	}
}

func TestRoundTripPublishAck(t *testing.T) {
	var got PublishAck // Reused, as a client does.
	rapid.Check(t, func(t *rapid.T) {
		ack := PublishAck{RequestID: rapid.Uint64().Draw(t, "id"), OK: rapid.Bool().Draw(t, "ok")}
		if !ack.OK {
			ack.Refusal = genRefusal().Draw(t, "refusal")
		} else if ack.HasOffset = rapid.Bool().Draw(t, "has offset"); ack.HasOffset {
			ack.Offset = Offset(rapid.Uint64().Draw(t, "offset"))
		}
		if ack.HasOwner = rapid.Bool().Draw(t, "has owner"); ack.HasOwner {
			ack.OwnerNode, ack.OwnerAddr = genName().Draw(t, "node"), genName().Draw(t, "addr")
			ack.OwnerGeneration = Generation(rapid.Uint64().Draw(t, "generation"))
		}
		flags, payload := onlyFrame(t, func(dst []byte) []byte {
			return AppendPublishAck(dst, allAckFlags,
				&ack)
		})
		if err := ParsePublishAck(flags, payload, &got); err != nil || got != ack {
			t.Fatalf("parsed %+v, %v; want %+v", got, err, ack)
		}
	})
}

func TestRoundTripEventBatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		batch := EventBatch{Timestamps: rapid.Bool().Draw(t, "timestamps")}
		if batch.HasSubscription = rapid.Bool().Draw(t, "legacy"); batch.HasSubscription {
			batch.Subscription = SubscriptionID(rapid.Uint64().Draw(t, "subscription"))
		}
		if batch.HasOffsets = rapid.Bool().Draw(t, "offsets"); batch.HasOffsets {
			batch.Base = Offset(rapid.Uint64().Draw(t, "base"))
			if batch.HasSkipped = rapid.Bool().Draw(t, "skips"); batch.HasSkipped {
				batch.Skipped = rapid.Uint64().Draw(t, "skipped")
			}
		}
		if batch.HasPublisher = rapid.Bool().Draw(t, "has publisher"); batch.HasPublisher {
			batch.Publisher = []byte(rapid.StringN(0, 40, 255).Draw(t, "publisher"))
		}
		for _, rec := range rapid.SliceOfN(genBytes(), 0, 9).Draw(t, "events") {
			batch.Count++
			if batch.Timestamps {
				batch.Records = AppendTimedRecord(batch.Records, rapid.Uint64().Draw(t, "micros"), rec)
			} else {
				batch.Records = AppendRecord(batch.Records, rec)
			}
		}
		flags, payload := onlyFrame(t, func(dst []byte) []byte { return AppendEventBatch(dst, &batch) })
		var e EventBatch
		if err := ParseEventBatch(flags, payload, &e); err != nil {
			t.Fatalf("ParseEventBatch(%#x, %x): %v", flags, payload, err)
		}
		if e.Flags() != flags || !bytes.Equal(AppendEventBatch(nil, &e), AppendEventBatch(nil, &batch)) {
			t.Fatalf("parsed %+v, want %+v", e, batch)
		}
	})
}

func TestRoundTripListKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tenant, namespace, cache := genScope(t)
		q := ListKeys{RequestID: rapid.Uint64().Draw(t, "id"), Tenant: []byte(tenant),
			Namespace: []byte(namespace), Cache: []byte(cache),
			Prefix: []byte(genName().Draw(t, "prefix")), Cursor: []byte(genName().Draw(t, "cursor")),
			Limit: rapid.Uint32().Draw(t, "limit")}
		flags, payload := onlyFrame(t, func(dst []byte) []byte { return AppendListKeys(dst, &q) })
		var got ListKeys
		if err := ParseListKeys(payload, &got); err != nil || flags != FlagExtension ||
			got.RequestID != q.RequestID ||
			got.Limit != q.Limit || string(got.Tenant) != tenant || string(got.Namespace) != namespace ||
			string(got.Cache) != cache || !bytes.Equal(got.Prefix, q.Prefix) ||
			!bytes.Equal(got.Cursor, q.Cursor) {
			t.Fatalf("parsed %+v, %v; want %+v", got, err, q)
		}

		var a ListKeysAnswer
		more := rapid.Bool().Draw(t, "more")
		names := rapid.SliceOfN(genName(), 0, 9).Draw(t, "keys")
		keys := make([][]byte, len(names))
		for i, name := range names {
			keys[i] = []byte(name)
		}
		_, payload = onlyFrame(t, func(dst []byte) []byte {
			return AppendListKeysAnswer(dst, q.RequestID,
				more, keys)
		})
		if err := ParseListKeysAnswer(payload, &a); err != nil || !a.OK || a.More != more ||
			int(a.Count) != len(keys) {
			t.Fatalf("parsed %+v, %v", a, err)
		}
		rest := a.Keys
		for _, key := range keys {
			var got []byte
			if got, rest, _ = NextRecord(rest); !bytes.Equal(got, key) {
				t.Fatalf("key %q, want %q", got, key)
			}
		}

		r := genRefusal().Draw(t, "refusal")
		_, payload = onlyFrame(t, func(dst []byte) []byte {
			return AppendListKeysRefused(dst, q.RequestID,
				&r)
		})
		if err := ParseListKeysAnswer(payload, &a); err != nil || a.OK || a.Code != r.Code ||
			a.Class != r.Class ||
			string(a.Message) != r.Message || a.RequestID != q.RequestID {
			t.Fatalf("parsed %+v, %v; want %+v", a, err, r)
		}
	})
}

func TestQuotedTextIsWhatEncodingJSONReads(t *testing.T) {
	check := func(t fataler, s string) {
		var got string
		quoted := appendQuoted(nil, s)
		if err := json.Unmarshal(quoted, &got); err != nil {
			t.Fatalf("%q quoted as %q: %v", s, quoted, err)
		}
		if want := string([]rune(s)); got != want { // Invalid bytes become U+FFFD one by one.
			t.Fatalf("%q quoted as %q, read as %q", s, quoted, got)
		}
		if !utf8.Valid(quoted) || bytes.ContainsAny(quoted, "\x00\n\u2028\u2029") {
			t.Fatalf("%q quoted as %q", s, quoted)
		}
		if !bytes.Equal(quoted, appendQuoted(nil, []byte(s))) {
			t.Fatalf("%q is quoted differently as bytes", s)
		}
	}
	for _, s := range []string{"", "\xff", "a\xc0\xafb", "\xed\xa0\x80", "\xf0\x9f\x98", "é\xe2\x80",
		"\u2028", "\x00\x1f\x7f", `"\/`} {
		check(t, s)
	}
	rapid.Check(t, func(t *rapid.T) { check(t, genName().Draw(t, "text")) })
	rapid.Check(t, func(t *rapid.T) { check(t, string(genBytes().Draw(t, "bytes"))) })
}
