package fanout

import (
	"fmt"
	"testing"
)

// BenchmarkQueueOffer is one batch through one queue: offered, taken, released.
func BenchmarkQueueOffer(b *testing.B) {
	for _, batch := range []int{1, 64} {
		b.Run(fmt.Sprintf("batch=%d", batch), func(b *testing.B) {
			r := newRooms(b, 1<<30)
			q := r.queue(QueueConfig{})
			defer q.Close(EndCancelled)
			e := r.sized(256)
			defer e.Release()
			var taken []*Envelope
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				q.Offer(e)
				if n++; n%batch == 0 {
					taken, _ = q.Take(taken[:0])
					release(taken)
				}
			}
		})
	}
}

// BenchmarkFrame is the encode of one batch: the first call and the ones that share it.
func BenchmarkFrame(b *testing.B) {
	for _, readers := range []int{1, 10} {
		b.Run(fmt.Sprintf("readers=%d", readers), func(b *testing.B) {
			r := newRooms(b, 0)
			b.ReportAllocs()
			for b.Loop() {
				e := r.encoder.Envelope(r.arena.Acquire(Headroom+256), Headroom, 256, 1, 0, 248)
				for range readers {
					e.Frame()
				}
				e.Release()
			}
		})
	}
}

// BenchmarkPump is one lane feeding pumps whose peers read everything.
func BenchmarkPump(b *testing.B) {
	for _, subs := range []int{1, 10} {
		b.Run(fmt.Sprintf("size=256/subs=%d", subs), func(b *testing.B) {
			r := newRooms(b, 0)
			var pumps []*pumped
			for range subs {
				pumps = append(pumps, startPumped(b, r, func(c *PumpConfig) {
					c.Stream = &discardStream{newFakeStream()}
				}))
			}
			b.ReportAllocs()
			b.SetBytes(int64(256 * subs))
			dropped := uint64(0)
			for b.Loop() {
				e := r.sized(256)
				for _, p := range pumps {
					p.queue.Offer(e)
				}
				e.Release()
			}
			for _, p := range pumps {
				dropped += p.queue.Dropped()
				p.queue.Close(EndShutdown)
				p.pump.Wait()
			}
			b.ReportMetric(float64(dropped)/float64(b.N*subs), "dropped/op")
		})
	}
}

// discardStream accepts everything at once.
type discardStream struct{ *fakeStream }

func (d *discardStream) Write(b []byte) (int, error) { return len(b), nil }
