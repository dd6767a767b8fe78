package wire

import (
	"bytes"
	"encoding/base64"
	"slices"
)

// strictBase64 refuses non-zero bits behind the last byte; DecodeBase64 adds the line breaks that it would
// skip.
var strictBase64 = base64.StdEncoding.Strict()

// DecodeBase64 appends the bytes that src spells in standard base64 with padding (RFC 4648 section 4) and
// returns the longer slice. It is strict: no line breaks, no missing padding, no stray bits; anything else is
// ErrBadBase64 with dst unchanged. It allocates only when dst has less room than the decoded bytes need. src
// must not overlap dst.
//
//felix:hot
func DecodeBase64(dst, src []byte) ([]byte, error) {
	if len(src) == 0 {
		return dst, nil
	}
	if len(src)%4 != 0 || bytes.IndexByte(src, '\n') >= 0 || bytes.IndexByte(src, '\r') >= 0 {
		return dst, ErrBadBase64
	}
	size := base64Len(src)
	dst = slices.Grow(dst, size)
	out := dst[len(dst) : len(dst)+size]
	// The last four characters go through a buffer of their own: with padding the decoder may want room for
	// three bytes where only one or two are due.
	head := len(src) - 4
	n, err := strictBase64.Decode(out, src[:head])
	if err != nil || n != head/4*3 {
		return dst, ErrBadBase64
	}
	var tail [3]byte
	m, err := strictBase64.Decode(tail[:], src[head:])
	if err != nil || n+m != size {
		return dst, ErrBadBase64
	}
	copy(out[n:], tail[:m])
	return dst[:len(dst)+size], nil
}

// base64Len returns the number of bytes src decodes to if it is valid. REQUIRES len(src)%4 == 0.
func base64Len(src []byte) int {
	size := len(src) / 4 * 3
	if size > 0 && src[len(src)-1] == '=' {
		size--
		if src[len(src)-2] == '=' {
			size--
		}
	}
	return size
}

// appendBase64 appends b in standard base64 with padding.
func appendBase64(dst, b []byte) []byte { return base64.StdEncoding.AppendEncode(dst, b) }
