package wire

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// parse parses text that has to be accepted.
func parse(tb testing.TB, text string) *Message {
	tb.Helper()
	m := new(Message)
	if err := ParseMessage([]byte(text), m); err != nil {
		tb.Fatalf("ParseMessage(%s): %v, field %s", text, err, m.BadField)
	}
	return m
}

func TestParseMessageShapes(t *testing.T) {
	const scope = `"tenant_id":"t","namespace":"n","stream":"s"`
	const entry = `"tenant_id":"t","namespace":"n","cache":"c","key":"k"`
	cases := []struct {
		name string
		text string
		good func(m *Message) bool
	}{
		{"auth without flags", `{"type":"auth","tenant_id":"t","token":""}`, func(m *Message) bool {
			return m.ClientFlags == BaselineFlags && m.ClientFeatures == 0 && !m.Has(FieldClientFlags) &&
				m.Has(FieldToken)
		}},
		{"auth with nulls",
			`{"type":"auth","tenant_id":"t","token":"x","client_flags":null,"client_features":null}`,
			func(m *Message) bool { return m.ClientFlags == BaselineFlags && !m.Has(FieldClientFlags) }},
		{"auth with flags 0", `{"type":"auth","tenant_id":"t","token":"x","client_flags":0}`,
			func(m *Message) bool { return m.ClientFlags == 0 && m.Has(FieldClientFlags) }},
		{"auth, extended word unannounced",
			`{"type":"auth","tenant_id":"t","token":"x","client_flags":7,"client_features":1,"client_features_hi":15}`,
			func(m *Message) bool { return m.ClientFeatures == FeatureTopology }},
		{"auth, extended word first",
			`{"client_features_hi":1,"client_features":2147483648,"client_flags":7,"token":"x","tenant_id":"t","type":"auth"}`,
			func(m *Message) bool { return m.ClientFeatures == FeatureExtended|FeatureInspect }},
		{"auth, every bit", `{"type":"auth","tenant_id":"t","token":"x","client_flags":65535,` +
			`"client_features":4294967295,"client_features_hi":4294967295}`,
			func(m *Message) bool { return m.ClientFlags == 0xFFFF && m.ClientFeatures == 1<<64-1 }},
		{"auth_ok", `{"type":"auth_ok","server_flags":63,"listener_ports":[5000,65535],"publish_window":256}`,
			func(m *Message) bool {
				return m.ServerFlags == 63 && slices.Equal(m.ListenerPorts, []uint16{5000, 65535}) &&
					m.PublishWindow == 256
			}},
		{"fields of other types are ignored",
			`{"type":"ok","shards":"x","request_id":-1,"start":[],"payloads":7}`,
			func(m *Message) bool {
				return m.Type == MsgOK && !m.Has(FieldRequestID) && !m.Has(FieldShards)
			}},
		{"duplicates: last wins", `{"type":"publish","type":"publish_ok","request_id":1,"request_id":2}`,
			func(m *Message) bool { return m.Type == MsgPublishOK && m.RequestID == 2 }},
		{"unknown type", `{"type":"extension_2","request_id":18446744073709551615,"shards":"x"}`,
			func(m *Message) bool {
				return m.Type == MsgUnknown && string(m.RawType) == "extension_2" && m.Has(FieldRequestID) &&
					m.RequestID == 1<<64-1
			}},
		{"unknown type, negative id", `{"type":"x","request_id":-1}`,
			func(m *Message) bool { return !m.Has(FieldRequestID) }},
		{"unknown type, id of text", `{"type":"x","request_id":"1"}`,
			func(m *Message) bool { return !m.Has(FieldRequestID) }},
		{"unknown type, float id", `{"type":"x","request_id":1.0}`,
			func(m *Message) bool { return !m.Has(FieldRequestID) }},
		{"unknown type, huge id", `{"type":"x","request_id":18446744073709551616}`,
			func(m *Message) bool { return !m.Has(FieldRequestID) }},
		{"type spelled with escapes", `{"\u0074\u0079pe":"\u006f\u006B"}`,
			func(m *Message) bool { return m.Type == MsgOK }},
		{"white space", " \r\n\t{ \"type\" :\t\"ok\" } \n", func(m *Message) bool { return m.Type == MsgOK }},
		{"type is the empty name", `{"type":""}`, func(m *Message) bool { return m.Type == MsgUnknown }},
		{"extension", `{"type":"extension","name":"x","body":{"a":[1,{"b":null}]},"request_id":3}`,
			func(m *Message) bool { return string(m.Name) == "x" && m.RequestID == 3 }},

		{"publish", `{"type":"publish",` + scope + `,"payload":"aGVsbG8=","key":"azE=","request_id":7}`,
			func(m *Message) bool {
				return string(m.Key) == "k1" && m.AckMode() == AckPerMessage && m.PayloadCount == 1 &&
					string(m.Payload) == "aGVsbG8="
			}},
		{"publish, nobody asks", `{"type":"publish",` + scope + `,"payload":""}`,
			func(m *Message) bool {
				return m.AckMode() == AckNone && !m.Has(FieldKey) && m.Has(FieldPayload)
			}},
		{"publish, none with id", `{"type":"publish",` + scope + `,"payload":"","ack":"none","request_id":7}`,
			func(m *Message) bool { return m.AckMode() == AckNone && m.HasAck }},
		{"publish, asked without id", `{"type":"publish",` + scope + `,"payload":"","ack":"per_batch"}`,
			func(m *Message) bool { return m.AckMode() == AckPerBatch && !m.Has(FieldRequestID) }},
		{"publish, empty key is a key", `{"type":"publish",` + scope + `,"payload":"","key":""}`,
			func(m *Message) bool { return m.Has(FieldKey) && len(m.Key) == 0 }},
		{"publish, null key is none", `{"type":"publish",` + scope + `,"payload":"","key":null,"ack":null}`,
			func(m *Message) bool { return !m.Has(FieldKey) && !m.HasAck }},
		{"publish_batch", `{"type":"publish_batch",` + scope + `,"payloads":[ "YQ==" , "" ],"request_id":0}`,
			func(m *Message) bool { return m.AckMode() == AckPerBatch && m.PayloadCount == 2 }},
		{"publish_batch of none", `{"type":"publish_batch",` + scope + `,"payloads":[],"ack":"per_message"}`,
			func(m *Message) bool { return m.AckMode() == AckPerMessage && m.PayloadCount == 0 }},
		{"publish_width", `{"type":"publish_width",` + scope + `,"shards":4,"routing":"jump_hash"}`,
			func(m *Message) bool { return m.Shards == 4 && m.RoutingJump }},
		{"publish_width, modulo", `{"type":"publish_width",` + scope + `,"shards":4294967295,"routing":null}`,
			func(m *Message) bool { return m.Shards == 1<<32-1 && !m.RoutingJump }},

		{"subscribe", `{"type":"subscribe",` + scope + `}`,
			func(m *Message) bool {
				return m.Start.Kind == StartNone && m.Shard == 0 && !m.Has(FieldQueueCapacity)
			}},
		{"subscribe latest", `{"type":"subscribe",` + scope +
			`,"start":"latest","shard":3,"queue_capacity":9}`,
			func(m *Message) bool {
				return m.Start.Kind == StartLatest && m.Shard == 3 && m.QueueCapacity == 9
			}},
		{"subscribe earliest", `{"type":"subscribe",` + scope + `,"start":"earliest"}`,
			func(m *Message) bool { return m.Start.Kind == StartEarliest }},
		{"subscribe null", `{"type":"subscribe",` + scope +
			`,"start":null,"shard":null,"subscription_id":null}`,
			func(m *Message) bool { return m.Start.Kind == StartNone && !m.Has(FieldStart) }},
		{"subscribe at", `{"type":"subscribe",` + scope + `,"start":{ "offset" : 18446744073709551615 }}`,
			func(m *Message) bool { return m.Start == StartPosition{Kind: StartOffset, Offset: 1<<64 - 1} }},
		{"subscribe at 0", `{"type":"subscribe",` + scope + `,"start":{"offset":0}}`,
			func(m *Message) bool { return m.Start == StartPosition{Kind: StartOffset} }},

		{"cache_put", `{"type":"cache_put",` + entry + `,"value":"AA==","ttl_ms":null}`,
			func(m *Message) bool {
				return string(m.Value) == "AA==" && !m.Has(FieldTTLMillis) && !m.Has(FieldRequestID)
			}},
		{"cache_put, no ttl", `{"type":"cache_put",` + entry + `,"value":""}`,
			func(m *Message) bool { return m.Has(FieldValue) && !m.Has(FieldTTLMillis) }},
		{"cache_put, ttl 0", `{"type":"cache_put",` + entry + `,"value":"","ttl_ms":0}`,
			func(m *Message) bool { return m.Has(FieldTTLMillis) && m.TTLMillis == 0 }},
		{"cache_value null", `{"type":"cache_value",` + entry + `,"value":null}`,
			func(m *Message) bool { return m.ValueNull && !m.Has(FieldValue) }},
		{"cache_value empty", `{"type":"cache_value",` + entry + `,"value":"","version":9}`,
			func(m *Message) bool { return !m.ValueNull && m.Has(FieldValue) && m.Version == 9 }},
		{"cache_put_if absent", `{"type":"cache_put_if",` + entry +
			`,"value":"","condition":"absent","request_id":1}`,
			func(m *Message) bool { return m.Condition == Condition{Absent: true} }},
		{"cache_put_if version",
			`{"type":"cache_put_if",` + entry + `,"value":"","condition":{"version":8},"request_id":1}`,
			func(m *Message) bool { return m.Condition == Condition{Version: 8} }},
		{"counter_add", `{"type":"counter_add",` + entry + `,"delta":-9223372036854775808,"request_id":1}`,
			func(m *Message) bool { return m.Delta == -1<<63 }},
		{"counter_add, largest", `{"type":"counter_add",` + entry +
			`,"delta":9223372036854775807,"request_id":1}`,
			func(m *Message) bool { return m.Delta == 1<<63-1 }},

		{"error", `{"type":"error","message":"m"}`, func(m *Message) bool {
			return m.Refusal() == Refusal{Message: "m"}
		}},
		{"error, coded", `{"type":"error","message":"m","code":"overloaded","retry":"retry_after",` +
			`"detail":{"x":[],"retry_after_ms":10,"reason":"publish_queue_full"}}`, func(m *Message) bool {
			return m.Refusal() == Refusal{Code: CodeOverloaded, Class: ClassRetryAfter, Message: "m",
				Reason: ReasonPublishQueueFull, RetryAfterMillis: 10}
		}},
		{"error, news to us", `{"type":"error","message":"m","code":"no_such","retry":"often","detail":{}}`,
			func(m *Message) bool {
				return m.Refusal() == Refusal{Class: ClassFatal, Message: "m"} &&
					string(m.CodeName) == "no_such"
			}},
		{"error, nulls",
			`{"type":"error","message":"m","code":null,"retry":null,"detail":{"reason":null,"retry_after_ms":null}}`,
			func(m *Message) bool { return m.Refusal() == Refusal{Message: "m"} }},
		{"publish_refused",
			`{"type":"publish_refused","request_id":1,"reason":"sequence_reused","message":"m"}`,
			func(m *Message) bool { return string(m.Reason) == "sequence_reused" }},
		{"publish_refused, gap",
			`{"type":"publish_refused","request_id":1,"reason":{"sequence_gap":{"expected":5}},"message":"m"}`,
			func(m *Message) bool { return string(m.Reason) == "sequence_gap" && m.RefusedAt == 5 }},
		{"publish_refused, mismatch",
			`{"type":"publish_refused","request_id":1,"reason":{"offset_mismatch":{"y":1,"tail":6}},"message":"m"}`,
			func(m *Message) bool { return string(m.Reason) == "offset_mismatch" && m.RefusedAt == 6 }},
		{"publish_refused, not leader",
			`{"type":"publish_refused","request_id":1,"reason":{"not_leader":{"node_id":"b","addr":null}},"message":"m"}`,
			func(m *Message) bool { return string(m.NodeID) == "b" && m.Addr == nil }},
		{"cursor error", `{"type":"subscribe_cursor_error","reason":"too_old","requested":1,"available":2}`,
			func(m *Message) bool {
				return string(m.Reason) == "too_old" && m.Requested == 1 && m.Available == 2
			}},
		{"shard_moved", `{"type":"shard_moved","subscription_id":1,"generation":3}`,
			func(m *Message) bool { return !m.Has(FieldResumeFrom) && m.Generation == 3 }},
		{"not_leader", `{"type":"not_leader","node_id":"b","addr":"localhost:7443","generation":3}`,
			func(m *Message) bool { return string(m.Addr) == "localhost:7443" }},
		{"a group request", `{"type":"group_ack",` + scope +
			`,"shard":2,"group":"g","offset":1,"request_id":5}`,
			func(m *Message) bool { return string(m.Group) == "g" && m.Shard == 2 && m.RequestID == 5 }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if m := parse(t, c.text); !c.good(m) {
				t.Fatalf("%s gave %+v", c.text, m)
			}
		})
	}
}

