package ingress

import (
	"github.com/felix-go/felix/dataplane/arena"
	"github.com/felix-go/felix/dataplane/cache"
	"github.com/felix-go/felix/dataplane/fanout"
	"github.com/felix-go/felix/dataplane/shard"
	"github.com/felix-go/felix/dataplane/wire"
)

// Kinds of job that ingress submits; Work.Handlers is the dispatch table in this order.
const (
	KindPublish shard.Kind = iota
	KindCachePut
	KindCacheDelete
	KindCachePutIf
	KindCacheDeleteIf
)

// Steps of a publish: it claims its offsets once, and completes as soon as every subscriber has been offered the batch.
const (
	stepClaim uint8 = iota
	stepOwed
)

// Work is what an executor does with each kind of job: the second half of a request's walk, after the lane has ordered it.
type Work struct {
	Encoder *fanout.Encoder
	Arena   *arena.Arena
}

// Handlers returns the dispatch table for the scheduler.
func (w *Work) Handlers() []func(*shard.Lane, *shard.Job) shard.Verdict {
	return []func(*shard.Lane, *shard.Job) shard.Verdict{
		KindPublish: w.publish, KindCachePut: w.cachePut, KindCacheDelete: w.cacheDelete,
		KindCachePutIf: w.cachePutIf, KindCacheDeleteIf: w.cacheDeleteIf,
	}
}

// Drop answers jobs whose lane closed before they ran: their stream or cache was deleted, or the broker stops.
func (w *Work) Drop(_ *shard.Lane, j *shard.Job) {
	j.Answer(shard.Outcome{Kind: shard.OutcomeRefused, Refusal: refuseGone})
}

// publish claims the batch's offsets, appends it to the ring and offers it to every subscriber. Under the block policy a
// full subscriber queue parks the lane, not the executor.
//
//felix:hot
func (w *Work) publish(l *shard.Lane, j *shard.Job) shard.Verdict {
	sp := l.Owner().(*shardPlace)
	if j.Step == stepClaim {
		base, ok := sp.state.Claim(j.Count)
		if !ok {
			j.Answer(shard.Outcome{Kind: shard.OutcomeRefused, Refusal: refuseGone})
			return shard.Done
		}
		e := w.Encoder.Envelope(j.TakeRef(), int(j.Off), int(j.Len), j.Count, base, int(j.Arg0))
		// The bytes belong to the ring and the queues now, which have bounds of their own.
		j.Permit.Release()
		j.Step = stepOwed
		if !sp.state.Complete(e, l) {
			return shard.Wait
		}
	} else if !sp.state.Resume(l) {
		return shard.Wait
	}
	j.Answer(shard.Outcome{})
	return shard.Done
}

// cacheBytes are a cache job's key and value.
//
//felix:hot
func cacheBytes(j *shard.Job) (key, value []byte) {
	b := j.Ref.Bytes()[j.Off : j.Off+j.Len]
	return b[:j.KeyLen], b[j.KeyLen:]
}

// ttlOf is the expiry a cache job carries.
//
//felix:hot
func ttlOf(j *shard.Job) cache.TTL { return cache.TTL(j.Arg0) }

// refusedWrite answers a put that the cache did not take.
func refusedWrite(r cache.Result) shard.Outcome {
	if r == cache.Gone {
		return shard.Outcome{Kind: shard.OutcomeRefused, Refusal: refuseGone}
	}
	return shard.Outcome{Kind: shard.OutcomeRefused, Refusal: refuseCacheFull}
}

//felix:hot
func (w *Work) cachePut(l *shard.Lane, j *shard.Job) shard.Verdict {
	key, value := cacheBytes(j)
	if _, r := l.Owner().(*cachePlace).state.Put(key, value, ttlOf(j)); r != cache.Applied {
		j.Answer(refusedWrite(r))
		return shard.Done
	}
	j.Answer(shard.Outcome{})
	return shard.Done
}

func (w *Work) cacheDelete(l *shard.Lane, j *shard.Job) shard.Verdict {
	key, _ := cacheBytes(j)
	place := l.Owner().(*cachePlace)
	v, had := place.state.Delete(key)
	frame := encodeFrame(w.Arena, func(dst []byte) []byte {
		return appendValue(dst, place, key, j.RequestID, j.Flags&flagHasID != 0, v, had, false)
	})
	if had {
		v.Ref.Release()
	}
	j.Answer(shard.Outcome{Kind: outcomeFrame, Ref: frame})
	return shard.Done
}

//felix:hot
func (w *Work) cachePutIf(l *shard.Lane, j *shard.Job) shard.Verdict {
	key, value := cacheBytes(j)
	condition := cache.Condition{Absent: j.Flags&flagAbsent != 0, Version: j.Arg1}
	version, r := l.Owner().(*cachePlace).state.PutIf(key, value, ttlOf(j), condition)
	if r != cache.Applied && r != cache.Refused {
		j.Answer(refusedWrite(r))
		return shard.Done
	}
	j.Answer(shard.Outcome{Flag: r == cache.Applied, Version: version})
	return shard.Done
}

//felix:hot
func (w *Work) cacheDeleteIf(l *shard.Lane, j *shard.Job) shard.Verdict {
	key, _ := cacheBytes(j)
	version, r := l.Owner().(*cachePlace).state.DeleteIf(key, j.Arg1)
	if r == cache.Applied {
		version = 0 // an applied delete has no version to report
	}
	j.Answer(shard.Outcome{Flag: r == cache.Applied, Version: version})
	return shard.Done
}

// appendValue encodes a cache_value.
func appendValue(dst []byte, place *cachePlace, key []byte, id wire.RequestID, hasID bool, v cache.Value, has, versioned bool) []byte {
	m := wire.CacheValue{Tenant: []byte(place.desc.Tenant), Namespace: []byte(place.desc.Namespace),
		Cache: []byte(place.desc.Name), Key: key, RequestID: id, HasRequestID: hasID, HasValue: has}
	if has {
		m.Value = v.Ref.Bytes()
		m.Version, m.HasVersion = v.Version, versioned
	}
	return wire.AppendCacheValue(dst, &m)
}
