package wire

import (
	"errors"
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
			return m.ClientFlags == BaselineFlags && m.ClientFeatures == 0 && !m.Has(FieldClientFlags) && m.Has(FieldToken)
		}},
		{"auth with nulls", `{"type":"auth","tenant_id":"t","token":"x","client_flags":null,"client_features":null}`,
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
				return m.ServerFlags == 63 && slices.Equal(m.ListenerPorts, []uint16{5000, 65535}) && m.PublishWindow == 256
			}},
		{"fields of other types are ignored", `{"type":"ok","shards":"x","request_id":-1,"start":[],"payloads":7}`,
			func(m *Message) bool { return m.Type == MsgOK && !m.Has(FieldRequestID) && !m.Has(FieldShards) }},
		{"duplicates: last wins", `{"type":"publish","type":"publish_ok","request_id":1,"request_id":2}`,
			func(m *Message) bool { return m.Type == MsgPublishOK && m.RequestID == 2 }},
		{"unknown type", `{"type":"extension_2","request_id":18446744073709551615,"shards":"x"}`, func(m *Message) bool {
			return m.Type == MsgUnknown && string(m.RawType) == "extension_2" && m.Has(FieldRequestID) &&
				m.RequestID == 1<<64-1
		}},
		{"unknown type, negative id", `{"type":"x","request_id":-1}`, func(m *Message) bool { return !m.Has(FieldRequestID) }},
		{"unknown type, id of text", `{"type":"x","request_id":"1"}`, func(m *Message) bool { return !m.Has(FieldRequestID) }},
		{"unknown type, float id", `{"type":"x","request_id":1.0}`, func(m *Message) bool { return !m.Has(FieldRequestID) }},
		{"unknown type, huge id", `{"type":"x","request_id":18446744073709551616}`,
			func(m *Message) bool { return !m.Has(FieldRequestID) }},
		{"type spelled with escapes", `{"\u0074\u0079pe":"\u006f\u006B"}`, func(m *Message) bool { return m.Type == MsgOK }},
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
			func(m *Message) bool { return m.AckMode() == AckNone && !m.Has(FieldKey) && m.Has(FieldPayload) }},
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
			func(m *Message) bool { return m.Start.Kind == StartNone && m.Shard == 0 && !m.Has(FieldQueueCapacity) }},
		{"subscribe latest", `{"type":"subscribe",` + scope + `,"start":"latest","shard":3,"queue_capacity":9}`,
			func(m *Message) bool { return m.Start.Kind == StartLatest && m.Shard == 3 && m.QueueCapacity == 9 }},
		{"subscribe earliest", `{"type":"subscribe",` + scope + `,"start":"earliest"}`,
			func(m *Message) bool { return m.Start.Kind == StartEarliest }},
		{"subscribe null", `{"type":"subscribe",` + scope + `,"start":null,"shard":null,"subscription_id":null}`,
			func(m *Message) bool { return m.Start.Kind == StartNone && !m.Has(FieldStart) }},
		{"subscribe at", `{"type":"subscribe",` + scope + `,"start":{ "offset" : 18446744073709551615 }}`,
			func(m *Message) bool { return m.Start == StartPosition{Kind: StartOffset, Offset: 1<<64 - 1} }},
		{"subscribe at 0", `{"type":"subscribe",` + scope + `,"start":{"offset":0}}`,
			func(m *Message) bool { return m.Start == StartPosition{Kind: StartOffset} }},

		{"cache_put", `{"type":"cache_put",` + entry + `,"value":"AA==","ttl_ms":null}`, func(m *Message) bool {
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
		{"cache_put_if absent", `{"type":"cache_put_if",` + entry + `,"value":"","condition":"absent","request_id":1}`,
			func(m *Message) bool { return m.Condition == Condition{Absent: true} }},
		{"cache_put_if version",
			`{"type":"cache_put_if",` + entry + `,"value":"","condition":{"version":8},"request_id":1}`,
			func(m *Message) bool { return m.Condition == Condition{Version: 8} }},
		{"counter_add", `{"type":"counter_add",` + entry + `,"delta":-9223372036854775808,"request_id":1}`,
			func(m *Message) bool { return m.Delta == -1<<63 }},
		{"counter_add, largest", `{"type":"counter_add",` + entry + `,"delta":9223372036854775807,"request_id":1}`,
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
				return m.Refusal() == Refusal{Class: ClassFatal, Message: "m"} && string(m.CodeName) == "no_such"
			}},
		{"error, nulls", `{"type":"error","message":"m","code":null,"retry":null,"detail":{"reason":null,"retry_after_ms":null}}`,
			func(m *Message) bool { return m.Refusal() == Refusal{Message: "m"} }},
		{"publish_refused", `{"type":"publish_refused","request_id":1,"reason":"sequence_reused","message":"m"}`,
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
			func(m *Message) bool { return string(m.Reason) == "too_old" && m.Requested == 1 && m.Available == 2 }},
		{"shard_moved", `{"type":"shard_moved","subscription_id":1,"generation":3}`,
			func(m *Message) bool { return !m.Has(FieldResumeFrom) && m.Generation == 3 }},
		{"not_leader", `{"type":"not_leader","node_id":"b","addr":"localhost:7443","generation":3}`,
			func(m *Message) bool { return string(m.Addr) == "localhost:7443" }},
		{"a group request", `{"type":"group_ack",` + scope + `,"shard":2,"group":"g","offset":1,"request_id":5}`,
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

func TestParseMessageMalformed(t *testing.T) {
	deep := func(n int) string {
		return `{"x":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `,"type":"ok"}`
	}
	for _, text := range []string{
		"", " ", "null", "true", "7", `"ok"`, "[]", `["type","ok"]`, "{", "}", "{}{}", `{"type":"ok"}x`, `{"type":"ok"}{}`,
		`{"type":"ok"},`, `{"type":"ok",}`, `{,"type":"ok"}`, `{"type" "ok"}`, `{"type":}`, `{"type":"ok" "a":1}`, `{type:"ok"}`,
		`{'type':'ok'}`, `{"type":"ok","a":[1,]}`, `{"type":"ok","a":[,1]}`, `{"type":"ok","a":[1 2]}`, `{"type":"ok","a":[}`,
		`{"type":"ok","a":{]}`, `{"type":"ok","a":tru}`, `{"type":"ok","a":True}`, `{"type":"ok","a":nul}`, `{"type":"ok","a":NaN}`,
		`{"type":"ok","a":01}`, `{"type":"ok","a":-}`, `{"type":"ok","a":+1}`, `{"type":"ok","a":1.}`, `{"type":"ok","a":.5}`,
		`{"type":"ok","a":1e}`, `{"type":"ok","a":1e+}`, `{"type":"ok","a":0x1}`, `{"type":"ok","a":1_0}`, `{"type":"ok","a":-01}`,
		`{"type":"ok","a":"}`, `{"type":"ok","a":"\"}`, `{"type":"ok","a":"\x"}`, `{"type":"ok","a":"\u12"}`, `{"type":"ok","a":"\u12g4"}`,
		"{\"type\":\"ok\",\"a\":\"\n\"}", "{\"type\":\"ok\",\"a\":\"\x00\"}", "{\"type\":\"ok\",\"a\":\"1234567\x1f\"}",
		"{\"type\":\"ok\"\x00}", "\ufeff{\"type\":\"ok\"}", "{\"type\":\"ok\"/**/}",
		// Not UTF-8, also where nobody reads.
		"{\"type\":\"ok\",\"a\":\"\xff\"}", "{\"type\":\"ok\",\"\xc0\xaf\":1}", "{\"type\":\"ok\xed\xa0\x80\"}", "{\"type\":\"ok\"}\xff",
		// Lone surrogates in a name or in a text that is read.
		`{"type":"\ud800"}`, `{"type":"ok","\udc00":1}`, `{"type":"error","message":"\ud800x"}`,
		`{"type":"error","message":"\ud800\n"}`, `{"type":"error","message":"\ud800\ud800"}`, `{"type":"error","message":"\udc00\ud800"}`,
		deep(33), deep(100_000), `{"type":"ok","x":` + strings.Repeat(`{"x":`, 100_000),
	} {
		m := new(Message)
		if err := ParseMessage([]byte(text), m); err != ErrMalformedJSON || !IsMalformed(err) {
			t.Errorf("ParseMessage(%.80q): %v, want %v", text, err, ErrMalformedJSON)
		}
	}
	for _, text := range []string{
		deep(32), `{"type":"ok","x":"\ud800"}`, // Nobody reads it.
		`{"type":"ok","a":[-0,0,-0.0e-0,1E+9,123.456e789,{"":[]},true,false,null,"\u005C"]}`,
	} {
		if m := parse(t, text); m.Type != MsgOK {
			t.Errorf("%.80q is %s", text, m.Type)
		}
	}
}

func TestParseMessageTruncatedAtEveryByte(t *testing.T) {
	for _, c := range goldenMessages {
		for n := range c.json {
			m := new(Message)
			if err := ParseMessage([]byte(c.json[:n]), m); err != ErrMalformedJSON {
				t.Fatalf("%s: the first %d bytes: %v", c.name, n, err)
			}
		}
	}
}

func TestParseMessageWrongTypes(t *testing.T) {
	const scope = `"tenant_id":"t","namespace":"n","stream":"s"`
	const entry = `"tenant_id":"t","namespace":"n","cache":"c","key":"k"`
	cases := []struct {
		text  string
		field Field
		err   error
	}{
		{`{}`, FieldType, ErrMissingField},
		{`{"type":null}`, FieldType, ErrWrongType},
		{`{"type":7}`, FieldType, ErrWrongType},
		{`{"type":["ok"]}`, FieldType, ErrWrongType},
		{`{"type":"ok","type":1}`, FieldType, ErrWrongType},
		{`{"type":"auth","tenant_id":"t","token":"x","client_flags":65536}`, FieldClientFlags, ErrWrongType},
		{`{"type":"auth","tenant_id":"t","token":"x","client_features":4294967296}`, FieldClientFeatures, ErrWrongType},
		{`{"type":"auth","tenant_id":"t","token":"x","client_features_hi":-1}`, FieldClientFeaturesHi, ErrWrongType},
		{`{"type":"auth","tenant_id":"t"}`, FieldToken, ErrMissingField},
		{`{"type":"auth","tenant_id":null,"token":""}`, FieldTenant, ErrWrongType},
		{`{"type":"auth_ok"}`, FieldServerFlags, ErrMissingField},
		{`{"type":"auth_ok","server_flags":7,"listener_ports":[70000]}`, FieldListenerPorts, ErrWrongType},
		{`{"type":"auth_ok","server_flags":7,"listener_ports":5000}`, FieldListenerPorts, ErrWrongType},
		{`{"type":"publish_ok","request_id":1.0}`, FieldRequestID, ErrWrongType},
		{`{"type":"publish_ok","request_id":1e3}`, FieldRequestID, ErrWrongType},
		{`{"type":"publish_ok","request_id":-1}`, FieldRequestID, ErrWrongType},
		{`{"type":"publish_ok","request_id":-0}`, FieldRequestID, ErrWrongType},
		{`{"type":"publish_ok","request_id":"1"}`, FieldRequestID, ErrWrongType},
		{`{"type":"publish_ok","request_id":18446744073709551616}`, FieldRequestID, ErrWrongType},
		{`{"type":"publish_ok","request_id":` + strings.Repeat("9", 4000) + `}`, FieldRequestID, ErrWrongType},
		{`{"type":"publish_ok","request_id":null}`, FieldRequestID, ErrWrongType},
		{`{"type":"publish_ok","request_id":true}`, FieldRequestID, ErrWrongType},
		{`{"type":"publish",` + scope + `}`, FieldPayload, ErrMissingField},
		{`{"type":"publish",` + scope + `,"payload":[]}`, FieldPayload, ErrWrongType},
		{`{"type":"publish",` + scope + `,"payload":"","key":"a"}`, FieldKey, ErrBadBase64},
		{`{"type":"publish",` + scope + `,"payload":"","key":7}`, FieldKey, ErrWrongType},
		{`{"type":"publish",` + scope + `,"payload":"","key":"/w=="}`, FieldKey, ErrWrongType}, // Not UTF-8.
		{`{"type":"publish",` + scope + `,"payload":"","key":"` + strings.Repeat("YWFh", 21846) + `"}`, FieldKey, ErrWrongType},
		{`{"type":"publish",` + scope + `,"payload":"","ack":"always"}`, FieldAck, ErrWrongType},
		{`{"type":"publish",` + scope + `,"payload":"","ack":1}`, FieldAck, ErrWrongType},
		{`{"type":"publish_batch",` + scope + `,"payloads":"YQ=="}`, FieldPayloads, ErrWrongType},
		{`{"type":"publish_batch",` + scope + `,"payloads":["",null]}`, FieldPayloads, ErrWrongType},
		{`{"type":"publish_batch",` + scope + `,"payloads":[["YQ=="]]}`, FieldPayloads, ErrWrongType},
		{`{"type":"stream_shards_view","shards":1,"request_id":1,"routing":"modulo"}`, FieldRouting, ErrWrongType},
		{`{"type":"stream_shards_view","shards":1,"request_id":1,"routing":1}`, FieldRouting, ErrWrongType},
		{`{"type":"shard_owners","tenant_id":"t","namespace":"n","name":"x","kind":"group","request_id":1}`, FieldKind, ErrWrongType},
		{`{"type":"subscribe",` + scope + `,"start":"first"}`, FieldStart, ErrWrongType},
		{`{"type":"subscribe",` + scope + `,"start":7}`, FieldStart, ErrWrongType},
		{`{"type":"subscribe",` + scope + `,"start":{}}`, FieldStart, ErrWrongType},
		{`{"type":"subscribe",` + scope + `,"start":[]}`, FieldStart, ErrWrongType},
		{`{"type":"subscribe",` + scope + `,"start":{"offset":-1}}`, FieldStart, ErrWrongType},
		{`{"type":"subscribe",` + scope + `,"start":{"offset":1,"b":2}}`, FieldStart, ErrWrongType},
		{`{"type":"subscribe",` + scope + `,"start":{"latest":null}}`, FieldStart, ErrWrongType},
		{`{"type":"subscribe",` + scope + `,"shard":4294967296}`, FieldShard, ErrWrongType},
		{`{"type":"subscribe",` + scope + `,"queue_capacity":"9"}`, FieldQueueCapacity, ErrWrongType},
		{`{"type":"subscribe_cursor_error","reason":"gone","requested":1,"available":2}`, FieldReason, ErrWrongType},
		{`{"type":"cache_put",` + entry + `,"value":null}`, FieldValue, ErrWrongType},
		{`{"type":"cache_put",` + entry + `,"value":"","ttl_ms":1.5}`, FieldTTLMillis, ErrWrongType},
		{`{"type":"cache_put",` + entry + `,"value":"","ttl_ms":"1"}`, FieldTTLMillis, ErrWrongType},
		{`{"type":"cache_put",` + entry + `,"value":"","ttl_ms":-1}`, FieldTTLMillis, ErrWrongType},
		{`{"type":"cache_put",` + entry + `,"value":"","ttl_ms":false}`, FieldTTLMillis, ErrWrongType},
		{`{"type":"cache_value",` + entry + `}`, FieldValue, ErrMissingField},
		{`{"type":"cache_value",` + entry + `,"value":{}}`, FieldValue, ErrWrongType},
		{`{"type":"cache_put_if",` + entry + `,"value":"","condition":"present","request_id":1}`, FieldCondition, ErrWrongType},
		{`{"type":"cache_put_if",` + entry + `,"value":"","condition":{"version":"1"},"request_id":1}`, FieldCondition, ErrWrongType},
		{`{"type":"cache_put_if",` + entry + `,"value":"","condition":{"etag":1},"request_id":1}`, FieldCondition, ErrWrongType},
		{`{"type":"cache_put_if",` + entry + `,"value":"","condition":1,"request_id":1}`, FieldCondition, ErrWrongType},
		{`{"type":"cache_condition_result","applied":1,"request_id":1}`, FieldApplied, ErrWrongType},
		{`{"type":"counter_add",` + entry + `,"delta":9223372036854775808,"request_id":1}`, FieldDelta, ErrWrongType},
		{`{"type":"counter_add",` + entry + `,"delta":-9223372036854775809,"request_id":1}`, FieldDelta, ErrWrongType},
		{`{"type":"counter_add",` + entry + `,"delta":1.0,"request_id":1}`, FieldDelta, ErrWrongType},
		{`{"type":"error","message":"m","detail":"x"}`, FieldDetail, ErrWrongType},
		{`{"type":"error","message":"m","detail":{"reason":1}}`, FieldDetail, ErrWrongType},
		{`{"type":"error","message":"m","detail":{"retry_after_ms":-1}}`, FieldDetail, ErrWrongType},
		{`{"type":"error","message":"m","code":5}`, FieldCodeName, ErrWrongType},
		{`{"type":"publish_refused","request_id":1,"reason":"other","message":"m"}`, FieldReason, ErrWrongType},
		{`{"type":"publish_refused","request_id":1,"reason":{"other":{}},"message":"m"}`, FieldReason, ErrWrongType},
		{`{"type":"publish_refused","request_id":1,"reason":{"sequence_gap":5},"message":"m"}`, FieldReason, ErrWrongType},
		{`{"type":"publish_refused","request_id":1,"reason":{"sequence_gap":{}},"message":"m"}`, FieldReason, ErrMissingField},
		{`{"type":"publish_refused","request_id":1,"reason":{"not_leader":{}},"message":"m"}`, FieldReason, ErrMissingField},
		{`{"type":"publish_refused","request_id":1,"reason":{"not_leader":[]},"message":"m"}`, FieldReason, ErrWrongType},
		{`{"type":"shard_owners_view","owners":{},"request_id":1}`, FieldOwners, ErrWrongType},
		{`{"type":"shard_owners_view","owners":[1],"request_id":1}`, FieldOwners, ErrWrongType},
		{`{"type":"shard_owners_view","owners":[{"shard":0}],"request_id":1}`, FieldOwners, ErrMissingField},
		{`{"type":"shard_owners_view","owners":[{"generation":0}],"request_id":1}`, FieldOwners, ErrMissingField},
		{`{"type":"shard_owners_view","owners":[{"shard":0,"generation":0,"addr":1}],"request_id":1}`, FieldOwners, ErrWrongType},
		{`{"type":"topology_view","brokers":7}`, FieldBrokers, ErrWrongType},
		{`{"type":"topology_view","brokers":["b"]}`, FieldBrokers, ErrWrongType},
		{`{"type":"topology_view","brokers":[{"node_id":"b"}]}`, FieldBrokers, ErrMissingField},
		{`{"type":"topology_view","brokers":[{"node_id":"b","addr":null}]}`, FieldBrokers, ErrWrongType},
	}
	for _, c := range cases {
		m := new(Message)
		err := ParseMessage([]byte(c.text), m)
		if !errors.Is(err, c.err) || m.BadField != c.field || !IsMalformed(err) {
			t.Errorf("ParseMessage(%.120s): %v, field %s; want %v, %s", c.text, err, m.BadField, c.err, c.field)
		}
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

func TestNamesAgree(t *testing.T) {
	for typ := MsgUnknown + 1; typ < messageTypes; typ++ {
		if got := messageTypeOf([]byte(typ.String())); got != typ {
			t.Errorf("type %d is %q, which maps to %d", typ, typ, got)
		}
	}
	if MsgUnknown.String() != "unknown" || messageTypes.String() != "unknown" || messageTypeOf([]byte("unknown")) != MsgUnknown {
		t.Error("the unknown type has no wire name")
	}
	for f := Field(0); f < fieldCount; f++ {
		if got := fieldOf([]byte(f.String())); got != f {
			t.Errorf("field %d is %q, which maps to %d", f, f, got)
		}
	}
	if fieldCount.String() != "none" || fieldOf([]byte("none")) != fieldCount {
		t.Error("no field has a name")
	}
}

// The directions of wire protocol section 8, spelled out once more.
func TestFromClient(t *testing.T) {
	fromClient := strings.Fields(`auth extension publish publish_batch publish_width producer_init publish_idempotent
		publish_if subscribe cache_put cache_get cache_delete cache_put_if cache_delete_if cache_watch counter_add
		counter_get group_poll group_ack group_nack group_dead_letter group_extend group_dead_letters group_discard
		group_redrive group_seek group_describe group_delete commit state_get offset_for_time stream_read topology
		stream_shards cache_shards shard_owners shard_inspect subscriptions_list`)
	fromBroker := strings.Fields(`auth_ok ok error unsupported publish_ok publish_error producer_init_ok publish_refused
		subscribed subscribe_cursor_error event_stream_hello event event_batch shard_moved subscription_lagged
		stream_deleted cache_value cache_ok cache_condition_result cache_watch_started cache_event cache_watch_lagged
		counter_value group_records group_extended group_dead_letter_list group_position group_info group_deleted
		commit_ok state_value offset_value stream_records topology_view not_leader stream_shards_view cache_shards_view
		shard_owners_view shard_inspect_info subscriptions_list_info`)
	if n := len(fromClient) + len(fromBroker); n != int(messageTypes)-1 {
		t.Errorf("section 8 has %d types, this package %d", n, messageTypes-1)
	}
	for _, name := range fromClient {
		if typ := messageTypeOf([]byte(name)); typ == MsgUnknown || !typ.FromClient() {
			t.Errorf("%s is type %d, not from a client", name, typ)
		}
	}
	for _, name := range fromBroker {
		if typ := messageTypeOf([]byte(name)); typ == MsgUnknown || typ.FromClient() {
			t.Errorf("%s is type %d, not broker only", name, typ)
		}
	}
	if MsgUnknown.FromClient() {
		t.Error("an unknown type is handled apart")
	}
}
