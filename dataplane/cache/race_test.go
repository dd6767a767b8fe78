package cache

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/felix-go/felix/internal/clock"
)

// TestPutIfHasOneWinner races goroutines through chains of conditional writes. Every version may be replaced
// by one writer only, so the wins form one chain; a lost update would leave fewer links than wins.
func TestPutIfHasOneWinner(t *testing.T) {
	for _, cfg := range []Config{
		{}, {MaxBytes: 1 << 20}, {MaxBytes: 1 << 20, Policy: PolicyLRU}, {MaxBytes: 1 << 20, Policy: PolicyNone},
	} {
		t.Run(fmt.Sprint(cfg.Policy, cfg.MaxBytes), func(t *testing.T) {
			f := newFixture(t, cfg)
			c := f.Open(1, 1)
			const racers, rounds = 4, 3000
			start := mustPut(t, c, "k", "", NoExpiry)
			type link struct{ from, to uint64 }
			wins := make([][]link, racers)
			var wg sync.WaitGroup
			for i := range racers {
				wg.Go(func() {
					for range rounds {
						v, ok := c.Get([]byte("k"))
						if !ok {
							t.Error("the key is gone")
							return
						}
						from := v.Version
						v.Ref.Release()
						// Sizes differ, so that room has to be reserved and given back all the time.
						value := make([]byte, (i+int(from))%500)
						to, r := c.PutIf([]byte("k"), value, NoExpiry, Condition{Version: from})
						switch {
						case r == Applied:
							wins[i] = append(wins[i], link{from, to})
						case r != Refused || to <= from:
							t.Errorf("refused at %d with %d, result %d", from, to, r)
							return
						}
					}
				})
			}
			wg.Wait()
			next := make(map[uint64]uint64)
			n := 0
			for _, list := range wins {
				for _, l := range list {
					if other, twice := next[l.from]; twice || l.to <= l.from {
						t.Fatalf("version %d was replaced by %d and by %d", l.from, other, l.to)
					}
					next[l.from] = l.to
					n++
				}
			}
			at, steps := start, 0
			for next[at] != 0 {
				at, steps = next[at], steps+1
			}
			if steps != n || n == 0 {
				t.Errorf("%d wins, a chain of %d", n, steps)
			}
			wantValue(t, c, "k", string(make([]byte, valueLen(c, "k"))), at)
			mustAudit(t, f)
		})
	}
}

func valueLen(c *Cache, key string) int {
	v, ok := c.Get([]byte(key))
	if !ok {
		return -1
	}
	defer v.Ref.Release()
	return len(v.Ref.Bytes())
}

// TestAbsentHasOneWinner races takers of a lock: per round exactly one gets it, and exactly one release
// succeeds.
func TestAbsentHasOneWinner(t *testing.T) {
	f := newFixture(t, Config{MaxBytes: 1 << 20})
	c := f.Open(1, 1)
	const racers, rounds = 4, 2000
	var taken, released [rounds]atomic.Int32
	var wg sync.WaitGroup
	for range racers {
		wg.Go(func() {
			for round := range rounds {
				key := binary.BigEndian.AppendUint32(nil, uint32(round))
				version, r := c.PutIf(key, []byte("me"), NoExpiry, Condition{Absent: true})
				if r == Applied {
					taken[round].Add(1)
				}
				if round%2 == 0 {
					continue
				}
				if _, r := c.DeleteIf(key, version); r == Applied {
					released[round].Add(1)
				}
			}
		})
	}
	wg.Wait()
	for round := range rounds {
		// An odd round's lock is released by whoever learned its version, and may then be taken again.
		n, gone := taken[round].Load(), released[round].Load()
		if round%2 == 0 && (n != 1 || gone != 0) || round%2 == 1 && (n < 1 || n != gone) {
			t.Errorf("round %d: taken %d times, released %d times", round, n, gone)
		}
	}
}

