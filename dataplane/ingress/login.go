package ingress

import (
	"context"
	"time"

	"github.com/felix-go/felix/dataplane/wire"
)

// Offered is what this broker implements and can serve; it is advertised whole, whatever the client offered.
const (
	OfferedFlags = wire.FlagPublishBatch | wire.FlagEventBatch | wire.FlagEventBatchShared | wire.FlagPublishAcked |
		wire.FlagPublishAck | wire.FlagEventOffsets | wire.FlagPublishKeyed | wire.FlagAckCode | wire.FlagAckDetail
	OfferedFeatures = wire.FeatureCacheDelete | wire.FeatureStreamShards | wire.FeatureCacheShards |
		wire.FeatureErrorCodes | wire.FeatureUnsupported | wire.FeaturePublishPipeline |
		wire.FeatureStreamPublishWindow | wire.FeatureShardOwners | wire.FeatureAckOnCommit |
		wire.FeatureCacheConditional | wire.FeatureSubscribeQueue | wire.FeatureStreamDeleted | wire.FeatureMultiKeys
)

// handleLogin takes the first frame of a stream, which must be `auth`. Nothing before it is trusted: the frame limit is
// 64 KiB, the connection's window is 64 KiB, and the token is checked before anything is looked up.
func (s *session) handleLogin(fr *frame) fate {
	n := s.c.srv.n
	if fr.flags != 0 {
		if !fr.flags.ValidFromClient() {
			n.badFlags.Inc()
		}
		n.beforeAuth.Inc()
		return s.sayBeforeLogin(refuseAuthRequired, false)
	}
	m := &s.msg
	if err := wire.ParseMessage(fr.payload, m); err != nil {
		n.badJSON.Inc()
		return drop
	}
	if m.Type != wire.MsgAuth {
		n.beforeAuth.Inc()
		return s.sayBeforeLogin(refuseAuthRequired, false)
	}
	coded := m.ClientFeatures&wire.FeatureErrorCodes != 0
	if s.c.draining.Load() {
		if !coded {
			<-s.done // no answer until the connection closes
			return drop
		}
		return s.sayBeforeLogin(refuseDraining, true)
	}
	ctx, cancel := context.WithTimeout(s.context(), s.c.srv.cfg.AuthTimeout)
	defer cancel()
	if s.c.srv.rooms.Catalog.WaitSeeded(ctx) != nil {
		return s.sayBeforeLogin(refuseNotReady, coded)
	}
	identity, err := s.c.srv.rooms.Verifier.Verify(ctx, m.Tenant, m.Token)
	if err != nil {
		n.authRefused.Inc()
		s.c.srv.rooms.Logger.Debug("login refused", "conn", s.c.t.ID(), "remote", s.c.t.RemoteAddr(), "err", err)
		return s.sayBeforeLogin(refuseAuthFailed, coded)
	}
	n.authOK.Inc()
	s.peerFlags, s.peerFeatures = wire.BaselineFlags, m.ClientFeatures
	if m.Has(wire.FieldClientFlags) {
		s.peerFlags = m.ClientFlags
	}
	s.rd.limit, s.rd.stranger = s.c.srv.cfg.MaxFrameBytes, false
	s.c.authenticated()
	if s.send != nil {
		var b []byte
		if m.Has(wire.FieldClientFlags) {
			b = wire.AppendAuthOK(nil, s.authOK())
		} else {
			b = wire.AppendOK(nil)
		}
		if _, err := s.send.Write(b); err != nil {
			return drop
		}
	}
	s.identity = identity
	s.loggedIn.Store(true)
	s.c.loggedIn(s)
	return keep
}

func (s *session) authOK() *wire.AuthOK {
	ok := &wire.AuthOK{ServerFlags: OfferedFlags, ServerFeatures: OfferedFeatures,
		PeerExtended: s.peerFeatures&wire.FeatureExtended != 0}
	if s.peerFeatures&wire.FeaturePublishPipeline != 0 {
		ok.PublishWindow = uint32(s.c.srv.cfg.PublishWindow)
	}
	return ok
}

// sayBeforeLogin writes the refusal itself: before the login the reader is the stream's only writer. The write is small and
// bounded by the stall sweep.
func (s *session) sayBeforeLogin(r *wire.Refusal, coded bool) fate {
	if s.send == nil {
		return drop
	}
	s.answers.writing.Store(int64(s.c.srv.rooms.Clock.Monotonic()) | 1)
	_, err := s.send.Write(wire.AppendError(nil, r, coded))
	s.answers.writing.Store(0)
	if err != nil {
		return drop
	}
	return end
}

// loginDeadline is when a connection that has not authenticated is closed.
func (s *Server) loginDeadline(accepted time.Duration) time.Duration {
	return accepted + s.cfg.AuthTimeout
}
