package fanout

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/felix-go/felix/dataplane/transport"
	"github.com/felix-go/felix/dataplane/wire"
)

// pumped is a pump on a fake stream.
type pumped struct {
	*rooms
	stream *fakeStream
	queue  *Queue
	pump   *Pump
	ends   int // owned by the pump until it has ended
}

func startPumped(t testing.TB, r *rooms, change func(*PumpConfig)) *pumped {
	p := &pumped{rooms: r, stream: newFakeStream(), queue: r.queue(QueueConfig{})}
	t.Cleanup(p.stream.cancel)
	c := PumpConfig{Stream: p.stream, Queue: p.queue, Arena: r.arena, Subscription: 9, OnEnd: func() { p.ends++ }}
	if change != nil {
		change(&c)
	}
	if s, ok := c.Stream.(*fakeStream); ok {
		p.stream = s
	}
	p.pump = StartPump(c)
	t.Cleanup(p.stream.cancel)
	return p
}

func (p *pumped) offer(e *Envelope) Result {
	defer e.Release()
	return p.queue.Offer(e)
}

// end waits for the pump and checks what holds after every end.
func (p *pumped) end(t testing.TB) {
	t.Helper()
	p.pump.Wait()
	if p.ends != 1 {
		t.Errorf("OnEnd was called %d times", p.ends)
	}
	if p.offer(p.sized(30)) != Gone {
		t.Error("the queue still takes batches")
	}
}

// records returns the payloads of the event frames written so far.
func (p *pumped) records(t testing.TB) (payloads []string) {
	p.stream.mu.Lock()
	b := slices.Clone(p.stream.bytes)
	p.stream.mu.Unlock()
	for len(b) > 0 {
		h, err := wire.ParseHeader(b)
		if err != nil {
			t.Fatal(err)
		}
		body := b[wire.HeaderLen : wire.HeaderLen+int(h.Length)]
		b = b[wire.HeaderLen+int(h.Length):]
		if h.Flags == 0 {
			payloads = append(payloads, string(body))
			continue
		}
		count := binary.BigEndian.Uint32(body)
		body = body[4:]
		for range count {
			rec, rest, ok := wire.NextRecord(body)
			if !ok {
				t.Fatal("a frame is cut short")
			}
			payloads = append(payloads, string(rec))
			body = rest
		}
	}
	return payloads
}

func TestPumpCombines(t *testing.T) {
	r := newRooms(t, 0)
	p := startPumped(t, r, func(c *PumpConfig) { c.MaxWriteBytes = 400 })
	// The first write blocks; what comes meanwhile is combined: 50 50 50 50 | 50 100 100 100 | 101 alone | 20 | 900 | 30.
	p.stream.stall(true)
	p.offer(r.sized(100))
	p.stream.until(func() bool { return p.stream.blocked == 1 })
	for _, size := range []int{50, 100, 100, 100, 50, 50, 101, 20, 900, 30} {
		p.offer(r.sized(size))
	}
	p.stream.stall(false)
	p.queue.Close(EndShutdown)
	p.end(t)
	if want := []int{100, 400, 50, 101, 20, 900, 30}; !slices.Equal(p.stream.writes, want) {
		t.Errorf("writes of %v bytes, want %v", p.stream.writes, want)
	}
}

// TestPumpIdleHoldsNothing checks that the scratch block goes back when there is nothing to send.
func TestPumpIdleHoldsNothing(t *testing.T) {
	r := newRooms(t, 0)
	p := startPumped(t, r, nil)
	p.stream.stall(true)
	for range 40 {
		p.offer(r.sized(30))
	}
	p.stream.stall(false)
	for asleep := false; !asleep; {
		p.stream.until(func() bool { return len(p.stream.bytes) == 40*30 })
		p.queue.mu.Lock()
		asleep = p.queue.sleeping
		p.queue.mu.Unlock()
	}
	p.queue.Close(EndShutdown)
	p.end(t)
	if n := r.arena.Outstanding(); n != 0 {
		t.Errorf("an idle pump holds %d blocks", n)
	}
}

func TestPumpPrefaceFirst(t *testing.T) {
	r := newRooms(t, 0)
	var backlog []*Envelope
	var want []string
	for i := range 20 {
		text := strings.Repeat(string(rune('a'+i)), 10)
		backlog = append(backlog, r.envelope(text))
		want = append(want, text)
	}
	p := startPumped(t, r, func(c *PumpConfig) {
		c.Preface = backlog
		c.MaxWriteBytes = 200
		e := r.envelope("live")
		c.Queue.Offer(e)
		e.Release()
	})
	p.queue.Close(EndShutdown)
	p.end(t)
	if got := p.records(t); !slices.Equal(got, append(want, "live")) {
		t.Errorf("records %q", got)
	}
	if slices.Max(p.stream.writes) > 200 || len(p.stream.writes) != 5 {
		t.Errorf("writes of %v bytes, want pages of at most 200", p.stream.writes)
	}
}

