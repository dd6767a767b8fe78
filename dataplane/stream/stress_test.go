package stream

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/felix-go/felix/dataplane/fanout"
	"github.com/felix-go/felix/dataplane/wire"
)

// laneBell is a lane that parks: its publisher goroutine.
type laneBell chan struct{}

func (b laneBell) Wake() {
	select {
	case b <- struct{}{}:
	default:
	}
}

// TestJoinWhilePublishing lets many subscribers join from all positions while a publisher runs at full speed under the
// block policy: every one of them must read without a gap and without a repetition across its backlog and what follows.
func TestJoinWhilePublishing(t *testing.T) {
	const batches, workers, joinsEach = 20_000, 4, 100
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := newRooms(t, 0)
	s := r.shard(64, 1<<20)
	var wg sync.WaitGroup
	published := make(chan wire.Offset, 1)
	wg.Add(1)
	go func() {
		defer wg.Done()
		rng := rand.New(rand.NewPCG(seed, 0))
		bell := make(laneBell, 1)
		for range batches {
			count := uint32(1 + rng.IntN(4))
			base, ok := s.Claim(count)
			if !ok {
				t.Error("the claim was refused")
				break
			}
			for done := s.Complete(r.batch(base, count), bell); !done; done = s.Resume(bell) {
				<-bell
			}
		}
		published <- s.Tail()
		s.End(fanout.EndDeleted)
	}()
	for i := range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			rng := rand.New(rand.NewPCG(seed, uint64(i)+1))
			for n := range joinsEach {
				if !r.joinOnce(t, s, rng, n == joinsEach-1) {
					return
				}
			}
		}()
	}
	wg.Wait()
	t.Logf("%d records", <-published)
}

// joinOnce reads a while from a random position, or to the end, and then leaves; false when the shard has ended.
func (r *rooms) joinOnce(t *testing.T, s *Shard, rng *rand.Rand, toTheEnd bool) bool {
	rd := &reader{queue: r.queue(1+rng.IntN(16), fanout.Block)}
	start := []wire.StartPosition{latest, earliest, at(s.Tail() - wire.Offset(rng.IntN(20)))}[rng.IntN(3)]
	sub, backlog, refused, ok := s.Subscribe(rd.queue, start)
	if refused != nil || !ok {
		rd.queue.Close(fanout.EndCancelled)
		return ok
	}
	rd.sub = sub
	rd.read(backlog)
	state := fanout.Open
	for n := rng.IntN(50); (n > 0 || toTheEnd) && state == fanout.Open; n-- {
		had := len(rd.offsets)
		if state = rd.take(); state == fanout.Open && len(rd.offsets) == had {
			<-rd.queue.Ready()
		}
	}
	s.Unsubscribe(sub)
	if len(rd.offsets) > 0 {
		first, last := rd.offsets[0], rd.offsets[len(rd.offsets)-1]
		if start.Kind == wire.StartOffset && first != start.Offset {
			t.Errorf("the first record is %d, want %d", first, start.Offset)
		}
		rd.check(t, fmt.Sprintf("start %+v", start), first, last+1)
		if toTheEnd && last+1 != s.Tail() {
			t.Errorf("the last record is %d, the tail %d", last, s.Tail())
		}
	}
	return true
}
