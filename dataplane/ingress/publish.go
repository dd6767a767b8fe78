package ingress

import (
	"github.com/felix-go/felix/dataplane/admission"
	"github.com/felix-go/felix/dataplane/arena"
	"github.com/felix-go/felix/dataplane/auth"
	"github.com/felix-go/felix/dataplane/fanout"
	"github.com/felix-go/felix/dataplane/shard"
	"github.com/felix-go/felix/dataplane/wire"
)

// publishOverheadBytes is what a queued publish costs besides its records; it is charged with them, so that a flood of empty
// batches is bounded too.
const publishOverheadBytes = 256

// publishBinary handles a binary publish frame. On the way of an accepted batch nothing allocates and the records are copied
// once: from the read buffer into a block of their own.
//
//felix:hot
func (s *session) publishBinary(fr *frame) fate {
	p := &s.pub
	if err := wire.ParsePublish(fr.flags, fr.payload, p); err != nil {
		s.c.srv.n.malformed.Inc()
		if id, ok := wire.PublishRequestID(fr.flags, fr.payload); ok && s.send != nil {
			return s.refusePublish(id, fr.flags&wire.FlagPublishIdempotent != 0, refuseMalformed)
		}
		return drop
	}
	if p.Idempotent {
		return s.refusePublish(p.RequestID, true, refuseIdempotent)
	}
	start := bodyStart(p)
	f := formPublishAck
	if s.send == nil {
		p.Acked = false // nothing ever comes back on a publish-only stream
	}
	place, r := s.admitPublish(p)
	if r != nil {
		return s.publishRefused(p.RequestID, p.Acked, f, r)
	}
	// Fast path: records of a small frame move out of the read buffer; a large frame already lies in a block that has
	// room for the event header in front of its count.
	var ref arena.Ref
	var off int
	if fr.own.Valid() {
		off = fanout.Headroom + start
		ref, fr.own = fr.own, arena.Ref{}
	} else {
		ref = s.c.srv.rooms.Arena.Acquire(fanout.Headroom + len(p.Body))
		off = fanout.Headroom
		copy(ref.Bytes()[off:], p.Body)
	}
	return s.submitPublish(place, ref, off, len(p.Body), p.Count, p.PayloadBytes, p.RequestID, p.Acked, f)
}

// admitPublish checks tenant, grant, stream and route of a batch.
//
//felix:hot
func (s *session) admitPublish(p *wire.Publish) (*shardPlace, *wire.Refusal) {
	if string(p.Tenant) != s.identity.Tenant {
		return nil, refuseTenant
	}
	if !s.identity.Matcher.AllowStream(auth.StreamPublish, p.Namespace, p.Stream) {
		return nil, refuseForbidden
	}
	if p.Count == 0 {
		return nil, refuseEmptyBatch
	}
	place := s.findStream(p.Tenant, p.Namespace, p.Stream)
	if place == nil {
		return nil, refuseStream(p.Tenant, p.Namespace, p.Stream)
	}
	id := wire.ShardID(0)
	if p.Keyed {
		id = wire.ShardOf(p.Key, uint32(len(place.shards)), place.desc.Jump)
	}
	if d := s.c.srv.rooms.Router.Stream(place.desc, id); !d.Local {
		return nil, d.Refusal
	}
	return place.shards[id], nil
}

// findStream resolves a stream name, remembering the last one.
//
//felix:hot
func (s *session) findStream(tenant, namespace, name []byte) *streamPlace {
	catalog := s.c.srv.rooms.Catalog
	if g := catalog.Generation(); g != s.foundAt {
		s.foundAt, s.foundStream, s.foundCache = g, nil, nil
	}
	if f := s.foundStream; f != nil && f.desc.Name == string(name) && f.desc.Namespace == string(namespace) &&
		f.desc.Tenant == string(tenant) {
		return f
	}
	d := catalog.Stream(tenant, namespace, name)
	if d == nil {
		return nil
	}
	s.foundStream = s.c.srv.places.stream(d)
	return s.foundStream
}

