package ingress

import (
	"errors"
	"io"

	"github.com/felix-go/felix/dataplane/arena"
	"github.com/felix-go/felix/dataplane/fanout"
	"github.com/felix-go/felix/dataplane/wire"
)

const (
	idleBufferBytes = 512      // kept inside the reader of an idle stream
	readBufferBytes = 16 << 10 // acquired while a stream is busy
	firstGrowBytes  = 64 << 10 // first block of a frame that does not fit the read buffer
	strangerBytes   = 1 << 10  // the same before the login
)

var (
	errFrameTooLarge = errors.New("ingress: frame larger than the limit")
	errDraining      = errors.New("ingress: broker is draining")
	errNoLogin       = errors.New("ingress: connection used up what it may send before a login")
	errFrameBudget   = errors.New("ingress: stream ended while waiting for frame bytes")
)

// source is the receive half of a stream, as far as the reader needs it.
type source interface {
	Read(p []byte) (int, error)
}

// frameReader cuts a byte stream into frames.
//
// What it must not do is hold memory for what a peer merely declares, or for streams that are idle: a client keeps dozens of
// streams open and uses a few. So an idle reader owns 512 bytes; when a read fills them it takes a 16 KiB block and keeps it
// while reads stay larger than the idle buffer. Frames that fit are handed out in place. A larger frame gets a block of its
// own that starts at 64 KiB and doubles as bytes really arrive; it is laid out with fanout.Headroom in front, so that a
// publish goes on in that block without another copy.
//
// Before the login (stranger) a reader never takes the 16 KiB block: what it holds is at most twice what has arrived.
//
// Owned by the stream's reader goroutine.
type frameReader struct {
	src   source
	arena *arena.Arena
	// grow is asked for the declared length of a frame that does not fit the read buffer, before its block exists; it
	// blocks until the connection's byte budget has room (false: the stream ended meanwhile).
	grow func(n int) bool

	small [idleBufferBytes]byte
	block arena.Ref // the busy buffer; none while idle
	buf   []byte    // small or block
	r, w  int       // buf[r:w] has not been handed out
	hot   bool      // the last fill was larger than the idle buffer
	limit int       // largest payload now

	stranger bool // nobody has logged in on this stream

	lastFlags wire.Flags // of the frame being read
	inFrame   bool       // a header has been read and its payload not yet
}

// frame is one frame: its payload is valid until the next call. own is set when the payload lies in a block of its own, at
// own.Bytes()[fanout.Headroom:]; it then belongs to the caller.
type frame struct {
	flags   wire.Flags
	payload []byte
	own     arena.Ref
}

func (f *frameReader) init(src source, a *arena.Arena, limit int, grow func(int) bool) {
	f.src, f.arena, f.limit, f.grow = src, a, limit, grow
	f.buf, f.stranger = f.small[:], true
}

// buffered reports whether more bytes are at hand without reading: the writer's hint that more answers may join its write.
func (f *frameReader) buffered() int { return f.w - f.r }

// next returns the next frame. io.EOF means the peer finished between frames; io.ErrUnexpectedEOF inside one.
// errFrameTooLarge leaves f.r at the payload, so that the caller can still look at its first bytes with head.
//
//felix:hot
func (f *frameReader) next(out *frame) error {
	for f.w-f.r < wire.HeaderLen {
		if err := f.fill(); err != nil {
			if err == io.EOF && f.w > f.r {
				return io.ErrUnexpectedEOF
			}
			return err
		}
	}
	h, err := wire.ParseHeader(f.buf[f.r:f.w])
	if err != nil {
		return err
	}
	f.r += wire.HeaderLen
	n := int(h.Length)
	out.flags, out.own = h.Flags, arena.Ref{}
	f.lastFlags, f.inFrame = h.Flags, true
	if n > f.limit {
		return errFrameTooLarge
	}
	if n > readBufferBytes-wire.HeaderLen || f.stranger && n > idleBufferBytes-wire.HeaderLen {
		return f.nextLarge(n, out)
	}
	for f.w-f.r < n {
		if err := f.fill(); err != nil {
			if err == io.EOF {
				return io.ErrUnexpectedEOF
			}
			return err
		}
	}
	out.payload = f.buf[f.r : f.r+n : f.r+n]
	f.r += n
	f.inFrame = false
	return nil
}

// fill reads more bytes, making room first.
//
//felix:hot
func (f *frameReader) fill() error {
	if f.r == f.w {
		f.r, f.w = 0, 0
		if f.block.Valid() && !f.hot {
			f.block.Release()
			f.block, f.buf = arena.Ref{}, f.small[:]
		}
	}
	if f.w == len(f.buf) || (!f.block.Valid() && f.hot) {
		if !f.block.Valid() && !f.stranger {
			f.block = f.arena.Acquire(readBufferBytes)
			b := f.block.Bytes()
			f.w = copy(b, f.buf[f.r:f.w])
			f.r, f.buf = 0, b
		} else {
			f.w = copy(f.buf, f.buf[f.r:f.w])
			f.r = 0
		}
	}
	n, err := f.src.Read(f.buf[f.w:])
	f.w += n
	f.hot = n >= idleBufferBytes && !f.stranger
	if n > 0 {
		return nil
	}
	if err == nil {
		return io.ErrNoProgress
	}
	return err
}

// nextLarge reads a frame of n payload bytes into a block of its own. The block grows with what has arrived.
func (f *frameReader) nextLarge(n int, out *frame) error {
	if f.grow != nil && !f.grow(n) {
		return errFrameBudget
	}
	first := firstGrowBytes
	if f.stranger {
		first = strangerBytes
	}
	own := f.arena.Acquire(min(fanout.Headroom+n, first)) // whole size classes, headroom included
	have := copy(own.Bytes()[fanout.Headroom:], f.buf[f.r:f.w])
	f.r += have
	for have < n {
		if space := len(own.Bytes()) - fanout.Headroom; have == space {
			bigger := f.arena.Acquire(min(fanout.Headroom+n, 2*(fanout.Headroom+space)))
			copy(bigger.Bytes()[fanout.Headroom:], own.Bytes()[fanout.Headroom:fanout.Headroom+have])
			own.Release()
			own = bigger
		}
		k, err := f.src.Read(own.Bytes()[fanout.Headroom+have:])
		have += k
		if k == 0 {
			own.Release()
			if err == nil || err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
	}
	f.inFrame = false
	out.own = own
	out.payload = own.Bytes()[fanout.Headroom : fanout.Headroom+n]
	return nil
}

// head returns up to n of the next unread bytes, reading only as far as needed: the request id of a frame that is too large.
func (f *frameReader) head(n int) []byte {
	for f.w-f.r < n {
		if f.fill() != nil {
			break
		}
	}
	return f.buf[f.r:min(f.w, f.r+n)]
}

// close gives the read buffer back.
func (f *frameReader) close() {
	if f.block.Valid() {
		f.block.Release()
	}
	f.block, f.buf, f.r, f.w = arena.Ref{}, f.small[:], 0, 0
}
