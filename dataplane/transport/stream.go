package transport

import (
	"context"
	"time"

	"github.com/quic-go/quic-go"
)

// SendStream is the sending half of a stream. It has one owner: Write and Close do not overlap. Reset and
// SetWriteDeadline may be called by anybody and wake a blocked Write.
type SendStream struct {
	uni  *quic.SendStream // one of the two is set
	bidi *quic.Stream
}

// Write sends p and returns once all of it is in packets or, up to a packet's worth, copied: p may be used
// again. A peer that does not read blocks it. What is ready should go in one Write, since frames share
// packets that way. The error is one that StreamReset or Closed tells apart, or os.ErrDeadlineExceeded.
func (s *SendStream) Write(p []byte) (int, error) {
	if s.uni != nil {
		return s.uni.Write(p)
	}
	return s.bidi.Write(p)
}

// Close ends the stream in order (FIN). On an event stream of the protocol that is the real end of a
// subscription.
func (s *SendStream) Close() error {
	if s.uni != nil {
		return s.uni.Close()
	}
	return s.bidi.Close()
}

// Reset ends the stream at once; what was not delivered yet is dropped.
func (s *SendStream) Reset(code StreamCode) {
	if s.uni != nil {
		s.uni.CancelWrite(quic.StreamErrorCode(code))
		return
	}
	s.bidi.CancelWrite(quic.StreamErrorCode(code))
}

// Context ends when the stream is closed, reset, or no longer wanted by the peer, or the connection ends.
func (s *SendStream) Context() context.Context {
	if s.uni != nil {
		return s.uni.Context()
	}
	return s.bidi.Context()
}

// SetWriteDeadline bounds this and later calls of Write; the zero time is no bound.
func (s *SendStream) SetWriteDeadline(t time.Time) error {
	if s.uni != nil {
		return s.uni.SetWriteDeadline(t)
	}
	return s.bidi.SetWriteDeadline(t)
}

// ReceiveStream is the receiving half of a stream. It has one owner: Read and Peek do not overlap.
// StopReading and SetReadDeadline may be called by anybody and wake a blocked Read.
type ReceiveStream struct {
	uni  *quic.ReceiveStream // one of the two is set
	bidi *quic.Stream
}

// Read reads what is there, at least one byte. At the orderly end it returns io.EOF, possibly with the last
// bytes. Otherwise the error is one that StreamReset or Closed tells apart, or os.ErrDeadlineExceeded.
func (s *ReceiveStream) Read(p []byte) (int, error) {
	if s.uni != nil {
		return s.uni.Read(p)
	}
	return s.bidi.Read(p)
}

// Peek fills all of p and leaves the bytes to be read. At the orderly end before len(p) bytes it returns
// those that there are and io.EOF. It frees no flow-control window: p must stay below the first stream window,
// 16 KiB.
func (s *ReceiveStream) Peek(p []byte) (int, error) {
	if s.uni != nil {
		return s.uni.Peek(p)
	}
	return s.bidi.Peek(p)
}

// StopReading drops what arrived and asks the peer to stop sending.
func (s *ReceiveStream) StopReading(code StreamCode) {
	if s.uni != nil {
		s.uni.CancelRead(quic.StreamErrorCode(code))
		return
	}
	s.bidi.CancelRead(quic.StreamErrorCode(code))
}

// SetReadDeadline bounds this and later calls of Read and Peek; the zero time is no bound.
func (s *ReceiveStream) SetReadDeadline(t time.Time) error {
	if s.uni != nil {
		return s.uni.SetReadDeadline(t)
	}
	return s.bidi.SetReadDeadline(t)
}

// Stream is a bidirectional stream: two halves, which may have two owners.
type Stream struct {
	SendStream
	ReceiveStream
}

func newStream(s *quic.Stream) *Stream {
	return &Stream{SendStream: SendStream{bidi: s}, ReceiveStream: ReceiveStream{bidi: s}}
}

// Send returns the sending half.
func (s *Stream) Send() *SendStream { return &s.SendStream }

// Receive returns the receiving half.
func (s *Stream) Receive() *ReceiveStream { return &s.ReceiveStream }
