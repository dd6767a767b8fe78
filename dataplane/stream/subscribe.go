package stream

import (
	"slices"

	"github.com/felix-go/felix/dataplane/fanout"
	"github.com/felix-go/felix/dataplane/wire"
)

// CursorError refuses a start offset that cannot be served.
type CursorError struct {
	// InFuture says that the offset is behind the tail (in_future); otherwise it is before the oldest record that
	// is kept (too_old).
	InFuture bool
	// Requested is the offset that was asked for.
	Requested wire.Offset
	// Available is the tail with InFuture, the oldest offset that can be replayed otherwise.
	Available wire.Offset
}

// Subscribe joins the queue to the subscriber set and cuts the backlog from the start position up to exactly where the
// queue begins. Earliest is the oldest record kept, latest and none are the tail.
//
// The backlog's counts are the caller's. An offset inside a batch makes a first envelope of its own that begins with
// that record. On a CursorError, or when ok is false because the shard has ended, nothing was joined; the queue
// remains the caller's to close.
func (s *Shard) Subscribe(q *fanout.Queue, start wire.StartPosition) (sub *Subscriber, backlog []*fanout.Envelope,
	refused *CursorError, ok bool) {
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		return nil, nil, nil, false
	}
	from := s.tail
	switch start.Kind {
	case wire.StartEarliest:
		from = s.oldestLocked()
	case wire.StartOffset:
		from = start.Offset
		if refused := s.checkLocked(from); refused != nil {
			s.mu.Unlock()
			return nil, nil, refused, true
		}
	}
	backlog = s.replay.since(from)
	sub = &Subscriber{queue: q}
	s.subs = append(slices.Clone(s.subs), sub)
	s.mu.Unlock()
	if len(backlog) > 0 && backlog[0].Base() < from {
		whole := backlog[0]
		backlog[0] = s.cut(whole, from)
		whole.Release()
	}
	return sub, backlog, nil, true
}

func (s *Shard) checkLocked(from wire.Offset) *CursorError {
	if from > s.tail {
		return &CursorError{InFuture: true, Requested: from, Available: s.tail}
	}
	if oldest := s.oldestLocked(); from < oldest {
		return &CursorError{Requested: from, Available: oldest}
	}
	return nil
}

// Unsubscribe takes the subscriber out of the set and closes its queue as cancelled, which releases a lane that owes
// it a batch. Calling it again, or after End, does nothing more.
func (s *Shard) Unsubscribe(sub *Subscriber) {
	s.mu.Lock()
	if i := slices.Index(s.subs, sub); i >= 0 {
		s.subs = slices.Delete(slices.Clone(s.subs), i, i+1)
	}
	s.mu.Unlock()
	sub.queue.Close(fanout.EndCancelled)
}
