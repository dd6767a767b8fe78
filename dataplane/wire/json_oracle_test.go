package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// The oracle decodes a message with encoding/json and the schema table, in the plainest way, and says what
// ParseMessage has to make of it. It differs from encoding/json in three rules on purpose: nesting is
// bounded, a lone surrogate in a text that is read is an error, and the payload must be UTF-8.

var (
	errOracleMalformed = fmt.Errorf("oracle: malformed")
	loneCandidate      = regexp.MustCompile(`\\u[dD][89a-fA-F]`)
)

// oracleMembers decodes the message object; of duplicates the last wins, as in encoding/json.
func oracleMembers(payload []byte) (map[string]json.RawMessage, error) {
	var members map[string]json.RawMessage
	if !utf8.Valid(payload) || json.Unmarshal(payload, &members) != nil || members == nil ||
		oracleDepth(payload) > maxDepth+1 {
		return nil, errOracleMalformed
	}
	return members, nil
}

func oracleDepth(payload []byte) int {
	dec := json.NewDecoder(bytes.NewReader(payload))
	dec.UseNumber() // A float64 would refuse 6E535, which is JSON.
	depth, deepest := 0, 0
	for {
		tok, err := dec.Token()
		if err == io.EOF {
			return deepest
		}
		if err != nil {
			return maxDepth + 2
		}
		switch tok {
		case json.Delim('['), json.Delim('{'):
			depth++
			deepest = max(deepest, depth)
		case json.Delim(']'), json.Delim('}'):
			depth--
		}
	}
}

type fataler interface {
	Fatalf(format string, args ...any)
}

// checkAgainstOracle parses payload and compares everything the oracle knows.
func checkAgainstOracle(t fataler, payload []byte, m *Message) {
	err := ParseMessage(payload, m)
	members, oracleErr := oracleMembers(payload)
	surrogates := loneCandidate.Match(payload)
	if err == ErrMalformedJSON && surrogates {
		return // Pairs are checked by table; whether one is lone the oracle cannot tell.
	}
	if (err == ErrMalformedJSON) != (oracleErr != nil) {
		t.Fatalf("ParseMessage(%q): %v; oracle: %v", payload, err, oracleErr)
	}
	if oracleErr != nil {
		return
	}
	var name *string
	rawType, ok := members["type"]
	switch {
	case !ok:
		if err != ErrMissingField {
			t.Fatalf("ParseMessage(%q) without a type: %v", payload, err)
		}
		return
	case json.Unmarshal(rawType, &name) != nil || name == nil:
		if err != ErrWrongType {
			t.Fatalf("ParseMessage(%q) with a type that is no text: %v", payload, err)
		}
		return
	}
	if string(m.RawType) != *name || m.Type != messageTypeOf([]byte(*name)) {
		t.Fatalf("ParseMessage(%q) is of type %q (%s)", payload, m.RawType, m.Type)
	}
	if m.Type == MsgUnknown {
		var id uint64
		raw, ok := members["request_id"]
		ok = ok && raw[0] != 'n' && json.Unmarshal(raw, &id) == nil
		if err != nil || m.Has(FieldRequestID) != ok || m.RequestID != id && ok {
			t.Fatalf("ParseMessage(%q): id %d, %v, %v; want %d, %v", payload, m.RequestID,
				m.Has(FieldRequestID), err, id, ok)
		}
		return
	}
	oracleRules(t, payload, m, members, err)
}

