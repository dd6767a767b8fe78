package wire

import (
	"bytes"
	"testing"
)

const batchScope = `"tenant_id":"t","namespace":"n","stream":"s"`

func TestNextPayload(t *testing.T) {
	m := parse(t, `{"type":"publish_batch",`+batchScope+`,"payloads":["YQ==",  "","+\/+\u002f"] }`)
	var got []string
	for text, ok := m.NextPayload(); ok; text, ok = m.NextPayload() {
		got = append(got, string(text))
	}
	if len(got) != 3 || got[0] != "YQ==" || got[1] != "" || got[2] != "+/+/" || m.PayloadCount != 3 {
		t.Fatalf("payloads %q, count %d", got, m.PayloadCount)
	}
	m = parse(t, `{"type":"ok","payloads":["YQ=="]}`)
	if text, ok := m.NextPayload(); ok {
		t.Fatalf("a type without payloads has %q", text)
	}
}

func TestAppendRecords(t *testing.T) {
	want := AppendRecord(AppendRecord(AppendRecord([]byte{0, 0, 0, 3}, []byte("a")), nil),
		[]byte{0xfb, 0xff, 0xbf})
	cases := []struct {
		name, text string
		want       []byte
		sum        int
	}{
		{"batch", `{"type":"publish_batch",` + batchScope + `,"payloads":["YQ==","","+\/+\/"]}`, want, 4},
		{"empty batch", `{"type":"publish_batch",` + batchScope + `,"payloads":[]}`, []byte{0, 0, 0, 0}, 0},
		{"single", `{"type":"publish",` + batchScope + `,"payload":"b25l"}`,
			AppendRecord([]byte{0, 0, 0, 1}, []byte("one")), 3},
		{"single empty", `{"type":"publish",` + batchScope + `,"payload":""}`,
			AppendRecord([]byte{0, 0, 0, 1}, nil), 0},
		{"event", `{"type":"event",` + batchScope + `,"payload":"b25l","offset":3}`,
			AppendRecord([]byte{0, 0, 0, 1}, []byte("one")), 3},
		{"nothing to publish", `{"type":"ok"}`, []byte{0, 0, 0, 0}, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := parse(t, c.text)
			bound := m.RecordsBound()
			got, sum, err := m.AppendRecords([]byte("x"))
			if err != nil || string(got) != "x"+string(c.want) || sum != c.sum {
				t.Fatalf("records %x, sum %d, %v; want %x, %d", got, sum, err, c.want, c.sum)
			}
			if len(c.want) > bound {
				t.Fatalf("%d bytes, bound %d", len(c.want), bound)
			}
		})
	}
}

func TestAppendRecordsBadBase64(t *testing.T) {
	for _, text := range []string{
		`{"type":"publish",` + batchScope + `,"payload":"YQ"}`,
		`{"type":"publish_batch",` + batchScope + `,"payloads":["YQ==","Y!=="]}`,
		`{"type":"publish_batch",` + batchScope + `,"payloads":["YQ==","\n"]}`,
		`{"type":"publish_batch",` + batchScope + `,"payloads":["\ud800"]}`,
	} {
		m := parse(t, text)
		if got, sum, err := m.AppendRecords([]byte("x")); err != ErrBadBase64 || string(got) != "x" ||
			sum != 0 {
			t.Errorf("%s: %q, %d, %v", text, got, sum, err)
		}
	}
}

func TestShardOwnersView(t *testing.T) {
	owners := []ShardOwner{
		{Shard: 0, NodeID: "b\"1", Addr: "127.0.0.1:5000", Generation: 1<<64 - 1},
		{Shard: 1, Generation: 2, Unavailable: "moving"},
		{Shard: 1<<32 - 1},
	}
	_, payload := payloadOf(t, AppendShardOwnersView(nil, 5, owners))
	var m Message
	if err := ParseMessage(payload, &m); err != nil || m.RequestID != 5 {
		t.Fatalf("%v, id %d", err, m.RequestID)
	}
	var o OwnerView
	for i, want := range owners {
		if !m.NextOwner(&o) {
			t.Fatalf("no owner %d", i)
		}
		got := ShardOwner{o.Shard, string(o.NodeID), string(o.Addr), o.Generation, string(o.Unavailable)}
		if got != want {
			t.Fatalf("owner %d is %+v, want %+v", i, got, want)
		}
	}
	if m.NextOwner(&o) {
		t.Fatalf("one owner too many: %+v", o)
	}

	m = *parse(t,
		`{"type":"shard_owners_view","request_id":1,"owners":[{"generation":3,"x":[{}],"addr":null,"node_id":null,"shard":2}]}`)
	if !m.NextOwner(&o) || o.Shard != 2 || o.Generation != 3 || o.Addr != nil || m.NextOwner(&o) {
		t.Fatalf("owner %+v", o)
	}
	if m := parse(t, `{"type":"ok"}`); m.NextOwner(&o) {
		t.Fatal("a type without owners has one")
	}
}

func TestTopologyView(t *testing.T) {
	brokers := []BrokerAddr{{"b1", "127.0.0.1:5000"}, {"b2", "localhost:7443"}}
	_, payload := payloadOf(t, AppendTopologyView(nil, brokers))
	var m Message
	if err := ParseMessage(payload, &m); err != nil {
		t.Fatal(err)
	}
	var b BrokerView
	for i, want := range brokers {
		if !m.NextBroker(&b) || string(b.NodeID) != want.NodeID || string(b.Addr) != want.Addr {
			t.Fatalf("broker %d is %q at %q", i, b.NodeID, b.Addr)
		}
	}
	if m.NextBroker(&b) {
		t.Fatalf("one broker too many: %+v", b)
	}
	_, payload = payloadOf(t, AppendTopologyView(nil, nil))
	if err := ParseMessage(payload, &m); err != nil || m.NextBroker(&b) ||
		!bytes.Contains(payload, []byte("[]")) {
		t.Fatalf("empty topology: %v, %s", err, payload)
	}
}
