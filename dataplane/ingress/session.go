package ingress

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"github.com/felix-go/felix/dataplane/admission"
	"github.com/felix-go/felix/dataplane/arena"
	"github.com/felix-go/felix/dataplane/auth"
	"github.com/felix-go/felix/dataplane/transport"
	"github.com/felix-go/felix/dataplane/wire"
)

// fate is what one frame does to its stream.
type fate uint8

const (
	keep fate = iota // read on
	end              // answer what is owed, then finish the stream
	drop             // end without another word: the peer broke the framing or the promise of its own message
)

// session is one client stream: its reader's state, who speaks on it, and the answers it owes.
//
// Everything but answers and the atomics is owned by the reader goroutine. The fields after login (identity, peerFlags,
// peerFeatures) are written once, before the writer starts, and immutable from then on.
type session struct {
	c    *conn
	recv *transport.ReceiveStream
	send *transport.SendStream // nil on a publish-only unidirectional stream
	done <-chan struct{}       // the connection's

	opened time.Duration // monotonic; immutable

	rd   frameReader
	msg  wire.Message
	pub  wire.Publish
	held admission.Permit // bytes of a large frame being read, in the connection's budget

	identity     *auth.Identity
	peerFlags    wire.Flags
	peerFeatures wire.Features

	answers answers

	// Last resolved stream and cache: a stream of requests usually names the same one. Valid while the catalog is at
	// foundAt.
	foundAt     uint64
	foundStream *streamPlace
	foundCache  *cachePlace

	// partial is the monotonic time in nanoseconds since which a frame has been half read, 0 when none is.
	partial atomic.Int64
	// loggedIn is identity != nil for other goroutines.
	loggedIn atomic.Bool
	// reading is true while the reader waits for the peer between frames: a drain may wake it.
	reading atomic.Bool
}

// run reads the stream until it ends. It owns the whole life of the stream: when it returns, nothing of it is left.
func (s *session) run() {
	n := s.c.srv.n
	n.streams.Add(1)
	s.answers.s = s
	s.rd.init((*countedSource)(s), s.c.srv.rooms.Arena, s.c.srv.cfg.PreauthMaxFrameBytes, s.growFrame)
	f := s.loop()
	s.rd.close()
	s.held.Release()
	s.answers.finish()
	if f == drop {
		s.recv.StopReading(transport.StreamProtocol)
	} else {
		s.recv.StopReading(transport.StreamCancelled)
	}
	if s.send != nil && !s.c.draining.Load() {
		s.send.Close()
	}
	s.c.forget(s)
	n.streams.Add(-1)
}

// loop handles frame after frame.
//
//felix:hot
func (s *session) loop() fate {
	var fr frame
	for {
		if err := s.rd.next(&fr); err != nil {
			return s.readFailed(err)
		}
		s.partial.Store(0)
		f := s.handle(&fr)
		if fr.own.Valid() {
			fr.own.Release()
			fr.own = arena.Ref{}
		}
		s.held.Release()
		if f != keep {
			return f
		}
		if s.c.draining.Load() {
			return end
		}
	}
}

// handle dispatches one frame: flags first, then JSON by type.
//
//felix:hot
func (s *session) handle(fr *frame) fate {
	switch {
	case s.identity == nil:
		return s.handleLogin(fr)
	case fr.flags&wire.FlagPublishBatch != 0 && fr.flags.ValidFromClient():
		return s.publishBinary(fr)
	case fr.flags == 0:
		return s.handleMessage(fr)
	case fr.flags == wire.FlagExtension && s.peerFeatures&wire.FeatureMultiKeys != 0 && s.send != nil:
		return s.extension(fr.payload)
	}
	s.c.srv.n.badFlags.Inc()
	if s.send == nil {
		return drop
	}
	return s.refuse(refuseFlags, keep)
}

// handleMessage dispatches a JSON message of an authenticated stream.
func (s *session) handleMessage(fr *frame) fate {
	m := &s.msg
	if err := wire.ParseMessage(fr.payload, m); err != nil {
		s.c.srv.n.badJSON.Inc()
		return drop
	}
	if s.send == nil { // publish-only stream: anything else ends it without a word
		if m.Type == wire.MsgPublish || m.Type == wire.MsgPublishBatch {
			return s.publishJSON(m)
		}
		s.c.srv.n.unknownType.Inc()
		return drop
	}
	switch m.Type {
	case wire.MsgPublish, wire.MsgPublishBatch:
		return s.publishJSON(m)
	case wire.MsgPublishIdempotent:
		return s.refusePublish(m.RequestID, true, refuseIdempotent)
	case wire.MsgPublishWidth: // never answered; the width is the broker's to know
		return keep
	case wire.MsgSubscribe:
		return s.subscribe(m)
	case wire.MsgCachePut, wire.MsgCacheGet, wire.MsgCacheDelete, wire.MsgCachePutIf, wire.MsgCacheDeleteIf:
		return s.cacheRequest(m)
	case wire.MsgStreamShards, wire.MsgCacheShards, wire.MsgShardOwners, wire.MsgTopology:
		return s.query(m)
	case wire.MsgAuth:
		s.c.srv.n.secondAuth.Inc()
		return s.refuse(refuseSecondAuth, end)
	case wire.MsgError:
		s.c.srv.n.brokerOnly.Inc()
		return end
	case wire.MsgUnknown, wire.MsgExtension:
		return s.unknown(m)
	}
	if !m.Type.FromClient() {
		s.c.srv.n.brokerOnly.Inc()
		return s.refuse(refuseUnexpected, end)
	}
	return s.refuse(refuseNotOffered, keep)
}