// oracleRules follows the rules in schema order, as the parser does, up to the first error.
func oracleRules(t fataler, payload []byte, m *Message, members map[string]json.RawMessage, err error) {
	for _, r := range schemas[m.Type] {
		raw, ok := members[r.field.String()]
		null := ok && string(raw) == "null"
		want := error(nil)
		switch {
		case !ok && r.need != optional:
			want = ErrMissingField
		case null && r.need == required:
			want = ErrWrongType
		case ok && !null:
			known, value := true, error(nil)
			if known, value = oracleValue(t, m, r, raw, err); !known {
				return // An object or list: tables and round trips cover those.
			}
			want = value
		}
		if want != nil {
			if err != want || m.BadField != r.field {
				t.Fatalf("ParseMessage(%q): %v, field %s; want %v, field %s", payload, err, m.BadField, want,
					r.field)
			}
			return
		}
		if err != nil && m.BadField == r.field {
			t.Fatalf("ParseMessage(%q): %v, field %s; the oracle accepts it", payload, err, r.field)
		}
		if err == nil && m.Has(r.field) != (ok && !null) {
			t.Fatalf("ParseMessage(%q): Has(%s) = %v", payload, r.field, m.Has(r.field))
		}
	}
	if err != nil {
		t.Fatalf("ParseMessage(%q): %v, field %s; the oracle accepts it", payload, err, m.BadField)
	}
}

// oracleValue decodes a scalar and, when the parse succeeded, compares it. known is false for shapes it
// leaves alone.
func oracleValue(t fataler, m *Message, r rule, raw json.RawMessage, err error) (known bool, want error) {
	switch r.shape {
	case shapeText, shapeBase64, shapeKey, shapeAck, shapeRouting, shapeKind, shapeCursorReason:
		var s string
		if json.Unmarshal(raw, &s) != nil {
			return true, ErrWrongType
		}
		return true, oracleText(t, m, r, s, err)
	case shapeU16, shapeU32, shapeU64:
		var v uint64
		limit := map[shape]uint64{shapeU16: 1<<16 - 1, shapeU32: 1<<32 - 1, shapeU64: 1<<64 - 1}[r.shape]
		if json.Unmarshal(raw, &v) != nil || v > limit {
			return true, ErrWrongType
		}
		if r.field == FieldRequestID && err == nil && m.RequestID != v || r.field == FieldTTLMillis &&
			err == nil && m.TTLMillis != v {
			t.Fatalf("%s is %s, parsed %d, %d", r.field, raw, m.RequestID, m.TTLMillis)
		}
		return true, nil
	case shapeI64:
		var v int64
		if json.Unmarshal(raw, &v) != nil {
			return true, ErrWrongType
		}
		if err == nil && m.Delta != v {
			t.Fatalf("delta is %s, parsed %d", raw, m.Delta)
		}
		return true, nil
	case shapeBool:
		var v bool
		if json.Unmarshal(raw, &v) != nil {
			return true, ErrWrongType
		}
		if err == nil && m.Applied != v {
			t.Fatalf("applied is %s, parsed %v", raw, m.Applied)
		}
		return true, nil
	case shapePayloads:
		var list []*string
		if json.Unmarshal(raw, &list) != nil {
			return true, ErrWrongType
		}
		for _, s := range list {
			if s == nil {
				return true, ErrWrongType
			}
		}
		if err == nil && m.PayloadCount != len(list) {
			t.Fatalf("payloads are %s, counted %d", raw, m.PayloadCount)
		}
		return true, nil
	}
	return false, nil
}

// oracleText checks a text against the set its shape allows, and the parsed text against the oracle's.
func oracleText(t fataler, m *Message, r rule, s string, err error) error {
	in := func(set ...string) error {
		for _, one := range set {
			if s == one {
				return nil
			}
		}
		return ErrWrongType
	}
	switch r.shape {
	case shapeAck:
		return in("none", "per_message", "per_batch")
	case shapeRouting:
		return in("jump_hash")
	case shapeKind:
		return in("stream", "cache")
	case shapeCursorReason:
		return in("too_old", "in_future")
	case shapeKey:
		key, decodeErr := base64.StdEncoding.Strict().DecodeString(s)
		if decodeErr != nil || strings.ContainsAny(s, "\r\n") {
			return ErrBadBase64
		}
		if !utf8.Valid(key) || len(key) > MaxNameBytes {
			return ErrWrongType
		}
		s = string(key)
	}
	if got := *m.textField(r.field); err == nil && string(got) != s {
		t.Fatalf("%s is %q, parsed %q", r.field, s, got)
	}
	return nil
}

