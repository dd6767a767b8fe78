package stream

import (
	"github.com/felix-go/felix/dataplane/fanout"
	"github.com/felix-go/felix/dataplane/ring"
	"github.com/felix-go/felix/dataplane/wire"
)

// Claim takes the next count offsets; false means that the shard has ended and nothing was taken. What was claimed
// must be completed. Called by the lane.
//
//felix:hot
func (s *Shard) Claim(count uint32) (base wire.Offset, ok bool) {
	s.mu.Lock()
	ended := s.ended
	s.mu.Unlock()
	if ended {
		return 0, false
	}
	base = s.next
	s.next += wire.Offset(count)
	return base, true
}

// Complete makes a claimed batch visible: it enters the replay ring and is offered to every subscriber. It takes over
// the caller's count of e. False means that it is still owed to somebody under the block policy: w.Wake will be called
// when it is worth calling Resume. Called by the lane, in claim order, after the last batch was done.
//
//felix:hot
func (s *Shard) Complete(e *fanout.Envelope, w ring.Waker) (done bool) {
	s.mu.Lock()
	s.tail = e.Base() + wire.Offset(e.Count())
	if !s.ended {
		s.replay.push(e)
	}
	subs := s.subs
	s.mu.Unlock()
	for _, sub := range subs {
		if sub.queue.Offer(e) == fanout.Full {
			s.owed = append(s.owed, sub)
		}
	}
	return s.settle(e, w)
}

// Resume offers the batch that is owed to those who still lack it, and answers as Complete does. Without such a batch
// it returns true. Called by the lane.
//
//felix:hot
func (s *Shard) Resume(w ring.Waker) (done bool) {
	if s.pending == nil {
		return true
	}
	e := s.pending
	s.pending = nil
	still := s.owed[:0]
	for _, sub := range s.owed {
		if sub.queue.Offer(e) == fanout.Full {
			still = append(still, sub)
		}
	}
	clear(s.owed[len(still):])
	s.owed = still
	return s.settle(e, w)
}

// settle gives the lane's count of e back, or keeps it while somebody is owed.
func (s *Shard) settle(e *fanout.Envelope, w ring.Waker) bool {
	if len(s.owed) == 0 {
		e.Release()
		return true
	}
	s.pending = e
	for _, sub := range s.owed {
		sub.queue.NotifySpace(w)
	}
	return false
}