// unknown answers a message type this broker does not know, or the reserved extension message.
func (s *session) unknown(m *wire.Message) fate {
	s.c.srv.n.unknownType.Inc()
	if s.peerFeatures&wire.FeatureUnsupported == 0 {
		return drop
	}
	var extension []byte
	if m.Type == wire.MsgExtension {
		extension = m.Name
	}
	return s.answerEncoded(func(dst []byte) []byte {
		return wire.AppendUnsupported(dst, m.RawType, extension, m.RequestID, m.Has(wire.FieldRequestID))
	}, keep)
}

// refuse answers with an `error` and goes on or ends as told. On a publish-only stream it just ends.
func (s *session) refuse(r *wire.Refusal, f fate) fate {
	if s.send == nil {
		return drop
	}
	seq, ok := s.answers.reserve(formFrame, 0)
	if !ok {
		return drop
	}
	s.answers.complete(seq, refused(r))
	return f
}

// afterDenial is what a denied request does to its stream. A client that understands codes goes on, and callers that share the
// stream with the denied one must not lose theirs; any other finds it ended, as the reference broker does.
func (s *session) afterDenial() fate {
	if s.peerFeatures&wire.FeatureErrorCodes != 0 {
		return keep
	}
	return end
}

// answerEncoded answers with a frame encoded here: questions that are off the hot path.
func (s *session) answerEncoded(encode func(dst []byte) []byte, f fate) fate {
	seq, ok := s.answers.reserve(formFrame, 0)
	if !ok {
		return drop
	}
	s.answers.complete(seq, encoded(s.encodeFrame(encode)))
	return f
}

// encodeFrame encodes into a block of the right size.
func (s *session) encodeFrame(encode func(dst []byte) []byte) arena.Ref {
	return encodeFrame(s.c.srv.rooms.Arena, encode)
}

func encodeFrame(a *arena.Arena, encode func(dst []byte) []byte) arena.Ref {
	ref := a.Acquire(1024)
	b := encode(ref.Bytes()[:0])
	if len(b) <= len(ref.Bytes()) {
		return ref.Slice(len(b))
	}
	ref.Release()
	ref = a.Acquire(len(b))
	copy(ref.Bytes(), b)
	return ref
}

// readFailed turns the end of reading into the stream's fate, counting what the peer did wrong.
func (s *session) readFailed(err error) fate {
	n := s.c.srv.n
	switch {
	case err == io.EOF:
		return end
	case errors.Is(err, wire.ErrBadMagic), errors.Is(err, wire.ErrBadVersion):
		n.badFrames.Inc()
		return drop
	case err == errFrameTooLarge:
		n.oversized.Inc()
		return s.refuseOversized()
	case err == io.ErrUnexpectedEOF:
		n.badFrames.Inc()
		return drop
	}
	if s.c.draining.Load() {
		return end
	}
	return drop // reset by the peer, or the connection is gone
}

// refuseOversized answers a frame beyond the limit on its header alone: an acked publish gets a failed acknowledgement with
// the id in its first 8 bytes, any other stream a coded error; then the stream ends and the connection lives.
func (s *session) refuseOversized() fate {
	if s.send == nil {
		return drop
	}
	if s.identity == nil {
		return s.refuse(refuseFrameLimit, end)
	}
	if s.rd.lastFlags&wire.FlagPublishAcked != 0 && s.rd.lastFlags&wire.FlagPublishBatch != 0 {
		if id, ok := wire.PublishRequestID(s.rd.lastFlags, s.rd.head(8)); ok {
			s.refusePublish(id, s.rd.lastFlags&wire.FlagPublishIdempotent != 0, refuseFrameLimit)
			return end
		}
	}
	return s.refuse(refuseFrameLimit, end)
}

// growFrame reserves the connection's byte budget for a frame that needs a block of its own.
func (s *session) growFrame(n int) bool {
	if s.identity == nil {
		return true // bounded by PreauthMaxFrameBytes and the unauthenticated window
	}
	var ok bool
	s.held, ok = admission.Acquire(s.c.budget, nil, int64(n), -1, s.done)
	return ok
}

// context of slow steps (login): the connection's.
func (s *session) context() context.Context { return s.c.t.Context() }

// countedSource marks when the reader waits between frames and since when a frame is half read.
type countedSource session

// Read reads from the stream.
//
//felix:hot
func (r *countedSource) Read(p []byte) (int, error) {
	s := (*session)(r)
	if !s.c.opened.Load() { // Slow path: before the connection's first login
		if p = s.c.strangerQuota(p, s.done); p == nil {
			return 0, errNoLogin
		}
		n, err := s.read(p)
		s.c.strangerRead(len(p) - n)
		return n, err
	}
	return s.read(p)
}

//felix:hot
func (s *session) read(p []byte) (int, error) {
	if s.rd.buffered() == 0 && !s.rd.inFrame {
		s.reading.Store(true)
		if s.c.draining.Load() { // either this sees the drain, or the drain sees reading and wakes the read
			s.reading.Store(false)
			return 0, errDraining
		}
		n, err := s.recv.Read(p)
		s.reading.Store(false)
		return n, err
	}
	if s.partial.Load() == 0 {
		s.partial.Store(int64(s.c.srv.rooms.Clock.Monotonic()) | 1)
	}
	return s.recv.Read(p)
}