// TestStress runs everything at once under a tight limit. Values say which key they belong to, so a block
// that is reused under a reader shows; the limit and the balance of blocks are checked throughout and at the
// end.
func TestStress(t *testing.T) {
	for _, policy := range []Policy{PolicyS3FIFO, PolicyLRU, PolicyNone} {
		for _, limit := range []int64{0, 40_000, 3 << 20} {
			t.Run(fmt.Sprint(policy, limit), func(t *testing.T) {
				f := newFixture(t, Config{MaxBytes: limit, Policy: policy, Clock: clock.Real()})
				f.Start()
				s := &stress{f: f}
				var wg sync.WaitGroup
				for i := range 4 {
					wg.Go(func() { s.run(t, uint64(i)) })
				}
				wg.Wait()
				if limit > 0 && s.highest.Load() > limit {
					t.Errorf("%d bytes were in use, limit %d", s.highest.Load(), limit)
				}
			})
		}
	}
}

type stress struct {
	f           *fixture
	incarnation atomic.Uint64
	highest     atomic.Int64
}

func (s *stress) run(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(31, seed))
	var held []Value
	var owners []string
	for step := range 6000 {
		c := s.f.Open(1, s.incarnation.Load())
		key := fmt.Sprint("key", r.IntN(200))
		value := bytes.Repeat([]byte(key+";"), r.IntN(40))
		ttl := NoExpiry
		if r.IntN(2) == 0 {
			ttl = mustTTL(1 + uint64(r.IntN(5)))
		}
		switch op := r.IntN(20); {
		case op < 7:
			c.Put([]byte(key), value, ttl)
		case op < 9:
			c.PutIf([]byte(key), value, ttl, Condition{Absent: true})
		case op < 11:
			if current, r := c.PutIf([]byte(key), value, ttl, Condition{Version: 1}); r == Refused && current != 0 {
				c.PutIf([]byte(key), value, ttl, Condition{Version: current})
			}
		case op < 12:
			if v, ok := c.Delete([]byte(key)); ok {
				held, owners = append(held, v), append(owners, key)
			}
		case op < 13:
			if current, _ := c.DeleteIf([]byte(key), 1); current != 0 {
				c.DeleteIf([]byte(key), current)
			}
		case op < 19:
			if v, ok := c.Get([]byte(key)); ok {
				held, owners = append(held, v), append(owners, key)
			}
		case step%100 == 0:
			s.recreate(c)
		default:
			c.Keys([]byte("key1"), nil, 20)
		}
		if n := s.f.used.Load(); n > s.highest.Load() {
			s.highest.Store(n)
		}
		if len(held) > 50 || step == 5999 {
			for i, v := range held {
				b, unit := v.Ref.Bytes(), []byte(owners[i]+";")
				if !bytes.Equal(b, bytes.Repeat(unit, len(b)/len(unit))) {
					t.Errorf("the value of %q is %q", owners[i], b)
				}
				v.Ref.Release()
			}
			held, owners = held[:0], owners[:0]
		}
	}
}

// recreate drops the cache the others are using and lets them open its next incarnation.
func (s *stress) recreate(c *Cache) {
	if s.incarnation.CompareAndSwap(c.id.incarnation, c.id.incarnation+1) {
		s.f.Drop(1, c.id.incarnation)
	}
}

// Close may meet requests that are still running; whatever they store or hold comes back.
func TestCloseUnderLoad(t *testing.T) {
	for range 20 {
		f := newFixture(t, Config{MaxBytes: 1 << 20, Clock: clock.Real()})
		f.Start()
		var wg sync.WaitGroup
		for i := range 3 {
			wg.Go(func() {
				c := f.Open(1, 1)
				for n := range 2000 {
					key := binary.BigEndian.AppendUint32(nil, uint32(i*1000+n))
					if _, r := c.Put(key, key, mustTTL(1)); r == Gone {
						return
					}
					if v, ok := c.Get(key); ok {
						v.Ref.Release()
					}
					if n%50 == 0 {
						runtime.Gosched()
					}
				}
			})
		}
		runtime.Gosched()
		f.Close()
		wg.Wait()
		if n := f.arena.Outstanding(); n != 0 || f.used.Load() != 0 {
			t.Fatalf("%d blocks, %d bytes after Close", n, f.used.Load())
		}
	}
}

// The sweep's timer and Close must not wait for each other.
func TestCloseStopsSweepAtOnce(t *testing.T) {
	f := newFixture(t, Config{})
	f.Start()
	c := f.Open(1, 1)
	mustPut(t, c, "k", "v", mustTTL(1))
	f.clock.Advance(time.Hour)
	f.Close()
	wantAbsent(t, c, "k")
}
