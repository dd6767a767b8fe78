package wire

import (
	"encoding/binary"
	"unicode/utf8"
)

// The take functions cut one field off the front of b. They inline, allocate nothing and never read past b;
// ok is false when b is too short, and rest is then nil.

func takeU8(b []byte) (v uint8, rest []byte, ok bool) {
	if len(b) < 1 {
		return 0, nil, false
	}
	return b[0], b[1:], true
}

func takeU16(b []byte) (v uint16, rest []byte, ok bool) {
	if len(b) < 2 {
		return 0, nil, false
	}
	return binary.BigEndian.Uint16(b), b[2:], true
}

func takeU32(b []byte) (v uint32, rest []byte, ok bool) {
	if len(b) < 4 {
		return 0, nil, false
	}
	return binary.BigEndian.Uint32(b), b[4:], true
}

func takeU64(b []byte) (v uint64, rest []byte, ok bool) {
	if len(b) < 8 {
		return 0, nil, false
	}
	return binary.BigEndian.Uint64(b), b[8:], true
}

// takeText cuts a u16 length and that many bytes of UTF-8.
func takeText(b []byte) (text, rest []byte, err error) {
	if len(b) < 2 {
		return nil, nil, ErrTruncated
	}
	n := int(binary.BigEndian.Uint16(b))
	b = b[2:]
	if n > len(b) {
		return nil, nil, ErrTruncated
	}
	if !utf8.Valid(b[:n]) {
		return nil, nil, ErrNotUTF8
	}
	return b[:n:n], b[n:], nil
}

// takeLongText cuts a u32 length and that many bytes of UTF-8.
func takeLongText(b []byte) (text, rest []byte, err error) {
	text, rest, ok := NextRecord(b)
	if !ok {
		return nil, nil, ErrTruncated
	}
	if !utf8.Valid(text) {
		return nil, nil, ErrNotUTF8
	}
	return text, rest, nil
}

// bytestring is what the encoders take names and texts as: the broker echoes views, the client holds strings.
type bytestring interface{ ~string | ~[]byte }

// appendText appends a u16 length and s. REQUIRES len(s) <= MaxNameBytes.
func appendText[T bytestring](dst []byte, s T) []byte {
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(s)))
	return append(dst, s...)
}

// clipText cuts a text for people down to what a u16 length can carry, never inside a character.
func clipText(s string) string {
	if len(s) <= MaxNameBytes {
		return s
	}
	n := MaxNameBytes
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
