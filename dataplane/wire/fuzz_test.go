package wire

import (
	"bytes"
	"testing"
	"unicode/utf8"
)

// One target per parser, seeded with the golden frames. A parser may refuse anything, but what it accepts has
// to make sense, borrow only from its input, and write back to a frame that means the same.

// seedFrames adds flags and payload of frames, and each frame cut short.
func seedFrames(f *testing.F, frames ...string) {
	for _, s := range frames {
		frame := unhex(f, s)
		flags, payload := payloadOf(f, frame)
		f.Add(uint16(flags), payload)
		f.Add(uint16(flags), payload[:len(payload)/2])
	}
}

func FuzzParseHeader(f *testing.F) {
	f.Add(AppendOK(nil))
	f.Add([]byte("FLX1"))
	for _, c := range goldenPublish {
		f.Add(unhex(f, c.hex))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := ParseHeader(b)
		if err == nil && !bytes.Equal(AppendHeader(nil, h.Flags, int(h.Length)), b[:HeaderLen]) {
			t.Fatalf("%x parsed as %+v", b, h)
		}
		if err != nil && h != (Header{}) {
			t.Fatalf("%v with %+v", err, h)
		}
	})
}

func FuzzParsePublish(f *testing.F) {
	for _, c := range goldenPublish {
		seedFrames(f, c.hex)
	}
	f.Fuzz(func(t *testing.T, flags uint16, payload []byte) {
		var p Publish
		err := ParsePublish(Flags(flags), payload, &p)
		id, ok := PublishRequestID(Flags(flags), payload)
		if Flags(flags).IsPublish() && (ok != p.Acked || id != p.RequestID) {
			t.Fatalf("request id %d, %v; parsed %d, %v", id, ok, p.RequestID, p.Acked)
		}
		if err != nil {
			if !IsMalformed(err) {
				t.Fatal(err)
			}
			return
		}
		if !utf8.Valid(p.Tenant) || !utf8.Valid(p.Namespace) || !utf8.Valid(p.Stream) || !utf8.Valid(p.Key) {
			t.Fatalf("names are not UTF-8: %+v", p)
		}
		frame := PublishFrame{Ack: p.Ack, RequestID: p.RequestID, Keyed: p.Keyed, Key: p.Key,
			Idempotent: p.Idempotent,
			ProducerID: p.ProducerID, Sequence: p.Sequence, Tenant: string(p.Tenant),
			Namespace: string(p.Namespace),
			Stream:    string(p.Stream)}
		for rec, rest, ok := NextRecord(p.Body[4:]); ok; rec, rest, ok = NextRecord(rest) {
			frame.Payloads = append(frame.Payloads, rec)
		}
		if again := AppendPublish(nil, &frame)[HeaderLen:]; !bytes.HasPrefix(payload, again) {
			t.Fatalf("%x parsed, written back as %x", payload, again)
		}
		equalPublish(t, &p, &frame)
	})
}

func FuzzParsePublishAck(f *testing.F) {
	for _, c := range goldenAcks {
		seedFrames(f, c.hex)
	}
	f.Fuzz(func(t *testing.T, flags uint16, payload []byte) {
		var a PublishAck
		if err := ParsePublishAck(Flags(flags), payload, &a); err != nil {
			if !IsMalformed(err) {
				t.Fatal(err)
			}
			return
		}
		if a.OK && a.Refusal != (Refusal{}) || !a.OK && a.HasOffset || !utf8.ValidString(a.Refusal.Message) {
			t.Fatalf("%x parsed as %+v", payload, a)
		}
		gotFlags, again := payloadOf(t, AppendPublishAck(nil, Flags(flags), &a))
		var b PublishAck
		if err := ParsePublishAck(gotFlags, again, &b); err != nil {
			t.Fatal(err)
		}
		if a.Refusal.Code == CodeUnknown { // Written as an internal failure: 0 is never sent.
			b.Refusal.Code, b.Refusal.Class = a.Refusal.Code, a.Refusal.Class
		}
		if a != b {
			t.Fatalf("parsed %+v, written back as %+v", a, b)
		}
	})
}

func FuzzParseEventBatch(f *testing.F) {
	for _, c := range goldenEvents {
		seedFrames(f, c.hex)
	}
	f.Fuzz(func(t *testing.T, flags uint16, payload []byte) {
		var e EventBatch
		if err := ParseEventBatch(Flags(flags), payload, &e); err != nil {
			if !IsMalformed(err) {
				t.Fatal(err)
			}
			return
		}
		if e.Flags() != Flags(flags) {
			t.Fatalf("flags %#x parsed as %#x", flags, e.Flags())
		}
		if again := AppendEventBatch(nil, &e)[HeaderLen:]; !bytes.HasPrefix(payload, again) {
			t.Fatalf("%x parsed, written back as %x", payload, again)
		}
		count := uint32(0)
		for rest := e.Records; len(rest) > 0; count++ {
			var ok bool
			if e.Timestamps {
				_, _, rest, ok = NextTimedRecord(rest)
			} else {
				_, rest, ok = NextRecord(rest)
			}
			if !ok {
				t.Fatalf("the run of %x ends inside a record", payload)
			}
		}
		if count != e.Count {
			t.Fatalf("%d records, count says %d", count, e.Count)
		}
	})
}

