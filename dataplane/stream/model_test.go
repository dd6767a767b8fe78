package stream

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/felix-go/felix/dataplane/fanout"
	"github.com/felix-go/felix/dataplane/wire"
)

// modelReader is what a subscriber must have got.
type modelReader struct {
	*reader
	from wire.Offset
}

// TestModel runs random histories of publishing, joining, reading and leaving against the promise that a subscriber
// gets every record from its start on, once and in order. Subscribers block, so nothing may be dropped.
func TestModel(t *testing.T) {
	r := newRooms(t, 0)
	rapid.Check(t, func(t *rapid.T) {
		records := rapid.IntRange(0, 12).Draw(t, "ring records")
		s := r.shard(records, int64(rapid.IntRange(50, 400).Draw(t, "ring bytes")))
		defer s.End(fanout.EndShutdown)
		var w wakes
		var readers []*modelReader
		owed := false
		tail := wire.Offset(0)
		publish := func(t *rapid.T) {
			if owed {
				t.Skip("the lane is parked")
			}
			count := uint32(rapid.IntRange(1, 5).Draw(t, "count"))
			base, ok := s.Claim(count)
			if !ok || base != tail {
				t.Fatalf("claimed %d, %t, want %d", base, ok, tail)
			}
			tail += wire.Offset(count)
			owed = !s.Complete(r.batch(base, count), &w)
		}
		resume := func(t *rapid.T) {
			if !owed {
				t.Skip("the lane is not parked")
			}
			owed = !s.Resume(&w)
		}
		pick := func(t *rapid.T) int {
			if len(readers) == 0 {
				t.Skip("nobody reads")
			}
			return rapid.IntRange(0, len(readers)-1).Draw(t, "reader")
		}
		t.Repeat(map[string]func(*rapid.T){
			"publish": publish,
			"resume":  resume,
			"join": func(t *rapid.T) {
				oldest := s.Oldest()
				kind := rapid.SampledFrom([]wire.StartPosition{{}, latest, earliest, at(0)}).Draw(t, "start")
				from := tail
				switch kind.Kind {
				case wire.StartEarliest:
					from = oldest
				case wire.StartOffset:
					kind.Offset = wire.Offset(rapid.Uint64Range(0, uint64(tail)+2).Draw(t, "offset"))
					from = kind.Offset
				}
				items := rapid.IntRange(1, 4).Draw(t, "items")
				rd := &modelReader{reader: &reader{queue: r.queue(items, fanout.Block)}, from: from}
				sub, backlog, refused, ok := s.Subscribe(rd.queue, kind)
				if !ok || (refused != nil) != (from < oldest || from > tail) {
					t.Fatalf("start %+v with %d..%d: %+v, %t", kind, oldest, tail, refused, ok)
				}
				if refused != nil {
					rd.queue.Close(fanout.EndCancelled)
					return
				}
				rd.sub = sub
				rd.read(backlog)
				rd.check(t, "backlog", from, tail)
				readers = append(readers, rd)
			},
			"read": func(t *rapid.T) { readers[pick(t)].take() },
			"leave": func(t *rapid.T) {
				i := pick(t)
				s.Unsubscribe(readers[i].sub)
				readers = append(readers[:i], readers[i+1:]...)
			},
			"": func(t *rapid.T) {
				if s.Tail() != tail || s.Oldest() > tail || s.Subscribers() != len(readers) {
					t.Fatalf("records %d..%d, %d subscribers, want tail %d, %d", s.Oldest(), s.Tail(), s.Subscribers(), tail,
						len(readers))
				}
				if tail-s.Oldest() > wire.Offset(records) {
					t.Fatalf("%d records are kept, want at most %d", tail-s.Oldest(), records)
				}
			},
		})
		for owed {
			for _, rd := range readers {
				rd.take()
			}
			owed = !s.Resume(&w)
		}
		for i, rd := range readers {
			rd.take()
			rd.check(t, fmt.Sprintf("reader %d", i), rd.from, tail)
		}
	})
}
