package wire

import (
	"errors"
	"strings"
	"testing"
)

func TestParseMessageMalformed(t *testing.T) {
	deep := func(n int) string {
		return `{"x":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `,"type":"ok"}`
	}
	for _, text := range []string{
		"", " ", "null", "true", "7", `"ok"`, "[]", `["type","ok"]`, "{", "}", "{}{}", `{"type":"ok"}x`,
		`{"type":"ok"}{}`,
		`{"type":"ok"},`, `{"type":"ok",}`, `{,"type":"ok"}`, `{"type" "ok"}`, `{"type":}`,
		`{"type":"ok" "a":1}`, `{type:"ok"}`,
		`{'type':'ok'}`, `{"type":"ok","a":[1,]}`, `{"type":"ok","a":[,1]}`, `{"type":"ok","a":[1 2]}`,
		`{"type":"ok","a":[}`,
		`{"type":"ok","a":{]}`, `{"type":"ok","a":tru}`, `{"type":"ok","a":True}`, `{"type":"ok","a":nul}`,
		`{"type":"ok","a":NaN}`,
		`{"type":"ok","a":01}`, `{"type":"ok","a":-}`, `{"type":"ok","a":+1}`, `{"type":"ok","a":1.}`,
		`{"type":"ok","a":.5}`,
		`{"type":"ok","a":1e}`, `{"type":"ok","a":1e+}`, `{"type":"ok","a":0x1}`, `{"type":"ok","a":1_0}`,
		`{"type":"ok","a":-01}`,
		`{"type":"ok","a":"}`, `{"type":"ok","a":"\"}`, `{"type":"ok","a":"\x"}`, `{"type":"ok","a":"\u12"}`,
		`{"type":"ok","a":"\u12g4"}`,
		"{\"type\":\"ok\",\"a\":\"\n\"}", "{\"type\":\"ok\",\"a\":\"\x00\"}",
		"{\"type\":\"ok\",\"a\":\"1234567\x1f\"}",
		"{\"type\":\"ok\"\x00}", "\ufeff{\"type\":\"ok\"}", "{\"type\":\"ok\"/**/}",
		// Not UTF-8, also where nobody reads.
		"{\"type\":\"ok\",\"a\":\"\xff\"}", "{\"type\":\"ok\",\"\xc0\xaf\":1}",
		"{\"type\":\"ok\xed\xa0\x80\"}", "{\"type\":\"ok\"}\xff",
		// Lone surrogates in a name or in a text that is read.
		`{"type":"\ud800"}`, `{"type":"ok","\udc00":1}`, `{"type":"error","message":"\ud800x"}`,
		`{"type":"error","message":"\ud800\n"}`, `{"type":"error","message":"\ud800\ud800"}`,
		`{"type":"error","message":"\udc00\ud800"}`,
		`{"type":"error","message":"m","detail":{"\ud800":1}}`, `{"type":"error","message":"m","detail":{"reason":"\ud800"}}`,
		`{"type":"subscribe","tenant_id":"","namespace":"","stream":"","start":"\ud800"}`,
		`{"type":"subscribe","tenant_id":"","namespace":"","stream":"","start":{"\ud800":1}}`,
		`{"type":"cache_put_if","tenant_id":"","namespace":"","cache":"","key":"","request_id":1,"value":"","condition":"\ud800"}`,
		`{"type":"publish_refused","request_id":1,"reason":"\ud800","message":""}`,
		`{"type":"publish_refused","request_id":1,"reason":{"sequence_gap":{"\ud800":1}},"message":""}`,
		`{"type":"publish_refused","request_id":1,"reason":{"not_leader":{"\ud800":1}},"message":""}`,
		`{"type":"shard_owners_view","owners":[{"\ud800":1}],"request_id":1}`, `{"type":"ok","x":"\u1`, `{"type":"ok","x":"\`,
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
		{`{"type":"auth","tenant_id":"t","token":"x","client_features":4294967296}`,
			FieldClientFeatures, ErrWrongType},
		{`{"type":"auth","tenant_id":"t","token":"x","client_features_hi":-1}`,
			FieldClientFeaturesHi, ErrWrongType},
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
		{`{"type":"publish_ok","request_id":` + strings.Repeat("9", 4000) + `}`,
			FieldRequestID, ErrWrongType},
		{`{"type":"publish_ok","request_id":null}`, FieldRequestID, ErrWrongType},
		{`{"type":"publish_ok","request_id":true}`, FieldRequestID, ErrWrongType},
		{`{"type":"publish",` + scope + `}`, FieldPayload, ErrMissingField},
		{`{"type":"publish",` + scope + `,"payload":[]}`, FieldPayload, ErrWrongType},
		{`{"type":"publish",` + scope + `,"payload":"","key":"a"}`, FieldKey, ErrBadBase64},
		{`{"type":"publish",` + scope + `,"payload":"","key":7}`, FieldKey, ErrWrongType},
		{`{"type":"publish",` + scope + `,"payload":"","key":"/w=="}`, FieldKey, ErrWrongType}, // Not UTF-8.
		{`{"type":"publish",` + scope + `,"payload":"","key":"` + strings.Repeat("YWFh", 21846) + `"}`,
			FieldKey, ErrWrongType},
		{`{"type":"publish",` + scope + `,"payload":"","ack":"always"}`, FieldAck, ErrWrongType},
		{`{"type":"publish",` + scope + `,"payload":"","ack":1}`, FieldAck, ErrWrongType},
		{`{"type":"publish_batch",` + scope + `,"payloads":"YQ=="}`, FieldPayloads, ErrWrongType},
		{`{"type":"publish_batch",` + scope + `,"payloads":["",null]}`, FieldPayloads, ErrWrongType},
		{`{"type":"publish_batch",` + scope + `,"payloads":[["YQ=="]]}`, FieldPayloads, ErrWrongType},
		{`{"type":"stream_shards_view","shards":1,"request_id":1,"routing":"modulo"}`,
			FieldRouting, ErrWrongType},
		{`{"type":"stream_shards_view","shards":1,"request_id":1,"routing":1}`, FieldRouting, ErrWrongType},
		{`{"type":"shard_owners","tenant_id":"t","namespace":"n","name":"x","kind":"group","request_id":1}`,
			FieldKind, ErrWrongType},
		{`{"type":"subscribe",` + scope + `,"start":"first"}`, FieldStart, ErrWrongType},
		{`{"type":"subscribe",` + scope + `,"start":7}`, FieldStart, ErrWrongType},
		{`{"type":"subscribe",` + scope + `,"start":{}}`, FieldStart, ErrWrongType},
		{`{"type":"subscribe",` + scope + `,"start":[]}`, FieldStart, ErrWrongType},
		{`{"type":"subscribe",` + scope + `,"start":{"offset":-1}}`, FieldStart, ErrWrongType},
		{`{"type":"subscribe",` + scope + `,"start":{"offset":1,"b":2}}`, FieldStart, ErrWrongType},
		{`{"type":"subscribe",` + scope + `,"start":{"latest":null}}`, FieldStart, ErrWrongType},
		{`{"type":"subscribe",` + scope + `,"shard":4294967296}`, FieldShard, ErrWrongType},
		{`{"type":"subscribe",` + scope + `,"queue_capacity":"9"}`, FieldQueueCapacity, ErrWrongType},
		{`{"type":"subscribe_cursor_error","reason":"gone","requested":1,"available":2}`,
			FieldReason, ErrWrongType},
		{`{"type":"cache_put",` + entry + `,"value":null}`, FieldValue, ErrWrongType},
		{`{"type":"cache_put",` + entry + `,"value":"","ttl_ms":1.5}`, FieldTTLMillis, ErrWrongType},
		{`{"type":"cache_put",` + entry + `,"value":"","ttl_ms":"1"}`, FieldTTLMillis, ErrWrongType},
		{`{"type":"cache_put",` + entry + `,"value":"","ttl_ms":-1}`, FieldTTLMillis, ErrWrongType},
		{`{"type":"cache_put",` + entry + `,"value":"","ttl_ms":false}`, FieldTTLMillis, ErrWrongType},
		{`{"type":"cache_value",` + entry + `}`, FieldValue, ErrMissingField},
		{`{"type":"cache_value",` + entry + `,"value":{}}`, FieldValue, ErrWrongType},
		{`{"type":"cache_put_if",` + entry + `,"value":"","condition":"present","request_id":1}`,
			FieldCondition, ErrWrongType},
		{`{"type":"cache_put_if",` + entry + `,"value":"","condition":{"version":"1"},"request_id":1}`,
			FieldCondition, ErrWrongType},
		{`{"type":"cache_put_if",` + entry + `,"value":"","condition":{"etag":1},"request_id":1}`,
			FieldCondition, ErrWrongType},
		{`{"type":"cache_put_if",` + entry + `,"value":"","condition":1,"request_id":1}`,
			FieldCondition, ErrWrongType},
		{`{"type":"cache_condition_result","applied":1,"request_id":1}`, FieldApplied, ErrWrongType},
		{`{"type":"counter_add",` + entry + `,"delta":9223372036854775808,"request_id":1}`,
			FieldDelta, ErrWrongType},
		{`{"type":"counter_add",` + entry + `,"delta":-9223372036854775809,"request_id":1}`,
			FieldDelta, ErrWrongType},
		{`{"type":"counter_add",` + entry + `,"delta":1.0,"request_id":1}`, FieldDelta, ErrWrongType},
		{`{"type":"error","message":"m","detail":"x"}`, FieldDetail, ErrWrongType},
		{`{"type":"error","message":"m","detail":{"reason":1}}`, FieldDetail, ErrWrongType},
		{`{"type":"error","message":"m","detail":{"retry_after_ms":-1}}`, FieldDetail, ErrWrongType},
		{`{"type":"error","message":"m","code":5}`, FieldCodeName, ErrWrongType},
		{`{"type":"publish_refused","request_id":1,"reason":"other","message":"m"}`,
			FieldReason, ErrWrongType},
		{`{"type":"publish_refused","request_id":1,"reason":{"other":{}},"message":"m"}`,
			FieldReason, ErrWrongType},
		{`{"type":"publish_refused","request_id":1,"reason":{"sequence_gap":5},"message":"m"}`,
			FieldReason, ErrWrongType},
		{`{"type":"publish_refused","request_id":1,"reason":{"sequence_gap":{"expected":"5"}},"message":"m"}`,
			FieldReason, ErrWrongType},
		{`{"type":"publish_refused","request_id":1,"reason":{"sequence_gap":{}},"message":"m"}`,
			FieldReason, ErrMissingField},
		{`{"type":"publish_refused","request_id":1,"reason":{"not_leader":{}},"message":"m"}`,
			FieldReason, ErrMissingField},
		{`{"type":"publish_refused","request_id":1,"reason":{"not_leader":[]},"message":"m"}`,
			FieldReason, ErrWrongType},
		{`{"type":"shard_owners_view","owners":{},"request_id":1}`, FieldOwners, ErrWrongType},
		{`{"type":"shard_owners_view","owners":[1],"request_id":1}`, FieldOwners, ErrWrongType},
		{`{"type":"shard_owners_view","owners":[{"shard":0}],"request_id":1}`, FieldOwners, ErrMissingField},
		{`{"type":"shard_owners_view","owners":[{"generation":0}],"request_id":1}`,
			FieldOwners, ErrMissingField},
		{`{"type":"shard_owners_view","owners":[{"shard":0,"generation":0,"addr":1}],"request_id":1}`,
			FieldOwners, ErrWrongType},
		{`{"type":"topology_view","brokers":7}`, FieldBrokers, ErrWrongType},
		{`{"type":"topology_view","brokers":["b"]}`, FieldBrokers, ErrWrongType},
		{`{"type":"topology_view","brokers":[{"node_id":"b"}]}`, FieldBrokers, ErrMissingField},
		{`{"type":"topology_view","brokers":[{"node_id":"b","addr":null}]}`, FieldBrokers, ErrWrongType},
	}
	for _, c := range cases {
		m := new(Message)
		err := ParseMessage([]byte(c.text), m)
		if !errors.Is(err, c.err) || m.BadField != c.field || !IsMalformed(err) {
			t.Errorf("ParseMessage(%.120s): %v, field %s; want %v, %s", c.text, err, m.BadField, c.err,
				c.field)
		}
	}
}
