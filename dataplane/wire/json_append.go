package wire

import (
	"strconv"
	"unicode/utf8"
)

// JSON messages are written member by member: openMessage starts the frame and writes the type, the put
// functions add one member each, closeMessage ends object and frame. Names of members are ours and need no
// escaping.

func openMessage(dst []byte, t MessageType) ([]byte, int) {
	dst, start := openFrame(dst)
	dst = append(dst, `{"type":"`...)
	dst = append(dst, messageNames[t]...)
	return append(dst, '"'), start
}

func closeMessage(dst []byte, start int) []byte {
	return closeFrame(append(dst, '}'), start, 0)
}

// putName appends the comma, the name and the colon of a member.
func putName(dst []byte, name string) []byte {
	dst = append(dst, ',', '"')
	dst = append(dst, name...)
	return append(dst, '"', ':')
}

func putUint(dst []byte, name string, v uint64) []byte {
	return strconv.AppendUint(putName(dst, name), v, 10)
}

func putBool(dst []byte, name string, v bool) []byte {
	return strconv.AppendBool(putName(dst, name), v)
}

func putText[T bytestring](dst []byte, name string, s T) []byte {
	return appendQuoted(putName(dst, name), s)
}

func putBase64(dst []byte, name string, b []byte) []byte {
	dst = append(putName(dst, name), '"')
	return append(appendBase64(dst, b), '"')
}

const hexDigits = "0123456789abcdef"

// appendQuoted appends s as a JSON string. Quotes, backslashes and control characters are escaped, as are the
// two line separators that are no part of JavaScript strings; bytes that are not UTF-8 become U+FFFD, so that
// a frame is always readable.
func appendQuoted[T bytestring](dst []byte, s T) []byte {
	dst = append(dst, '"')
	plain := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c >= ' ' && c != '"' && c != '\\' {
				i++
				continue
			}
			dst = append(dst, s[plain:i]...)
			dst = appendEscape(dst, c)
			i++
			plain = i
			continue
		}
		r, n := decodeRune(s[i:min(i+utf8.UTFMax, len(s))])
		if (r == utf8.RuneError && n == 1) || r == '\u2028' || r == '\u2029' {
			dst = append(dst, s[plain:i]...)
			dst = append(dst, '\\', 'u')
			dst = append(dst, hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
			plain = i + n
		}
		i += n
	}
	dst = append(dst, s[plain:]...)
	return append(dst, '"')
}

// appendEscape appends the escape of one ASCII character.
func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

// decodeRune is utf8.DecodeRune for both kinds of text. s holds at most utf8.UTFMax bytes, so that the copy
// is one of a few bytes on the stack.
func decodeRune[T bytestring](s T) (rune, int) {
	var b [utf8.UTFMax]byte
	return utf8.DecodeRune(b[:copy(b[:], s)])
}
