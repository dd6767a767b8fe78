package wire

import (
	"encoding/base64"
	"fmt"
	"strings"

	"pgregory.net/rapid"
)

// Generators of JSON text for the comparison with the oracle: mostly right, sometimes odd, now and then broken.

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
			return rapid.SampledFrom([]string{"0", "-0", "1.0", "1e3", "-1", "65535", "65536", "4294967295",
				"4294967296",
				"18446744073709551615", "18446744073709551616", "9223372036854775807", "-9223372036854775808",
				"99999999999999999999999", "1E+2", "01", "1.", "-"}).Draw(t, "number")
		case 5:
			return rapid.SampledFrom([]string{`"none"`, `"per_batch"`, `"jump_hash"`, `"stream"`, `"latest"`,
				`"absent"`,
				`"YQ=="`, `"YQ"`, `"/w=="`, `"\n"`, `"\ud83d\ude00"`, `"too_old"`, `{"offset":1}`,
				`["YQ==",""]`, `[null]`,
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
	piece := rapid.SampledFrom([]string{"a", "type", "é", "😀", "\u2028", `\"`, `\\`, `\/`, `\b`, `\n`,
		`\u0000`, `\u0041`,
		`\u00E9`, `\uFFFF`, `\ud83d\ude00`, "plain text of some length", "\x7f", "YQ==", " "})
	return rapid.Custom(func(t *rapid.T) string {
		return `"` + strings.Join(rapid.SliceOfN(piece, 0, 6).Draw(t, "pieces"), "") + `"`
	})
}

// genMessage draws a message of a random type with its own members, others, duplicates and nonsense, in any
// order.
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
		return "{" + strings.Join(members, space.Draw(t, "space")+","+space.Draw(t,
			"space")) + "}" + space.Draw(t, "space")
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
		shapeRefused: {`"sequence_reused"`, `{"sequence_gap":{"expected":1}}`,
			`{"not_leader":{"node_id":"b"}}`},
		shapeOwners:  {`[]`, `[{"shard":1,"generation":2}]`},
		shapeBrokers: {`[]`, `[{"node_id":"b","addr":"h:1"}]`},
	}[r.shape])
}
