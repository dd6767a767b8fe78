package wire

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"
)

// The golden frames are the worked examples of wire protocol sections 4, 7.3, 9.1 to 9.7: whole frames, byte
// for byte. Both directions of the codec and the fuzz seeds come from these tables.

// unhex reads the spaced hex of a worked example.
func unhex(tb testing.TB, s string) []byte {
	tb.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		tb.Fatalf("bad hex in test table: %v", err)
	}
	return b
}

// payloadOf splits a whole frame, checking that the header tells the truth.
func payloadOf(tb testing.TB, frame []byte) (Flags, []byte) {
	tb.Helper()
	h, err := ParseHeader(frame)
	if err != nil {
		tb.Fatalf("ParseHeader(%x): %v", frame, err)
	}
	if int(h.Length) != len(frame)-HeaderLen {
		tb.Fatalf("header says %d payload bytes, frame has %d", h.Length, len(frame)-HeaderLen)
	}
	return h.Flags, frame[HeaderLen:]
}

func equalFrame(tb testing.TB, got, want []byte) {
	tb.Helper()
	if !bytes.Equal(got, want) {
		tb.Fatalf("frame differs\n got %x\nwant %x\n got text %q\nwant text %q", got, want, got, want)
	}
}

var goldenPublish = []struct {
	name  string
	hex   string
	frame PublishFrame
}{
	{"0001",
		"464c5831 0001 0001 00000020 0002 7431 0007 64656661756c74 0004 64656d6f 00000001 00000005 68656c6c6f",
		PublishFrame{}},
	{"0041",
		"464c5831 0001 0041 00000024 0002 6b31 0002 7431 0007 64656661756c74 0004 64656d6f 00000001 00000005 " +
			"68656c6c6f",
		PublishFrame{Keyed: true, Key: []byte("k1")}},
	{"0009",
		"464c5831 0001 0009 00000029 0000000000000007 02 0002 7431 0007 64656661756c74 0004 64656d6f 00000001 " +
			"00000005 68656c6c6f",
		PublishFrame{Ack: AckPerBatch, RequestID: 7}},
	{"0049",
		"464c5831 0001 0049 0000002d 0000000000000007 02 0002 6b31 0002 7431 0007 64656661756c74 0004 64656d6f " +
			"00000001 00000005 68656c6c6f",
		PublishFrame{Ack: AckPerBatch, RequestID: 7, Keyed: true, Key: []byte("k1")}},
	{"0109", "464c5831 0001 0109 00000039 0000000000000007 02 1122334455667788 0000000000000005 0002 7431 " +
		"0007 64656661756c74 0004 64656d6f 00000001 00000005 68656c6c6f",
		PublishFrame{Ack: AckPerBatch, RequestID: 7, Idempotent: true, ProducerID: 0x1122334455667788,
			Sequence: 5}},
	{"0149",
		"464c5831 0001 0149 0000003d 0000000000000007 02 1122334455667788 0000000000000005 0002 6b31 0002 7431 " +
			"0007 64656661756c74 0004 64656d6f 00000001 00000005 68656c6c6f",
		PublishFrame{Ack: AckPerBatch, RequestID: 7, Idempotent: true, ProducerID: 0x1122334455667788,
			Sequence: 5, Keyed: true, Key: []byte("k1")}},
}

// goldenFrame completes a table entry with the names and the payload that all of them share.
func goldenFrame(p PublishFrame) PublishFrame {
	p.Tenant, p.Namespace, p.Stream = "t1", "default", "demo"
	p.Payloads = [][]byte{[]byte("hello")}
	return p
}

func TestGoldenPublish(t *testing.T) {
	for _, c := range goldenPublish {
		t.Run(c.name, func(t *testing.T) {
			frame, want := goldenFrame(c.frame), unhex(t, c.hex)
			equalFrame(t, AppendPublish(nil, &frame), want)
			if frame.Size() != len(want) {
				t.Fatalf("Size() = %d, frame has %d bytes", frame.Size(), len(want))
			}
			flags, payload := payloadOf(t, want)
			var p Publish
			if err := ParsePublish(flags, payload, &p); err != nil {
				t.Fatal(err)
			}
			equalPublish(t, &p, &frame)
			if id, ok := PublishRequestID(flags, payload); ok != p.Acked || id != p.RequestID {
				t.Fatalf("PublishRequestID = %d, %v; parsed %d, %v", id, ok, p.RequestID, p.Acked)
			}
		})
	}
}

