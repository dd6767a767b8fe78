package ingress

import (
	"github.com/felix-go/felix/dataplane/admission"
	"github.com/felix-go/felix/dataplane/auth"
	"github.com/felix-go/felix/dataplane/cache"
	"github.com/felix-go/felix/dataplane/shard"
	"github.com/felix-go/felix/dataplane/wire"
)

// maxKeyBytes bounds cache and publish keys; see decisions section 8.
const maxKeyBytes = 65_535

// Flags of a cache job.
const (
	flagHasID uint8 = 1 << iota
	flagAbsent
)

// cacheRequest handles the JSON cache messages. A request without an id is answered and then ends its stream.
func (s *session) cacheRequest(m *wire.Message) fate {
	if f, ok := s.inRequestOrder(m); !ok {
		return f
	}
	write := m.Type != wire.MsgCacheGet
	action := auth.CacheRead
	if write {
		action = auth.CacheWrite
	}
	after := keep
	if !m.Has(wire.FieldRequestID) {
		after = end
	}
	switch {
	case string(m.Tenant) != s.identity.Tenant:
		return s.refuse(refuseTenant, s.afterDenial())
	case !s.identity.Matcher.AllowCacheKey(action, m.Namespace, m.Cache, m.Key):
		return s.refuse(refuseForbidden, s.afterDenial())
	case len(m.Key) > maxKeyBytes:
		return s.refuse(refuseKeyLimit, after)
	}
	place := s.findCache(m.Tenant, m.Namespace, m.Cache)
	if place == nil {
		return s.refuse(refuseCache(m.Tenant, m.Namespace, m.Cache), after)
	}
	id := wire.ShardOf(m.Key, uint32(len(place.lanes)), false)
	if d := s.c.srv.rooms.Router.Cache(place.desc, id); !d.Local {
		return s.refuse(d.Refusal, after)
	}
	if !write {
		s.c.srv.n.cacheReads.Inc()
		return s.cacheGet(m, place, after)
	}
	s.c.srv.n.cacheWrites.Inc()
	return s.cacheWrite(m, place, place.lanes[id], after)
}

// inRequestOrder makes a read see the writes that were sent before it on its stream. Writes meet in their keys' lanes; a read
// takes no lane, so it waits until the stream's writes are done. An idle lane runs a write before it is even answered, so a read
// rarely waits, and reads never wait for one another.
func (s *session) inRequestOrder(m *wire.Message) (fate, bool) {
	if m.Type != wire.MsgCacheGet {
		return keep, true
	}
	for s.answers.writes.Load() > 0 {
		if s.answers.failed.Load() || !s.answers.space.Wait(s.done) {
			return drop, false
		}
	}
	return keep, true
}

func (s *session) findCache(tenant, namespace, name []byte) *cachePlace {
	catalog := s.c.srv.rooms.Catalog
	if g := catalog.Generation(); g != s.foundAt {
		s.foundAt, s.foundStream, s.foundCache = g, nil, nil
	}
	if f := s.foundCache; f != nil && f.desc.Name == string(name) && f.desc.Namespace == string(namespace) &&
		f.desc.Tenant == string(tenant) {
		return f
	}
	d := catalog.Cache(tenant, namespace, name)
	if d == nil {
		return nil
	}
	s.foundCache = s.c.srv.places.cache(d)
	return s.foundCache
}

// cacheGet answers a read without an executor hop.
func (s *session) cacheGet(m *wire.Message, place *cachePlace, after fate) fate {
	v, has := place.state.Get(m.Key)
	versioned := s.peerFeatures&wire.FeatureCacheConditional != 0
	f := s.answerEncoded(func(dst []byte) []byte {
		return appendValue(dst, place, m.Key, m.RequestID, m.Has(wire.FieldRequestID), v, has, versioned)
	}, after)
	if has {
		v.Ref.Release()
	}
	return f
}