func TestParseMessageAgainstEncodingJSON(t *testing.T) {
	var m Message // One for all messages, as a broker uses it.
	rapid.Check(t, func(t *rapid.T) {
		checkAgainstOracle(t, []byte(genMessage().Draw(t, "message")), &m)
	})
}

// Damage: a byte changed, removed or doubled anywhere in a message.
func TestParseMessageDamagedAgainstEncodingJSON(t *testing.T) {
	var m Message
	rapid.Check(t, func(t *rapid.T) {
		b := []byte(genMessage().Draw(t, "message"))
		i := rapid.IntRange(0, len(b)-1).Draw(t, "at")
		switch rapid.IntRange(0, 2).Draw(t, "damage") {
		case 0:
			b[i] = rapid.Byte().Draw(t, "byte")
		case 1:
			b = append(b[:i], b[i+1:]...)
		case 2:
			b = append(b[:i+1], b[i:]...)
		}
		checkAgainstOracle(t, b, &m)
	})
}

// Every rule of every schema: missing, null, and of each wrong JSON type.
func TestSchemas(t *testing.T) {
	wrong := map[shape][]string{
		shapeText: {"1", "[]", "{}", "true"}, shapeBase64: {"1", "[]", "{}", "true"}, shapeKey: {"1", "[]",
			"{}", "true"},
		shapeU16: {`"1"`, "1.5", "-1", "65536", "{}", "[]", "true"}, shapeU32: {`"1"`, "1.5", "-1",
			"4294967296", "{}"},
		shapeU64: {`"1"`, "1.5", "-1", "18446744073709551616", "{}"}, shapeI64: {`"1"`, "1.5",
			"9223372036854775808"},
		shapeBool: {"0", `"true"`, "[]"}, shapeAck: {`""`, "1"}, shapeRouting: {`"modulo"`,
			"1"}, shapeKind: {`"group"`, "1"},
		shapePayloads: {`"YQ=="`, "[1]", "[null]", "{}"}, shapePorts: {"1", "[-1]", `["1"]`, "[65536]", "{}"},
		shapeStart: {`""`, "1", "[]", "{}", `{"offset":-1}`, "true"}, shapeCondition: {`""`, "1", "[]", "{}",
			`{"version":-1}`},
		shapeDetail: {`""`, "1", "[]", `{"reason":1}`}, shapeRefused: {`""`, "1", "[]", "{}"},
		shapeCursorReason: {`""`, "1"}, shapeOwners: {`""`, "{}", "[1]"}, shapeBrokers: {`""`, "{}", "[1]"},
	}
	message := func(typ MessageType, changed Field, value string) string {
		members := []string{`"type":"` + typ.String() + `"`}
		for _, r := range schemas[typ] {
			v := goodValue(r).Example(1)
			if r.field == changed {
				if v = value; v == "" {
					continue
				}
			}
			members = append(members, `"`+r.field.String()+`":`+v)
		}
		return "{" + strings.Join(members, ",") + "}"
	}
	for typ := MsgUnknown + 1; typ < messageTypes; typ++ {
		if m := parse(t, message(typ, fieldCount, "")); m.Type != typ {
			t.Fatalf("%s was read as %s", typ, m.Type)
		}
		for _, r := range schemas[typ] {
			var m Message
			expect := func(value string, want error) {
				text := message(typ, r.field, value)
				err := ParseMessage([]byte(text), &m)
				if err != want || (err != nil && m.BadField != r.field) || m.Type != typ {
					t.Errorf("%s: %v, field %s; want %v, field %s", text, err, m.BadField, want, r.field)
				}
			}
			missing, null := ErrMissingField, ErrWrongType
			switch r.need {
			case optional:
				missing, null = nil, nil
			case nullable:
				null = nil
			}
			expect("", missing)
			expect("null", null)
			for _, value := range wrong[r.shape] {
				expect(value, ErrWrongType)
			}
		}
	}
}
