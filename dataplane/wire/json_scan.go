package wire

import (
	"encoding/binary"
	"math/bits"
)

// The scanner checks JSON text (RFC 8259) and cuts it into tokens without copying anything. It is strict
// about the grammar: no trailing commas, no leading zeros, no raw control characters in strings, no unknown
// escapes. UTF-8 is checked once for the whole payload before it runs, surrogate escapes only where a string
// is used.

// maxDepth is how many arrays and objects may be open inside the message object. Members that no schema reads
// are skipped, but skipping costs stack, so the depth is bounded.
const maxDepth = 32

// tokenKind is the JSON type of a token; integers are told apart from other numbers because only they are
// ever used.
type tokenKind uint8

const (
	tokenNone tokenKind = iota
	tokenNull
	tokenTrue
	tokenFalse
	tokenInteger
	tokenNumber
	tokenString
	tokenArray
	tokenObject
)

// token is a value of the payload: payload[start:end], for strings without the quotes.
type token struct {
	start, end uint32
	kind       tokenKind
	escaped    bool // a string that holds at least one escape
}

func (t token) of(b []byte) []byte { return b[t.start:t.end:t.end] }

// skipSpace returns the first position at or after i that is no JSON white space.
func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// scanValue reads the value that starts at i and returns the position behind it; ok is false where there is
// none. depth counts the arrays and objects around it.
func scanValue(b []byte, i, depth int) (t token, next int, ok bool) {
	if i >= len(b) {
		return token{}, i, false
	}
	switch c := b[i]; {
	case c == '"':
		return scanString(b, i)
	case c == '{':
		it := members{b: b, i: i + 1, depth: depth + 1}
		var key, val token
		for it.next(&key, &val) {
		}
		return token{start: uint32(i), end: uint32(it.i), kind: tokenObject}, it.i, !it.failed
	case c == '[':
		it := elements{b: b, i: i + 1, depth: depth + 1}
		var val token
		for it.next(&val) {
		}
		return token{start: uint32(i), end: uint32(it.i), kind: tokenArray}, it.i, !it.failed
	case c == '-' || isDigit(c):
		return scanNumber(b, i)
	case c == 't':
		return scanLiteral(b, i, "true", tokenTrue)
	case c == 'f':
		return scanLiteral(b, i, "false", tokenFalse)
	case c == 'n':
		return scanLiteral(b, i, "null", tokenNull)
	}
	return token{}, i, false
}

func scanLiteral(b []byte, i int, word string, kind tokenKind) (t token, next int, ok bool) {
	end := i + len(word)
	if end > len(b) || string(b[i:end]) != word {
		return token{}, i, false
	}
	return token{start: uint32(i), end: uint32(end), kind: kind}, end, true
}

// scanString reads the string whose opening quote is at i.
func scanString(b []byte, i int) (t token, next int, ok bool) {
	i++
	t = token{start: uint32(i), kind: tokenString}
	for {
		i = plainEnd(b, i)
		if i >= len(b) {
			return t, i, false
		}
		switch b[i] {
		case '"':
			t.end = uint32(i)
			return t, i + 1, true
		case '\\':
			t.escaped = true
			n := escapeLen(b[i:])
			if n == 0 {
				return t, i, false
			}
			i += n
		default: // A raw control character.
			return t, i, false
		}
	}
}

// plainEnd returns the first position at or after i that holds a quote, a backslash or a control character.
// Base64 values are long and plain, so it looks at eight bytes at a time. In each mask the lowest bit set is
// exact; only bits above it can be wrong, because a borrow runs upwards.
func plainEnd(b []byte, i int) int {
	const (
		ones   = 0x0101010101010101
		highs  = 0x8080808080808080
		quotes = ones * '"'
		slash  = ones * '\\'
		space  = ones * ' '
	)
	for ; len(b)-i >= 8; i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		q, s := x^quotes, x^slash
		hit := ((q-ones)&^q | (s-ones)&^s | (x-space)&^x) & highs
		if hit != 0 {
			return i + bits.TrailingZeros64(hit)/8
		}
	}
	for i < len(b) && b[i] != '"' && b[i] != '\\' && b[i] >= ' ' {
		i++
	}
	return i
}

// escapeLen returns the length of the escape at the start of b, 0 if it is none that JSON knows.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if _, ok := hex4(b[2:]); ok {
			return 6
		}
	}
	return 0
}

// scanNumber reads a number. Digits, fraction and exponent follow the grammar exactly.
func scanNumber(b []byte, i int) (t token, next int, ok bool) {
	t = token{start: uint32(i), kind: tokenInteger}
	if b[i] == '-' {
		i++
	}
	digits := skipDigits(b, i)
	if digits == i || (b[i] == '0' && digits > i+1) {
		return t, i, false
	}
	i = digits
	if i < len(b) && b[i] == '.' {
		t.kind = tokenNumber
		if digits = skipDigits(b, i+1); digits == i+1 {
			return t, i, false
		}
		i = digits
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		t.kind = tokenNumber
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		if digits = skipDigits(b, i); digits == i {
			return t, i, false
		}
		i = digits
	}
	t.end = uint32(i)
	return t, i, true
}

func skipDigits(b []byte, i int) int {
	for i < len(b) && isDigit(b[i]) {
		i++
	}
	return i
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// members walks an object. i starts behind the opening brace and ends behind the closing one; failed says
// that the text is no object or nests deeper than maxDepth.
type members struct {
	b       []byte
	i       int
	depth   int
	started bool
	failed  bool
}

// next reads one member into key and val; false at the end of the object and after a failure.
func (it *members) next(key, val *token) bool {
	if it.depth > maxDepth {
		it.failed = true
		return false
	}
	b := it.b
	i := skipSpace(b, it.i)
	if i < len(b) && b[i] == '}' {
		it.i = i + 1
		return false
	}
	if it.started {
		if i >= len(b) || b[i] != ',' {
			return it.fail()
		}
		i = skipSpace(b, i+1)
	}
	it.started = true
	if i >= len(b) || b[i] != '"' {
		return it.fail()
	}
	var ok bool
	if *key, i, ok = scanString(b, i); !ok {
		return it.fail()
	}
	i = skipSpace(b, i)
	if i >= len(b) || b[i] != ':' {
		return it.fail()
	}
	*val, it.i, ok = scanValue(b, skipSpace(b, i+1), it.depth)
	return ok || it.fail()
}

func (it *members) fail() bool {
	it.failed = true
	return false
}

// elements walks an array the way members walks an object.
type elements struct {
	b       []byte
	i       int
	depth   int
	started bool
	failed  bool
}

// next reads one element into val; false at the end of the array and after a failure.
func (it *elements) next(val *token) bool {
	if it.depth > maxDepth {
		it.failed = true
		return false
	}
	b := it.b
	i := skipSpace(b, it.i)
	if i < len(b) && b[i] == ']' {
		it.i = i + 1
		return false
	}
	if it.started {
		if i >= len(b) || b[i] != ',' {
			it.failed = true
			return false
		}
		i = skipSpace(b, i+1)
	}
	it.started = true
	var ok bool
	*val, it.i, ok = scanValue(b, i, it.depth)
	it.failed = !ok
	return ok
}