var goldenAcks = []struct {
	name string
	hex  string
	ack  PublishAck
}{
	{"ok", "464c5831 0001 0010 0000000b 00 0000000000000007 0000", PublishAck{RequestID: 7, OK: true}},
	{"error", "464c5831 0001 0010 0000001b 01 0000000000000009 0010 73747265616d206e6f7420666f756e64",
		PublishAck{RequestID: 9, Refusal: Refusal{Message: "stream not found"}}},
	{"code", "464c5831 0001 0210 0000001d 01 0000000000000009 000f 7368617264206973206d6f76696e67 0005 01",
		PublishAck{RequestID: 9, Refusal: Refusal{Code: CodeShardUnavailable, Class: ClassRetry,
			Message: "shard is moving"}}},
	{"detail",
		"464c5831 0001 0610 0000002d 01 0000000000000009 000f 7368617264206973206d6f76696e67 0005 01 " +
			"0006 6d6f76696e67 00000000000000fa",
		PublishAck{RequestID: 9, Refusal: Refusal{Code: CodeShardUnavailable, Class: ClassRetry,
			Message: "shard is moving", Reason: "moving", RetryAfterMillis: 250}}},
	{"offset", "464c5831 0001 1010 00000013 00 0000000000000007 0000 000000000000002a",
		PublishAck{RequestID: 7, OK: true, HasOffset: true, Offset: 42}},
	{"owner",
		"464c5831 0001 0090 00000026 00 0000000000000007 0000 0002 6232 000d 31302e302e302e363a35303030 " +
			"0000000000000004",
		PublishAck{RequestID: 7, OK: true, HasOwner: true, OwnerNode: "b2", OwnerAddr: "10.0.0.6:5000",
			OwnerGeneration: 4}},
	{"owner and offset", "464c5831 0001 1090 0000002e 00 0000000000000007 0000 0002 6232 " +
		"000d 31302e302e302e363a35303030 0000000000000004 000000000000002a",
		PublishAck{RequestID: 7, OK: true, HasOwner: true, OwnerNode: "b2", OwnerAddr: "10.0.0.6:5000",
			OwnerGeneration: 4, HasOffset: true, Offset: 42}},
}

func TestGoldenPublishAck(t *testing.T) {
	for _, c := range goldenAcks {
		t.Run(c.name, func(t *testing.T) {
			want := unhex(t, c.hex)
			flags, payload := payloadOf(t, want)
			// The peer offers exactly what the frame uses; the uncoded error goes to a peer without codes.
			equalFrame(t, AppendPublishAck(nil, flags, &c.ack), want)
			var a PublishAck
			if err := ParsePublishAck(flags, payload, &a); err != nil {
				t.Fatal(err)
			}
			if a != c.ack {
				t.Fatalf("parsed %+v, want %+v", a, c.ack)
			}
		})
	}
}

var goldenEvents = []struct {
	name  string
	hex   string
	batch EventBatch
}{
	{"shared", "464c5831 0001 0004 0000000f 00000002 00000001 61 00000002 6263", EventBatch{}},
	{"offset", "464c5831 0001 0024 00000017 0000000000000064 00000002 00000001 61 00000002 6263",
		EventBatch{HasOffsets: true, Base: 100}},
	{"skipped",
		"464c5831 0001 0824 0000001f 0000000000000065 0000000000000001 00000002 00000001 61 00000002 6263",
		EventBatch{HasOffsets: true, Base: 101, HasSkipped: true, Skipped: 1}},
	{"publisher",
		"464c5831 0001 2024 0000001d 0000000000000064 05 616c696365 00000002 00000001 61 00000002 6263",
		EventBatch{HasOffsets: true, Base: 100, HasPublisher: true, Publisher: []byte("alice")}},
	{"timestamps", "464c5831 0001 4024 00000027 0000000000000064 00000002 00060a24181e4000 00000001 61 " +
		"00060a24181e4000 00000002 6263",
		EventBatch{HasOffsets: true, Base: 100, Timestamps: true}},
	{"all",
		"464c5831 0001 6824 00000035 0000000000000065 0000000000000001 05 616c696365 00000002 00060a24181e4000 " +
			"00000001 61 00060a24181e4000 00000002 6263",
		EventBatch{HasOffsets: true, Base: 101, HasSkipped: true, Skipped: 1, HasPublisher: true,
			Publisher: []byte("alice"), Timestamps: true}},
	{"legacy", "464c5831 0001 0002 00000017 0000000000000009 00000002 00000001 61 00000002 6263",
		EventBatch{HasSubscription: true, Subscription: 9}},
	{"legacy offset", "464c5831 0001 0022 0000001f 0000000000000009 0000000000000064 00000002 00000001 61 " +
		"00000002 6263",
		EventBatch{HasSubscription: true, Subscription: 9, HasOffsets: true, Base: 100}},
}

