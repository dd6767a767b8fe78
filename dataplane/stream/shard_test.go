package stream

import (
	"testing"

	"github.com/felix-go/felix/dataplane/fanout"
	"github.com/felix-go/felix/dataplane/wire"
)

var (
	latest   = wire.StartPosition{Kind: wire.StartLatest}
	earliest = wire.StartPosition{Kind: wire.StartEarliest}
)

func at(o wire.Offset) wire.StartPosition {
	return wire.StartPosition{Kind: wire.StartOffset, Offset: o}
}

func TestStartPositions(t *testing.T) {
	r := newRooms(t, 0)
	s := r.shard(10, 1<<20)
	for _, count := range []uint32{3, 4, 2, 5} {
		r.publish(t, s, count, nil)
	}
	// 14 records were published, at most 10 are kept, in whole batches: 7-8 and 9-13.
	if s.Tail() != 14 || s.Oldest() != 7 {
		t.Fatalf("tail %d, oldest %d, want 14 and 7", s.Tail(), s.Oldest())
	}
	tests := []struct {
		name    string
		start   wire.StartPosition
		from    wire.Offset
		refused *CursorError
	}{
		{"none", wire.StartPosition{}, 14, nil},
		{"latest", latest, 14, nil},
		{"earliest", earliest, 7, nil},
		{"oldest", at(7), 7, nil},
		{"inside the first batch", at(8), 8, nil},
		{"at a batch", at(9), 9, nil},
		{"inside the last batch", at(12), 12, nil},
		{"last record", at(13), 13, nil},
		{"tail", at(14), 14, nil},
		{"too old", at(6), 0, &CursorError{Requested: 6, Available: 7}},
		{"0 is too old", at(0), 0, &CursorError{Requested: 0, Available: 7}},
		{"in future", at(15), 0, &CursorError{InFuture: true, Requested: 15, Available: 14}},
		{"far in future", at(1<<64 - 1), 0, &CursorError{InFuture: true, Requested: 1<<64 - 1, Available: 14}},
	}
	var readers []*reader
	for _, tt := range tests {
		rd := &reader{queue: r.queue(8, fanout.DropNew)}
		sub, backlog, refused, ok := s.Subscribe(rd.queue, tt.start)
		rd.sub = sub
		if !ok || (refused == nil) != (tt.refused == nil) || refused != nil && *refused != *tt.refused {
			t.Errorf("%s: refused %+v, want %+v", tt.name, refused, tt.refused)
		}
		if refused != nil {
			if sub != nil || backlog != nil {
				t.Errorf("%s: refused and joined", tt.name)
			}
			rd.queue.Close(fanout.EndCancelled)
			readers = append(readers, nil)
			continue
		}
		rd.read(backlog)
		readers = append(readers, rd)
	}
	r.publish(t, s, 2, nil)
	for i, tt := range tests {
		if rd := readers[i]; rd != nil {
			rd.take()
			rd.check(t, tt.name, tt.from, 16)
		}
	}
	s.End(fanout.EndShutdown)
}

// TestCutIsItsOwnBatch checks that a replay from inside a batch leaves the published one as it is.
func TestCutIsItsOwnBatch(t *testing.T) {
	r := newRooms(t, 0)
	s := r.shard(100, 1<<20)
	r.publish(t, s, 5, nil)
	cut := r.join(t, s, 1, fanout.DropNew, at(3))
	whole := r.join(t, s, 1, fanout.DropNew, earliest)
	cut.check(t, "cut", 3, 5)
	whole.check(t, "whole", 0, 5)
	s.End(fanout.EndDeleted)
}

func TestRingBounds(t *testing.T) {
	size := func(e *fanout.Envelope) int64 { defer e.Release(); return int64(e.Size()) }
	r := newRooms(t, 0)
	one := size(r.batch(0, 1))
	tests := []struct {
		name    string
		records int
		bytes   int64
		batches []uint32
		oldest  wire.Offset
	}{
		{"no ring", 0, 1 << 20, []uint32{3, 1}, 4},
		{"no bytes", 10, 0, []uint32{3, 1}, 4},
		{"records", 4, 1 << 20, []uint32{2, 2, 1}, 2},
		{"bytes", 100, 3 * one, []uint32{1, 1, 1, 1}, 1},
		{"too many records at once", 4, 1 << 20, []uint32{2, 5}, 7},
		{"too many bytes at once", 100, 3 * one, []uint32{1, 50}, 51},
		{"filled again", 4, 1 << 20, []uint32{2, 5, 3}, 7},
	}
	for _, tt := range tests {
		s := r.shard(tt.records, tt.bytes)
		tail := wire.Offset(0)
		for _, n := range tt.batches {
			r.publish(t, s, n, nil)
			tail += wire.Offset(n)
		}
		if s.Oldest() != tt.oldest || s.Tail() != tail {
			t.Errorf("%s: kept %d..%d, want %d..%d", tt.name, s.Oldest(), s.Tail(), tt.oldest, tail)
		}
		rd := r.join(t, s, 1, fanout.DropNew, earliest)
		rd.check(t, tt.name, tt.oldest, tail)
		s.End(fanout.EndShutdown)
	}
}

