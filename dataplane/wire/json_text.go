package wire

import "unicode/utf8"

// hex4 reads four hexadecimal digits.
func hex4(b []byte) (v rune, ok bool) {
	if len(b) < 4 {
		return 0, false
	}
	for _, c := range b[:4] {
		switch {
		case isDigit(c):
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		v = v<<4 | rune(c)
	}
	return v, true
}

// appendUnescaped appends the text of a string token that holds escapes. It is false for a surrogate without
// its partner: such a string names no text, and two of them could not be told apart once replaced.
func appendUnescaped(dst, raw []byte) ([]byte, bool) {
	for i := 0; i < len(raw); {
		if raw[i] != '\\' {
			end := plainEnd(raw, i)
			dst = append(dst, raw[i:end]...)
			i = end
			continue
		}
		if raw[i+1] != 'u' {
			dst = append(dst, unescape(raw[i+1]))
			i += 2
			continue
		}
		r, n := unescapeRune(raw[i:])
		if n == 0 {
			return dst, false
		}
		dst = utf8.AppendRune(dst, r)
		i += n
	}
	return dst, true
}

// unescape returns the character that a two-character escape stands for.
func unescape(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c // The quote, the backslash and the slash.
}

// unescapeRune reads the \u escape at the start of b, or the two that form a surrogate pair, and returns how
// many bytes it took; 0 for a lone surrogate.
func unescapeRune(b []byte) (r rune, n int) {
	r, _ = hex4(b[2:])
	if r < 0xD800 || r > 0xDFFF {
		return r, 6
	}
	if r > 0xDBFF || len(b) < 12 || b[6] != '\\' || b[7] != 'u' {
		return 0, 0
	}
	low, _ := hex4(b[8:])
	if low < 0xDC00 || low > 0xDFFF {
		return 0, 0
	}
	return 0x10000 + (r-0xD800)<<10 + (low - 0xDC00), 12
}

// parseUint reads an integer token as an unsigned number of at most limit; false for a sign or a larger one.
func parseUint(b []byte, limit uint64) (v uint64, ok bool) {
	for _, c := range b {
		d := uint64(c - '0')
		if d > 9 || v > (limit-d)/10 {
			return 0, false
		}
		v = v*10 + d
	}
	return v, true
}

// parseInt reads an integer token as a signed 64-bit number.
func parseInt(b []byte) (v int64, ok bool) {
	if b[0] != '-' {
		u, ok := parseUint(b, 1<<63-1)
		return int64(u), ok
	}
	u, ok := parseUint(b[1:], 1<<63)
	return -int64(u), ok
}