func TestPumpEnds(t *testing.T) {
	deleted := string(wire.AppendStreamDeleted(nil, 9)[wire.HeaderLen:])
	tests := []struct {
		name    string
		offered bool
		end     End
		want    []string
		fin     bool
		reset   bool
	}{
		{"deleted", true, EndDeleted, []string{"a", "b", deleted}, true, false},
		{"deleted, not offered", false, EndDeleted, []string{"a", "b"}, true, false},
		{"cancelled", true, EndCancelled, []string{"a"}, false, true},
		{"shutdown", true, EndShutdown, []string{"a", "b"}, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRooms(t, 0)
			p := startPumped(t, r, func(c *PumpConfig) { c.StreamDeletedOffered = tt.offered })
			p.offer(r.envelope("a"))
			p.stream.until(func() bool { return len(p.stream.bytes) > 0 })
			p.stream.stall(true)
			p.offer(r.envelope("b"))
			p.stream.until(func() bool { return p.stream.blocked == 1 })
			p.queue.Close(tt.end)
			if tt.end != EndCancelled {
				p.stream.stall(false)
			}
			p.end(t)
			if got := p.records(t); !slices.Equal(got, tt.want) {
				t.Errorf("records %q, want %q", got, tt.want)
			}
			if p.stream.fin != tt.fin || len(p.stream.resets) > 0 != tt.reset {
				t.Errorf("FIN %t, resets %v", p.stream.fin, p.stream.resets)
			}
			for _, code := range p.stream.resets {
				if code != transport.StreamCancelled {
					t.Errorf("reset with %d", code)
				}
			}
		})
	}
}

// TestPumpPeerCancels cancels the stream from the other side while nothing is sent, while a write blocks, and in the
// middle of the preface.
func TestPumpPeerCancels(t *testing.T) {
	for _, when := range []string{"idle", "blocked", "preface"} {
		t.Run(when, func(t *testing.T) {
			r := newRooms(t, 0)
			s := newFakeStream()
			p := startPumped(t, r, func(c *PumpConfig) {
				c.Stream = s
				if when == "preface" {
					s.stall(true)
					c.Preface = []*Envelope{r.envelope("a"), r.sized(1 << 17), r.sized(1 << 17)}
				}
			})
			switch when {
			case "idle":
				p.offer(r.envelope("a"))
				s.until(func() bool { return len(s.bytes) > 0 })
			case "blocked":
				s.stall(true)
				p.offer(r.envelope("a"))
				s.until(func() bool { return s.blocked == 1 })
				p.offer(r.envelope("b"))
			case "preface":
				s.until(func() bool { return s.blocked == 1 })
				p.offer(r.envelope("b"))
			}
			s.cancel()
			p.end(t)
			if s.fin {
				t.Error("a cancelled stream got a FIN")
			}
		})
	}
}

// TestPrefaceIsCharged holds a preface back: the budget counts it until it is written.
func TestPrefaceIsCharged(t *testing.T) {
	r := newRooms(t, 1000)
	s := newFakeStream()
	s.stall(true)
	p := startPumped(t, r, func(c *PumpConfig) {
		c.Stream = s
		c.Preface = []*Envelope{r.sized(600), r.sized(600)}
	})
	s.until(func() bool { return s.blocked == 1 })
	if n := r.egress.Bytes(); n != 1200 || !r.egress.Exhausted() {
		t.Errorf("%d bytes are charged, want 1200, exhausted", n)
	}
	s.stall(false)
	p.queue.Close(EndShutdown)
	p.end(t)
}

// TestPumpStalledAlone stalls one of three peers: its own queue fills, the others get everything.
func TestPumpStalledAlone(t *testing.T) {
	r := newRooms(t, 0)
	var all []*pumped
	for range 3 {
		all = append(all, startPumped(t, r, nil))
	}
	all[0].stream.stall(true)
	const n = 2 * DefaultQueueItems
	for i := range n {
		e := r.sized(30)
		for k, p := range all {
			got := p.queue.Offer(e)
			for k > 0 && got == Dropped { // a healthy pump needs a processor, not luck
				s := p.stream
				s.until(func() bool { return len(s.bytes) >= 30*i })
				got = p.queue.Offer(e)
			}
		}
		e.Release()
	}
	for _, p := range all[1:] {
		s := p.stream
		s.until(func() bool { return len(s.bytes) == 30*n })
		p.queue.Close(EndShutdown)
		p.end(t)
	}
	if all[0].queue.Dropped() == 0 {
		t.Error("the stalled subscriber lost nothing")
	}
	all[0].stream.cancel()
	all[0].end(t)
}

// TestPumpRace offers, ends and cancels at once, many times over; what was given must come back.
func TestPumpRace(t *testing.T) {
	r := newRooms(t, 10_000)
	for i := range 300 {
		p := startPumped(t, r, func(c *PumpConfig) { c.StreamDeletedOffered = true })
		go func() {
			switch i % 4 {
			case 0:
				p.queue.Close(EndDeleted)
			case 1:
				p.queue.Close(EndCancelled)
			case 2:
				p.stream.cancel()
			case 3:
				p.queue.Close(EndDeleted)
				p.queue.Close(EndCancelled)
			}
		}()
		e := r.sized(300)
		for range 100 {
			if p.queue.Offer(e) == Gone {
				break
			}
		}
		e.Release()
		p.end(t)
		if p.stream.fin && !bytes.Contains(p.stream.bytes, []byte("stream_deleted")) {
			t.Fatal("a FIN without stream_deleted")
		}
	}
}
