package wire

import "encoding/binary"

// Sizes of a frame (wire protocol sections 2.3, 4 and 17).
const (
	// HeaderLen is the size of a frame header in bytes.
	HeaderLen = 12
	// Magic starts every frame: the ASCII letters FLX1.
	Magic uint32 = 0x464C5831
	// Version is the only frame version; capabilities are negotiated instead of versioned.
	Version uint16 = 1
	// MaxFramePayload is the largest payload in bytes that a client reads and that a broker accepts by
	// default.
	MaxFramePayload = 16 << 20
	// PreauthMaxFramePayload is the largest payload in bytes on a stream that has not authenticated.
	PreauthMaxFramePayload = 64 << 10
	// MaxValueBytes is the largest cache value in bytes whose base64 form still fits a frame of
	// MaxFramePayload.
	MaxValueBytes = 12_580_000
	// MaxNameBytes is the longest name, key or text in bytes that a u16 length can carry.
	MaxNameBytes = 65_535
)

// Header is the decoded frame header:
//
//	offset 0  u32  magic    0x464C5831
//	       4  u16  version  1
//	       6  u16  flags
//	       8  u32  length   payload bytes after the header
type Header struct {
	// Flags says how the payload is laid out; 0 is a JSON message.
	Flags Flags
	// Length is the payload size in bytes. It is not checked against any limit here: limits depend on the
	// stream.
	Length uint32
}

// ParseHeader reads the first HeaderLen bytes of b and nothing behind them. It returns ErrShortHeader,
// ErrBadMagic or ErrBadVersion. Unknown flags are not an error of the header (wire protocol section 5).
//
//felix:hot
func ParseHeader(b []byte) (Header, error) {
	if len(b) < HeaderLen {
		return Header{}, ErrShortHeader
	}
	b = b[:HeaderLen:HeaderLen]
	if binary.BigEndian.Uint32(b) != Magic {
		return Header{}, ErrBadMagic
	}
	if binary.BigEndian.Uint16(b[4:]) != Version {
		return Header{}, ErrBadVersion
	}
	return Header{
		Flags:  Flags(binary.BigEndian.Uint16(b[6:])),
		Length: binary.BigEndian.Uint32(b[8:]),
	}, nil
}

// AppendHeader appends a header for a payload of length bytes. REQUIRES 0 <= length < 4 GiB.
//
//felix:hot
func AppendHeader(dst []byte, f Flags, length int) []byte {
	dst = append(dst, 'F', 'L', 'X', '1', 0, byte(Version))
	dst = binary.BigEndian.AppendUint16(dst, uint16(f))
	return binary.BigEndian.AppendUint32(dst, uint32(length))
}

// PutHeader writes a header over the first HeaderLen bytes of dst. REQUIRES len(dst) >= HeaderLen.
//
//felix:hot
func PutHeader(dst []byte, f Flags, length int) {
	dst = dst[:HeaderLen]
	binary.BigEndian.PutUint32(dst, Magic)
	binary.BigEndian.PutUint16(dst[4:], Version)
	binary.BigEndian.PutUint16(dst[6:], uint16(f))
	binary.BigEndian.PutUint32(dst[8:], uint32(length))
}

// openFrame appends an empty header and returns where it starts; closeFrame fills it in once the payload is
// written.
func openFrame(dst []byte) ([]byte, int) {
	return append(dst, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), len(dst)
}

// closeFrame writes the header of the frame that openFrame began at start and that ends with dst.
func closeFrame(dst []byte, start int, f Flags) []byte {
	PutHeader(dst[start:], f, len(dst)-start-HeaderLen)
	return dst
}
