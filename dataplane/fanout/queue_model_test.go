package fanout

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestQueueModel compares a queue with a slice over random histories: order, bounds, counters, and that a lane is woken
// exactly when what it could not offer fits or the queue is closed.
func TestQueueModel(t *testing.T) {
	r := newRooms(t, 0)
	rapid.Check(t, func(t *rapid.T) {
		c := QueueConfig{MaxItems: rapid.IntRange(1, 20).Draw(t, "items"), Policy: Policy(rapid.IntRange(0, 1).Draw(t, "policy")),
			MaxBytes: int64(rapid.IntRange(20, 400).Draw(t, "bytes"))}
		q := r.queue(c)
		defer q.Close(EndCancelled)
		var held []*Envelope
		var w, wantWakes wakes
		bytes, want := 0, 0
		armed, closed, refused := false, false, false
		room := func(size int) bool {
			return len(held) == 0 || len(held) < c.MaxItems && bytes+size <= int(c.MaxBytes)
		}
		settle := func() {
			if armed && (closed || room(want)) {
				armed = false
				wantWakes.n++
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"offer": func(t *rapid.T) {
				size := rapid.IntRange(20, 150).Draw(t, "size")
				e := r.sized(size)
				got := q.Offer(e)
				switch {
				case closed:
					if got != Gone {
						t.Fatalf("a closed queue says %d", got)
					}
				case room(size):
					if got != Queued {
						t.Fatalf("%d although there is room", got)
					}
					held = append(held, e)
					bytes += size
				case c.Policy == Block:
					if got != Full {
						t.Fatalf("%d although there is no room", got)
					}
					want, refused = size, true
				case got != Dropped:
					t.Fatalf("%d although there is no room", got)
				}
				e.Release()
			},
			"notify": func(t *rapid.T) {
				if !refused {
					t.Skip("nothing was refused")
				}
				armed = true
				q.NotifySpace(&w)
				settle()
			},
			"take": func(t *rapid.T) {
				limit := int64(rapid.IntRange(0, 200).Draw(t, "limit"))
				n, sum := 0, int64(0)
				for n < len(held) && (n == 0 || limit == 0 || sum+int64(held[n].Size()) <= limit) {
					sum += int64(held[n].Size())
					n++
				}
				batch, state := q.TakeUpTo(nil, limit)
				if !slices.Equal(batch, held[:n]) {
					t.Fatalf("took %d, want the first %d of %d", len(batch), n, len(held))
				}
				held = held[n:]
				bytes -= int(sum)
				if (state == Ended) != (closed && len(held) == 0) {
					t.Fatalf("state %d, closed %t, %d held", state, closed, len(held))
				}
				release(batch)
				settle()
			},
			"close": func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "rarely") > 0 {
					t.Skip("closing is rare")
				}
				closed = true
				q.Close(EndDeleted)
				settle()
			},
			"": func(t *rapid.T) {
				if q.Len() != len(held) || w.n != wantWakes.n {
					t.Fatalf("%d queued, want %d; %d wakes, want %d", q.Len(), len(held), w.n, wantWakes.n)
				}
			},
		})
	})
}