// submitPublish reserves what the batch needs, queues it, and answers at once where that is what an acknowledgement of this
// stream means. It owns ref.
//
//felix:hot
func (s *session) submitPublish(place *shardPlace, ref arena.Ref, off, n int, count uint32, payloadBytes int,
	id wire.RequestID, acked bool, f form) fate {
	cfg, rooms, c := &s.c.srv.cfg, &s.c.srv.rooms, s.c.srv.n
	onCommit := acked && (cfg.AckOnCommit || s.peerFeatures&wire.FeatureAckOnCommit != 0)
	wait := cfg.PublishQueueWait // of a publish acknowledged after its commit
	switch {
	case cfg.IngressWait:
		wait = -1
	case !onCommit:
		wait = 0
	}
	bytes := int64(n) + publishOverheadBytes
	// A large frame was charged to the connection while it was read; it is not charged twice.
	budget := s.c.budget
	if s.held.Held() {
		budget = nil
	}
	permit, ok := admission.Acquire(budget, rooms.Budget, bytes, wait, s.done)
	if !ok {
		ref.Release()
		place.of.full.count(acked)
		return s.publishRefused(id, acked, f, refuseInFlight)
	}
	job := shard.Job{Kind: KindPublish, Acked: acked, Count: count, Off: int32(off), Len: int32(n), Bytes: bytes,
		Arg0: uint64(payloadBytes), RequestID: id, Ref: ref, Permit: permit}
	var seq uint64
	if acked {
		if seq, ok = s.answers.reserve(f, id); !ok {
			job.Settle(shard.Outcome{})
			return drop
		}
		c.publishAcked.Inc()
		if onCommit {
			job.Seq, job.Reply = seq, &s.answers
		}
	}
	switch rooms.Scheduler.Submit(place.lane, &job, wait, s.done) {
	case shard.Accepted:
		c.published.Inc()
		c.publishedBytes.Add(uint64(payloadBytes))
		if acked && !onCommit {
			s.answers.Complete(seq, shard.Outcome{})
		}
		return keep
	case shard.Full:
		place.of.full.count(acked)
		s.refuseUnsubmitted(&job, seq, acked, refuseQueueFull)
	default:
		s.refuseUnsubmitted(&job, seq, acked, refuseGone)
	}
	return keep
}

func (f *fullCounters) count(acked bool) {
	if acked {
		f.refused.Inc()
	} else {
		f.dropped.Inc()
	}
}

// refuseUnsubmitted settles a job that the scheduler did not take.
func (s *session) refuseUnsubmitted(job *shard.Job, seq uint64, acked bool, r *wire.Refusal) {
	job.Reply = nil
	job.Settle(shard.Outcome{})
	if !acked {
		s.c.srv.n.publishDropped.Inc()
		return
	}
	s.c.srv.n.publishRefused.Inc()
	s.answers.complete(seq, refused(r))
}

// publishRefused answers or drops a publish that never became a job. The stream goes on: a failed acknowledgement is the
// whole answer, and an unacknowledged publish has none.
func (s *session) publishRefused(id wire.RequestID, acked bool, f form, r *wire.Refusal) fate {
	n := s.c.srv.n
	if !acked {
		n.publishDropped.Inc()
		if s.send == nil && r.Code == wire.CodeForbidden {
			return drop
		}
		return keep
	}
	n.publishRefused.Inc()
	if s.send == nil {
		return keep
	}
	seq, ok := s.answers.reserve(f, id)
	if !ok {
		return drop
	}
	s.answers.complete(seq, refused(r))
	return keep
}

// refusePublish refuses a publish whose body was not looked at; json picks the form.
func (s *session) refusePublish(id wire.RequestID, json bool, r *wire.Refusal) fate {
	f := formPublishAck
	if json {
		f = formPublishJSON
	}
	return s.publishRefused(id, true, f, r)
}

// publishJSON handles `publish` and `publish_batch`: the same walk, with the records decoded from base64 straight into the
// block.
func (s *session) publishJSON(m *wire.Message) fate {
	n := s.c.srv.n
	n.jsonPublishes.Inc()
	acked := m.AckMode() != wire.AckNone && s.send != nil
	if acked && !m.Has(wire.FieldRequestID) {
		return s.refuse(refuseNoRequestID, keep)
	}
	p := &s.pub
	*p = wire.Publish{RequestID: m.RequestID, Tenant: m.Tenant, Namespace: m.Namespace, Stream: m.Stream,
		Acked: acked, Keyed: m.Has(wire.FieldKey), Key: m.Key, Count: uint32(m.PayloadCount)}
	place, r := s.admitPublish(p)
	if r != nil {
		return s.publishRefused(p.RequestID, acked, formPublishJSON, r)
	}
	ref, size, payloadBytes, err := s.decodeBody(m)
	if err != nil {
		n.badJSON.Inc()
		return drop
	}
	return s.submitPublish(place, ref, fanout.Headroom, size, p.Count, payloadBytes, p.RequestID, acked, formPublishJSON)
}

// decodeBody builds the body of a batch, count and records, in a block with headroom.
func (s *session) decodeBody(m *wire.Message) (ref arena.Ref, size, payloadBytes int, err error) {
	ref = s.c.srv.rooms.Arena.Acquire(fanout.Headroom + m.RecordsBound())
	body, payloadBytes, err := m.AppendRecords(ref.Bytes()[fanout.Headroom:fanout.Headroom])
	if err != nil {
		ref.Release()
		return arena.Ref{}, 0, 0, err
	}
	return ref.Slice(fanout.Headroom + len(body)), len(body), payloadBytes, nil
}

// bodyStart is where the body begins in the payload of a binary publish: behind the prefixes and names.
//
//felix:hot
func bodyStart(p *wire.Publish) int {
	n := 2 + len(p.Tenant) + 2 + len(p.Namespace) + 2 + len(p.Stream)
	if p.Acked {
		n += 8 + 1
	}
	if p.Keyed {
		n += 2 + len(p.Key)
	}
	return n
}
