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

// The oracle decodes a message with encoding/json and the schema table, in the plainest way, and says what ParseMessage
// has to make of it. It differs from encoding/json in three rules on purpose: nesting is bounded, a lone surrogate in a
// text that is read is an error, and the payload must be UTF-8.

var (
	errOracleMalformed = fmt.Errorf("oracle: malformed")
	loneCandidate      = regexp.MustCompile(`\\u[dD][89a-fA-F]`)
)

// oracleMembers decodes the message object; of duplicates the last wins, as in encoding/json.
func oracleMembers(payload []byte) (map[string]json.RawMessage, error) {
	var members map[string]json.RawMessage
	if !utf8.Valid(payload) || json.Unmarshal(payload, &members) != nil || members == nil || oracleDepth(payload) > maxDepth+1 {
		return nil, errOracleMalformed
	}
	return members, nil
}

func oracleDepth(payload []byte) int {
	dec := json.NewDecoder(bytes.NewReader(payload))
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
			t.Fatalf("ParseMessage(%q): id %d, %v, %v; want %d, %v", payload, m.RequestID, m.Has(FieldRequestID), err, id, ok)
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
				t.Fatalf("ParseMessage(%q): %v, field %s; want %v, field %s", payload, err, m.BadField, want, r.field)
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

// oracleValue decodes a scalar and, when the parse succeeded, compares it. known is false for shapes it leaves alone.
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
		if r.field == FieldRequestID && err == nil && m.RequestID != v || r.field == FieldTTLMillis && err == nil && m.TTLMillis != v {
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

// genValue draws JSON text of any kind, valid or, now and then, nearly so.
func genValue(depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		kinds := 9
		if depth > 0 {
			kinds = 12
		}
		switch rapid.IntRange(0, kinds).Draw(t, "kind") {
		case 0:
			return "null"
		case 1:
			return rapid.SampledFrom([]string{"true", "false"}).Draw(t, "bool")
		case 2:
			return fmt.Sprint(rapid.Uint64().Draw(t, "u64"))
		case 3:
			return fmt.Sprint(rapid.Int64().Draw(t, "i64"))
		case 4:
			return rapid.SampledFrom([]string{"0", "-0", "1.0", "1e3", "-1", "65535", "65536", "4294967295", "4294967296",
				"18446744073709551615", "18446744073709551616", "9223372036854775807", "-9223372036854775808",
				"99999999999999999999999", "1E+2", "01", "1.", "-"}).Draw(t, "number")
		case 5:
			return rapid.SampledFrom([]string{`"none"`, `"per_batch"`, `"jump_hash"`, `"stream"`, `"latest"`, `"absent"`,
				`"YQ=="`, `"YQ"`, `"/w=="`, `"\n"`, `"\ud83d\ude00"`, `"too_old"`, `{"offset":1}`, `["YQ==",""]`, `[null]`,
				`{"version":3}`}).Draw(t, "word")
		case 10:
			return "[" + strings.Join(rapid.SliceOfN(genValue(depth-1), 0, 3).Draw(t, "array"), " ,") + "]"
		case 11, 12:
			var b strings.Builder
			for i, v := range rapid.SliceOfN(genValue(depth-1), 0, 3).Draw(t, "object") {
				if i > 0 {
					b.WriteByte(',')
				}
				b.WriteString(genText().Draw(t, "name") + ":" + v)
			}
			return "{" + b.String() + "}"
		}
		return genText().Draw(t, "text")
	})
}

// genText draws a JSON string with every way of spelling characters.
func genText() *rapid.Generator[string] {
	piece := rapid.SampledFrom([]string{"a", "type", "é", "😀", "\u2028", `\"`, `\\`, `\/`, `\b`, `\n`, `\u0000`, `\u0041`,
		`\u00E9`, `\uFFFF`, `\ud83d\ude00`, "plain text of some length", "\x7f", "YQ==", " "})
	return rapid.Custom(func(t *rapid.T) string {
		return `"` + strings.Join(rapid.SliceOfN(piece, 0, 6).Draw(t, "pieces"), "") + `"`
	})
}

