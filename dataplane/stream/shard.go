package stream

import (
	"sync"

	"github.com/felix-go/felix/dataplane/arena"
	"github.com/felix-go/felix/dataplane/fanout"
	"github.com/felix-go/felix/dataplane/wire"
)

// Config describes the shards of in-memory streams. It is a value that many shards share.
type Config struct {
	// RingMaxRecords and RingMaxBytes bound what a shard keeps for replay, in records and in frame bytes. With
	// either of them zero nothing is kept and a subscription can only start at the tail.
	RingMaxRecords int
	RingMaxBytes   int64
	// Budget bounds the rings of all shards of the process together; nil means no such bound.
	Budget *ReplayBudget
	// Encoder and Arena make the batch that a replay starts with when its offset lies inside a published one.
	// Required with a ring.
	Encoder *fanout.Encoder
	Arena   *arena.Arena
}

// Shard is one shard of an in-memory stream.
//
// Its lane calls Claim, Complete and Resume, one job at a time; everybody else calls the other methods at any time.
// The promises:
//
//   - offsets are dense from 0 in the order of the claims, and every claimed batch is completed;
//   - a subscriber gets every record from its start position on, once and in order, unless its own queue drops;
//   - a batch is offered to every subscriber before the next one is offered to any.
//
// Registration is exact because one mutex makes two steps indivisible. Complete pushes a batch to the ring, moves the
// tail and reads the subscriber set in one step; Subscribe reads the tail, takes its backlog out of the ring and joins
// the set in the other. So a batch is either below the tail that a subscriber found, and then it is in the backlog (or
// before the start) and Complete read a set without that subscriber; or it is not, and then the set that Complete
// reads has the subscriber. Reading the set after unlocking would deliver twice: the batch is pushed, a subscriber
// joins and finds it in the ring, then the set is read and has the subscriber.
//
// The set is copied by whoever joins or leaves and never changed, so the mutex is held for a push, not for a fanout:
// offering to a thousand queues happens outside it, and a queue that is full under the block policy holds up the
// lane, never somebody who joins or leaves.
//
// Under the block policy:
//
//	Complete: offer to all; whoever was full is owed
//	          nobody owed: done
//	          ask each of them to wake the lane; not done, the lane parks
//	Resume:   offer to those still owed; as above
//
// Everybody with room has the batch before anybody is waited for. A subscriber that goes away closes its queue, which
// wakes the lane and then answers Gone: nothing is owed to it any more. The lane's next job begins after this one is
// done, so no batch overtakes one that is owed.
type Shard struct {
	config Config

	// The lane owns the following.
	next    wire.Offset      // of the next claim
	pending *fanout.Envelope // the batch that is owed, counted; nil when none is
	owed    []*Subscriber    // to whom

	mu sync.Mutex
	// mu guards the following.
	ended  bool
	tail   wire.Offset   // behind the last completed batch
	subs   []*Subscriber // replaced, never changed
	replay replay
}

// Subscriber is one member of a shard's subscriber set.
type Subscriber struct{ queue *fanout.Queue }

// New returns an empty Shard whose first record will have offset 0.
func New(c Config) *Shard {
	return &Shard{config: c, replay: newReplay(c)}
}

// Tail returns the offset behind the last completed batch: the one that the next record gets.
func (s *Shard) Tail() wire.Offset {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tail
}

// Oldest returns the offset of the oldest record that can be replayed, the tail when there is none.
func (s *Shard) Oldest() wire.Offset {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.oldestLocked()
}

func (s *Shard) oldestLocked() wire.Offset {
	if e := s.replay.first(); e != nil {
		return e.Base()
	}
	return s.tail
}

// Subscribers returns the size of the subscriber set.
func (s *Shard) Subscribers() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.subs)
}

// End ends the shard: claims are refused, the ring is given back, and every subscriber's queue is closed with end. A
// batch that is owed is released by the lane, which the closed queues wake. Only the first call counts.
func (s *Shard) End(end fanout.End) {
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		return
	}
	s.ended = true
	subs := s.subs
	s.subs = nil
	s.replay.clear()
	s.mu.Unlock()
	for _, sub := range subs {
		sub.queue.Close(end)
	}
}