func FuzzParseListKeys(f *testing.F) {
	f.Add(unhex(f, goldenListKeys)[HeaderLen:])
	f.Fuzz(func(t *testing.T, payload []byte) {
		var q ListKeys
		if err := ParseListKeys(payload, &q); err != nil {
			if !IsMalformed(err) {
				t.Fatal(err)
			}
			return
		}
		if again := AppendListKeys(nil, &q)[HeaderLen:]; !bytes.HasPrefix(payload, again) {
			t.Fatalf("%x parsed, written back as %x", payload, again)
		}
	})
}

func FuzzParseListKeysAnswer(f *testing.F) {
	f.Add(unhex(f, goldenListKeysAnswer)[HeaderLen:])
	f.Add(unhex(f, goldenListKeysRefused)[HeaderLen:])
	f.Fuzz(func(t *testing.T, payload []byte) {
		var a ListKeysAnswer
		if err := ParseListKeysAnswer(payload, &a); err != nil {
			if !IsMalformed(err) {
				t.Fatal(err)
			}
			return
		}
		if !a.OK {
			if a.Class == 0 || a.Keys != nil || !utf8.Valid(a.Message) {
				t.Fatalf("%x parsed as %+v", payload, a)
			}
			return
		}
		var keys [][]byte
		for key, rest, ok := NextRecord(a.Keys); ok; key, rest, ok = NextRecord(rest) {
			keys = append(keys, key)
		}
		if again := AppendListKeysAnswer(nil, a.RequestID, a.More,
			keys)[HeaderLen:]; !bytes.HasPrefix(payload, again) {
			t.Fatalf("%x parsed, written back as %x", payload, again)
		}
	})
}

// FuzzParseMessage holds the decoder against encoding/json; see the oracle for the rules that differ on
// purpose.
func FuzzParseMessage(f *testing.F) {
	for _, c := range goldenMessages {
		f.Add([]byte(c.json))
	}
	entry := CacheKey{Tenant: "t", Namespace: "n", Cache: "c", Key: "\"k\u2028\x00", RequestID: 1 << 63}
	for _, frame := range [][]byte{
		AppendCachePut(nil, &entry, []byte("value"), 5, true),
		AppendCacheGet(nil, &entry),
		AppendCachePutIf(nil, &entry, nil, 0, false, Condition{Version: 3}),
		AppendSubscribe(nil, &Subscribe{Stream: "s", Start: StartPosition{Kind: StartOffset, Offset: 7}}),
		AppendError(nil, &Refusal{Code: CodeOverloaded, Message: "m", Reason: "r", RetryAfterMillis: 10},
			true),
		AppendShardOwnersView(nil, 1, []ShardOwner{{Shard: 1, NodeID: "n", Generation: 2}}),
		AppendTopologyView(nil, []BrokerAddr{{"n", "h:1"}}),
		AppendPublishRefused(nil, &PublishRefused{Kind: RefusedNotLeader, NodeID: "n"}),
	} {
		f.Add(frame[HeaderLen:])
	}
	f.Add([]byte(`{"type":"publish_batch","tenant_id":"t","namespace":"n","stream":"s","payloads":["YQ==","+\/+\/"],"key":"azE="}`))
	f.Add([]byte(`{"type":"x","a":[1,-0.5e+9,{"b":[null,true,false]}],"request_id":18446744073709551615}`))
	f.Add([]byte(`{"\u0074ype":"\ud83d\ude00","type":"\ud800"}`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		before := bytes.Clone(payload)
		var m Message
		checkAgainstOracle(t, payload, &m)
		if !bytes.Equal(payload, before) {
			t.Fatal("the parser wrote into its input")
		}
		// The lists were checked while parsing: walking them ends, and agrees with the count.
		walked := 0
		for _, ok := m.NextPayload(); ok; _, ok = m.NextPayload() {
			walked++
		}
		if m.Has(FieldPayloads) && walked != m.PayloadCount {
			t.Fatalf("%d payloads, count says %d", walked, m.PayloadCount)
		}
		var o OwnerView
		for m.NextOwner(&o) {
			walked++
		}
		var b BrokerView
		for m.NextBroker(&b) {
			walked++
		}
		if walked > len(payload) {
			t.Fatalf("%d list elements in %d bytes", walked, len(payload))
		}
	})
}