// genMessage draws a message of a random type with its own members, others, duplicates and nonsense, in any order.
func genMessage() *rapid.Generator[string] {
	space := rapid.SampledFrom([]string{"", "", "", " ", "\n\t"})
	return rapid.Custom(func(t *rapid.T) string {
		typ := MessageType(rapid.IntRange(0, int(messageTypes)-1).Draw(t, "type"))
		members := []string{`"type":"` + typ.String() + `"`}
		for _, r := range schemas[typ] {
			name := `"` + r.field.String() + `"`
			switch rapid.IntRange(0, 20).Draw(t, "spelling") {
			case 0:
				continue
			case 1:
				name = fmt.Sprintf(`"\u%04x%s`, name[1], name[2:])
			}
			value := goodValue(r).Draw(t, "good")
			if rapid.IntRange(0, 9).Draw(t, "odd") == 0 {
				value = genValue(2).Draw(t, "value")
			}
			members = append(members, name+space.Draw(t, "space")+":"+value)
		}
		for range rapid.IntRange(0, 2).Draw(t, "extra") {
			f := Field(rapid.IntRange(0, int(fieldCount)).Draw(t, "field"))
			members = append(members, `"`+f.String()+`":`+genValue(3).Draw(t, "value"))
		}
		members = rapid.Permutation(members).Draw(t, "order")
		return "{" + strings.Join(members, space.Draw(t, "space")+","+space.Draw(t, "space")) + "}" + space.Draw(t, "space")
	})
}

// goodValue draws a value that the rule accepts.
func goodValue(r rule) *rapid.Generator[string] {
	switch r.shape {
	case shapeText:
		return genText()
	case shapeBase64, shapeKey:
		return rapid.Map(rapid.StringN(0, 9, -1), func(s string) string {
			return `"` + base64.StdEncoding.EncodeToString([]byte(s)) + `"`
		})
	case shapeU16:
		return rapid.Map(rapid.Uint16(), func(v uint16) string { return fmt.Sprint(v) })
	case shapeU32:
		return rapid.Map(rapid.Uint32(), func(v uint32) string { return fmt.Sprint(v) })
	case shapeU64:
		return rapid.Map(rapid.Uint64(), func(v uint64) string { return fmt.Sprint(v) })
	case shapeI64:
		return rapid.Map(rapid.Int64(), func(v int64) string { return fmt.Sprint(v) })
	case shapeBool:
		return rapid.SampledFrom([]string{"true", "false"})
	}
	return rapid.SampledFrom(map[shape][]string{
		shapeAck:          {`"none"`, `"per_message"`, `"per_\u0062atch"`},
		shapeRouting:      {`"jump_hash"`},
		shapeKind:         {`"stream"`, `"cache"`},
		shapeCursorReason: {`"too_old"`, `"in_future"`},
		shapePayloads:     {`[]`, `["YQ=="]`, `["", "+\/+\/" ]`},
		shapePorts:        {`[]`, `[1,65535]`},
		shapeStart:        {`"latest"`, `"earliest"`, `{"offset":7}`},
		shapeCondition:    {`"absent"`, `{"version":7}`},
		shapeDetail:       {`{}`, `{"reason":"moving","retry_after_ms":250}`},
		shapeRefused:      {`"sequence_reused"`, `{"sequence_gap":{"expected":1}}`, `{"not_leader":{"node_id":"b"}}`},
		shapeOwners:       {`[]`, `[{"shard":1,"generation":2}]`},
		shapeBrokers:      {`[]`, `[{"node_id":"b","addr":"h:1"}]`},
	}[r.shape])
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
		shapeText: {"1", "[]", "{}", "true"}, shapeBase64: {"1", "[]", "{}", "true"}, shapeKey: {"1", "[]", "{}", "true"},
		shapeU16: {`"1"`, "1.5", "-1", "65536", "{}", "[]", "true"}, shapeU32: {`"1"`, "1.5", "-1", "4294967296", "{}"},
		shapeU64: {`"1"`, "1.5", "-1", "18446744073709551616", "{}"}, shapeI64: {`"1"`, "1.5", "9223372036854775808"},
		shapeBool: {"0", `"true"`, "[]"}, shapeAck: {`""`, "1"}, shapeRouting: {`"modulo"`, "1"}, shapeKind: {`"group"`, "1"},
		shapePayloads: {`"YQ=="`, "[1]", "[null]", "{}"}, shapePorts: {"1", "[-1]", `["1"]`, "[65536]", "{}"},
		shapeStart: {`""`, "1", "[]", "{}", `{"offset":-1}`, "true"}, shapeCondition: {`""`, "1", "[]", "{}", `{"version":-1}`},
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