// cacheWrite submits a put, delete or conditional write to the key's lane: check and write are one step there.
func (s *session) cacheWrite(m *wire.Message, place *cachePlace, lane *shard.Lane, after fate) fate {
	job := shard.Job{RequestID: m.RequestID, KeyLen: uint32(len(m.Key)), Acked: true}
	if m.Has(wire.FieldRequestID) {
		job.Flags |= flagHasID
	}
	f := formFrame
	switch m.Type {
	case wire.MsgCachePut:
		if job.Kind, f = KindCachePut, formCacheOK; job.Flags&flagHasID == 0 {
			f = formOK
		}
	case wire.MsgCachePutIf:
		job.Kind, f, job.Arg1 = KindCachePutIf, formCondition, m.Condition.Version
		if m.Condition.Absent {
			job.Flags |= flagAbsent
		}
	case wire.MsgCacheDelete:
		job.Kind = KindCacheDelete
	case wire.MsgCacheDeleteIf:
		job.Kind, f, job.Arg1 = KindCacheDeleteIf, formCondition, m.Version
	}
	puts := job.Kind == KindCachePut || job.Kind == KindCachePutIf
	if puts {
		ttl, err := cache.ParseTTL(m.TTLMillis, m.Has(wire.FieldTTLMillis))
		if err != nil {
			return s.refuse(refuseTTL, after)
		}
		job.Arg0 = uint64(ttl)
		if len(m.Value)/4*3 > wire.MaxValueBytes+2 {
			return s.refuse(refuseValueLimit, after)
		}
	}
	ref := s.c.srv.rooms.Arena.Acquire(len(m.Key) + len(m.Value)/4*3 + 3)
	b := append(ref.Bytes()[:0], m.Key...)
	if puts {
		var err error
		if b, err = wire.DecodeBase64(b, m.Value); err != nil {
			ref.Release()
			s.c.srv.n.badJSON.Inc()
			return drop
		}
		if len(b)-len(m.Key) > wire.MaxValueBytes {
			ref.Release()
			return s.refuse(refuseValueLimit, after)
		}
	}
	job.Ref, job.Len = ref.Slice(len(b)), int32(len(b))
	return s.submitCacheWrite(&job, lane, f, after)
}

// submitCacheWrite queues the job; it waits for room as long as a commit-acknowledged publish does.
func (s *session) submitCacheWrite(job *shard.Job, lane *shard.Lane, f form, after fate) fate {
	cfg, rooms := &s.c.srv.cfg, &s.c.srv.rooms
	seq, ok := s.answers.reserve(f, job.RequestID)
	if !ok {
		job.Settle(shard.Outcome{})
		return drop
	}
	job.Bytes = int64(job.Len) + publishOverheadBytes
	budget := s.c.budget
	if s.held.Held() {
		budget = nil
	}
	wait := cfg.PublishQueueWait
	if cfg.IngressWait {
		wait = -1
	}
	if job.Permit, ok = admission.Acquire(budget, rooms.Budget, job.Bytes, wait, s.done); !ok {
		s.answers.complete(seq, refused(refuseInFlight))
		job.Settle(shard.Outcome{})
		return after
	}
	job.Seq, job.Reply = seq, (*writeAnswers)(&s.answers)
	s.answers.writes.Add(1)
	switch rooms.Scheduler.Submit(lane, job, wait, s.done) {
	case shard.Accepted:
	case shard.Full:
		s.unsubmitted(job, seq, refuseQueueFull)
	default:
		s.unsubmitted(job, seq, refuseGone)
	}
	return after
}

func (s *session) unsubmitted(job *shard.Job, seq uint64, r *wire.Refusal) {
	s.answers.writes.Add(-1)
	job.Reply = nil
	job.Settle(shard.Outcome{})
	s.answers.complete(seq, refused(r))
}

// listKeys handles the list-keys extension frame: one page of a cache's keys in order.
func (s *session) listKeys(q *wire.ListKeys) fate {
	seq, ok := s.answers.reserve(formListKeys, q.RequestID)
	if !ok {
		return drop
	}
	var r *wire.Refusal
	var place *cachePlace
	switch {
	case string(q.Tenant) != s.identity.Tenant:
		r = refuseTenant
	case !s.identity.Matcher.AllowCachePrefix(auth.CacheRead, q.Namespace, q.Cache, q.Prefix):
		r = refuseForbidden
	default:
		if place = s.findCache(q.Tenant, q.Namespace, q.Cache); place == nil {
			r = refuseCache(q.Tenant, q.Namespace, q.Cache)
		}
	}
	if r != nil {
		s.answers.complete(seq, refused(r))
		return keep
	}
	keys, more := place.state.Keys(q.Prefix, q.Cursor, int(min(q.Limit, cache.MaxListKeys)))
	ref := s.encodeFrame(func(dst []byte) []byte {
		return wire.AppendListKeysAnswer(dst, q.RequestID, more, keys)
	})
	s.answers.complete(seq, encoded(ref))
	return keep
}

// extension handles an extension frame: payload byte 0 is its kind.
func (s *session) extension(payload []byte) fate {
	if kind, err := wire.ParseExtensionKind(payload); err != nil || kind != wire.ExtensionListKeys {
		s.c.srv.n.unknownType.Inc()
		return s.refuse(refuseNotOffered, keep)
	}
	var q wire.ListKeys
	if err := wire.ParseListKeys(payload, &q); err != nil {
		s.c.srv.n.malformed.Inc()
		return drop
	}
	s.c.srv.n.queries.Inc()
	return s.listKeys(&q)
}
