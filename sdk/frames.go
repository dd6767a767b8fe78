package felix

import (
	"bufio"
	"io"

	"github.com/felix-go/felix/dataplane/wire"
)

// frameReader reads whole frames. The payload of small frames is valid until the next call; fresh gives it memory of its own.
type frameReader struct {
	in  *bufio.Reader
	buf []byte
}

func newFrameReader(r io.Reader, size int) *frameReader {
	return &frameReader{in: bufio.NewReaderSize(r, size)}
}

// next returns one frame. fresh asks for a payload that nobody else will use.
func (r *frameReader) next(fresh bool) (wire.Flags, []byte, error) {
	head, err := r.in.Peek(wire.HeaderLen)
	if err != nil {
		if err == io.EOF && len(head) > 0 {
			err = io.ErrUnexpectedEOF
		}
		return 0, nil, err
	}
	h, err := wire.ParseHeader(head)
	if err != nil {
		return 0, nil, err
	}
	r.in.Discard(wire.HeaderLen)
	n := int(h.Length)
	if n > wire.MaxFramePayload {
		return 0, nil, wire.ErrFrameTooLarge
	}
	// Memory grows with what arrives, not with what the header says.
	payload := r.buf[:0]
	if fresh {
		payload = nil
	}
	const step = 256 << 10
	for len(payload) < n {
		at := len(payload)
		want := min(n-at, step)
		if cap(payload)-at < want {
			grown := make([]byte, at, max(at+want, min(2*at, n)))
			copy(grown, payload)
			payload = grown
		}
		payload = payload[:at+want]
		if _, err := io.ReadFull(r.in, payload[at:]); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return 0, nil, err
		}
	}
	if !fresh {
		r.buf = payload
		if cap(r.buf) > 64<<10 {
			r.buf = nil
		}
	}
	return h.Flags, payload, nil
}