func TestParseMessageUnescapes(t *testing.T) {
	text := `{"type":"cache_get","tenant_id":"\u0074","namespace":"n\\","cache":"c\/d",` +
		`"key":"\"\\\/\b\f\n\r\t\u0000\u00e9\uD83D\uDE00é😀` + "\u2028\x7f" + `"}`
	m := parse(t, text)
	if want := "\"\\/\b\f\n\r\t\x00é😀é😀\u2028\x7f"; string(m.Key) != want {
		t.Fatalf("key %q, want %q", m.Key, want)
	}
	// Views into the scratch space survive its growth.
	if string(m.Tenant) != "t" || string(m.Namespace) != `n\` || string(m.Cache) != "c/d" {
		t.Fatalf("scope %q %q %q", m.Tenant, m.Namespace, m.Cache)
	}
}

// A Message is reused: nothing of an earlier message may show through, and its memory stays bounded.
func TestParseMessageForgets(t *testing.T) {
	full := `{"type":"cache_put","tenant_id":"t","namespace":"n","cache":"c","key":"\u0041","value":"AA==","request_id":1,"ttl_ms":5}`
	m := parse(t, full)
	for _, text := range []string{
		`{"type":"cache_get","tenant_id":"t","namespace":"n","cache":"c","key":"k"}`,
		`{"type":"auth_ok","server_flags":1,"listener_ports":[1,2]}`,
		`{"type":"auth_ok","server_flags":1}`,
		`{"type":"ok"}`,
	} {
		if err := ParseMessage([]byte(text), m); err != nil {
			t.Fatal(err)
		}
		fresh := parse(t, text)
		if got, want := describe(m), describe(fresh); got != want {
			t.Fatalf("reused %s\n fresh %s", got, want)
		}
	}
	big := `{"type":"error","message":"` + strings.Repeat(`\n`, maxKeptScratch+1) + `"}`
	if err := ParseMessage([]byte(big), m); err != nil || len(m.Text) != maxKeptScratch+1 {
		t.Fatalf("%v, %d bytes of text", err, len(m.Text))
	}
	if err := ParseMessage([]byte(`{"type":"ok"}`), m); err != nil || cap(m.scratch) != 0 {
		t.Fatalf("%v, %d bytes of scratch kept", err, cap(m.scratch))
	}
}

// describe prints the exported side of a message.
func describe(m *Message) string {
	c := *m
	c.raw, c.scratch, c.ports, c.seen = [fieldCount]token{}, nil, nil, 0
	c.buf, c.payloads, c.owners, c.brokers = nil, elements{}, elements{}, elements{}
	return fmt.Sprintf("%+v", c)
}