// TestReplayBudget shares one budget between two shards: whoever pushes over it evicts its own.
func TestReplayBudget(t *testing.T) {
	one := int64(0)
	{
		r := newRooms(t, 0)
		e := r.batch(0, 1)
		one = int64(e.Size())
		e.Release()
	}
	r := newRooms(t, 4*one)
	a, b := r.shard(100, 1<<20), r.shard(100, 1<<20)
	for range 3 {
		r.publish(t, a, 1, nil)
	}
	for range 3 {
		r.publish(t, b, 1, nil)
	}
	if a.Oldest() != 0 || b.Oldest() != 2 || r.budget.Bytes() != 4*one {
		t.Errorf("oldest %d and %d, %d bytes, want 0, 2 and %d", a.Oldest(), b.Oldest(), r.budget.Bytes(), 4*one)
	}
	a.End(fanout.EndDeleted)
	for range 3 {
		r.publish(t, b, 1, nil)
	}
	if b.Oldest() != 2 {
		t.Errorf("oldest %d after the other shard ended, want 2", b.Oldest())
	}
	b.End(fanout.EndDeleted)
}

// TestEnd checks every call after the end.
func TestEnd(t *testing.T) {
	r := newRooms(t, 0)
	s := r.shard(10, 1<<20)
	rd := r.join(t, s, 8, fanout.DropNew, latest)
	base, _ := s.Claim(2)
	s.End(fanout.EndDeleted)
	s.End(fanout.EndShutdown)
	if rd.queue.End() != fanout.EndDeleted {
		t.Errorf("the queue ended as %d", rd.queue.End())
	}
	if !s.Complete(r.batch(base, 2), nil) {
		t.Error("a claim from before the end is not done")
	}
	if _, ok := s.Claim(1); ok {
		t.Error("a claim after the end is granted")
	}
	if s.Subscribers() != 0 || s.Oldest() != s.Tail() {
		t.Errorf("%d subscribers, records %d..%d after the end", s.Subscribers(), s.Oldest(), s.Tail())
	}
	q := r.queue(1, fanout.DropNew)
	if sub, backlog, refused, ok := s.Subscribe(q, earliest); ok || sub != nil || backlog != nil || refused != nil {
		t.Error("joined after the end")
	}
	q.Close(fanout.EndCancelled)
	if rd.take() != fanout.Ended {
		t.Error("the queue has not ended")
	}
	s.Unsubscribe(rd.sub)
}

// TestBlock follows one batch past a full subscriber: everybody with room gets it at once, the full one first of all
// that follow, and a wake comes when it is worth trying.
func TestBlock(t *testing.T) {
	r := newRooms(t, 0)
	s := r.shard(0, 0)
	slow := r.join(t, s, 2, fanout.Block, latest)
	fast := r.join(t, s, 100, fanout.Block, latest)
	var w wakes
	if !s.Resume(&w) {
		t.Error("nothing is owed and it is not done")
	}
	for range 2 {
		if !r.publish(t, s, 1, &w) {
			t.Fatal("not done although all have room")
		}
	}
	if r.publish(t, s, 1, &w) {
		t.Fatal("done although one is full")
	}
	if fast.take(); len(fast.offsets) != 3 {
		t.Errorf("the fast subscriber has %d records, want 3 before anybody is waited for", len(fast.offsets))
	}
	if w.n != 0 || s.Resume(&w) || w.n != 0 {
		t.Error("woken or done without room")
	}
	slow.take()
	if w.n != 1 || !s.Resume(&w) {
		t.Errorf("%d wakes, or not done with room", w.n)
	}
	for range 2 {
		r.publish(t, s, 1, &w)
		slow.take()
	}
	fast.take()
	slow.check(t, "slow", 0, 5)
	fast.check(t, "fast", 0, 5)
	s.End(fanout.EndShutdown)
}

// TestBlockedSubscriberGoes releases the lane whichever way the subscriber that holds it goes.
func TestBlockedSubscriberGoes(t *testing.T) {
	ways := map[string]func(s *Shard, rd *reader){
		"unsubscribe": func(s *Shard, rd *reader) { s.Unsubscribe(rd.sub) },
		"queue":       func(s *Shard, rd *reader) { rd.queue.Close(fanout.EndCancelled) },
		"end":         func(s *Shard, rd *reader) { s.End(fanout.EndDeleted) },
		"shutdown":    func(s *Shard, rd *reader) { s.End(fanout.EndShutdown) },
	}
	for name, goes := range ways {
		t.Run(name, func(t *testing.T) {
			r := newRooms(t, 0)
			s := r.shard(10, 1<<20)
			rd := r.join(t, s, 1, fanout.Block, latest)
			var w wakes
			r.publish(t, s, 1, &w)
			if r.publish(t, s, 1, &w) {
				t.Fatal("done although the subscriber is full")
			}
			goes(s, rd)
			if w.n != 1 || !s.Resume(&w) {
				t.Errorf("%d wakes, or still owed to a subscriber that is gone", w.n)
			}
			rd.take()
			s.End(fanout.EndShutdown)
			s.Unsubscribe(rd.sub)
		})
	}
}