// goldenBatch completes a table entry with the two events that all of them carry.
func goldenBatch(e EventBatch) EventBatch {
	const micros = 0x00060a24181e4000
	e.Count = 2
	if e.Timestamps {
		e.Records = AppendTimedRecord(AppendTimedRecord(nil, micros, []byte("a")), micros, []byte("bc"))
	} else {
		e.Records = AppendRecord(AppendRecord(nil, []byte("a")), []byte("bc"))
	}
	return e
}

func TestGoldenEventBatch(t *testing.T) {
	for _, c := range goldenEvents {
		t.Run(c.name, func(t *testing.T) {
			batch, want := goldenBatch(c.batch), unhex(t, c.hex)
			equalFrame(t, AppendEventBatch(nil, &batch), want)
			flags, payload := payloadOf(t, want)
			if flags != batch.Flags() {
				t.Fatalf("Flags() = %#x, frame has %#x", batch.Flags(), flags)
			}
			var e EventBatch
			if err := ParseEventBatch(flags, payload, &e); err != nil {
				t.Fatal(err)
			}
			equalBatch(t, &e, &batch)
		})
	}
}

// goldenMessages are the JSON frames of the protocol text with the encoder call that makes each.
var goldenMessages = []struct {
	name string
	json string
	make func() []byte
}{
	{"auth of 0.6.2", `{"type":"auth","tenant_id":"t1","token":"tok","client_flags":8191,` +
		`"client_features":4218945535,"client_features_hi":15}`,
		func() []byte {
			return AppendAuth(nil, &Auth{Tenant: "t1", Token: "tok", Flags: 8191,
				Features: FeaturesFromWords(4218945535, 15)})
		}},
	{"auth with inspect", `{"type":"auth","tenant_id":"t1","token":"demo-token","client_flags":25,` +
		`"client_features":2147483649,"client_features_hi":1}`,
		func() []byte {
			return AppendAuth(nil, &Auth{Tenant: "t1", Token: "demo-token", Flags: 25,
				Features: FeatureTopology | FeatureInspect})
		}},
	{"auth_ok", `{"type":"auth_ok","server_flags":8191,"server_features":196132,"publish_window":256}`,
		func() []byte {
			return AppendAuthOK(nil, &AuthOK{ServerFlags: 8191, ServerFeatures: 196132, PublishWindow: 256})
		}},
	{"auth_ok of 0.1.1", `{"type":"auth_ok","server_flags":63}`,
		func() []byte { return AppendAuthOK(nil, &AuthOK{ServerFlags: 63}) }},
	{"ok", `{"type":"ok"}`, func() []byte { return AppendOK(nil) }},
	{"hello", `{"type":"event_stream_hello","subscription_id":9}`,
		func() []byte { return AppendEventStreamHello(nil, 9) }},
	{"publish_width",
		`{"type":"publish_width","tenant_id":"t1","namespace":"default","stream":"ms","shards":4}`,
		func() []byte { return AppendPublishWidth(nil, "t1", "default", "ms", 4, false) }},
}

func TestGoldenMessages(t *testing.T) {
	for _, c := range goldenMessages {
		t.Run(c.name, func(t *testing.T) {
			frame := c.make()
			flags, payload := payloadOf(t, frame)
			if flags != 0 {
				t.Fatalf("flags %#x on a JSON frame", flags)
			}
			if string(payload) != c.json {
				t.Fatalf("payload\n got %s\nwant %s", payload, c.json)
			}
		})
	}
}

func TestGoldenMessageFrames(t *testing.T) {
	equalFrame(t, AppendOK(nil), unhex(t, "464c5831 0001 0000 0000000d 7b2274797065223a226f6b227d"))
	equalFrame(t, AppendAuthOK(nil, &AuthOK{ServerFlags: 8191, ServerFeatures: 196132, PublishWindow: 256}),
		unhex(t,
			"464c5831 0001 0000 00000054 7b2274797065223a22617574685f6f6b222c227365727665725f666c616773223a383139"+
				"312c227365727665725f6665617475726573223a3139363133322c227075626c6973685f77696e646f77223a3235367d"))
	equalFrame(t, AppendEventStreamHello(nil, 9),
		unhex(t,
			"464c5831 0001 0000 00000031 7b2274797065223a226576656e745f73747265616d5f68656c6c6f222c22737562736372"+
				"697074696f6e5f6964223a397d"))
}
