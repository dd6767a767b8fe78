package ring

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The buffer behaves like a slice with a bound.
func TestBufferIsABoundedQueue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		max := rapid.IntRange(1, 40).Draw(t, "max")
		b := NewBuffer[int](max)
		var model []int
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				v := rapid.Int().Draw(t, "v")
				ok := b.Push(v)
				if ok != (len(model) < max) {
					t.Fatalf("push into %d of %d: %v", len(model), max, ok)
				}
				if ok {
					model = append(model, v)
				}
			},
			"pop": func(t *rapid.T) {
				v, ok := b.Pop()
				if ok != (len(model) > 0) {
					t.Fatalf("pop of %d: %v", len(model), ok)
				}
				if ok {
					if v != model[0] {
						t.Fatalf("popped %d, want %d", v, model[0])
					}
					model = model[1:]
				}
			},
			"": func(t *rapid.T) {
				if b.Len() != len(model) {
					t.Fatalf("%d values, want %d", b.Len(), len(model))
				}
				for i, want := range model {
					if got := b.Peek(i); got != want {
						t.Fatalf("value %d is %d, want %d", i, got, want)
					}
				}
			},
		})
	})
}

func TestBufferForgetsWhatWasPopped(t *testing.T) {
	b := NewBuffer[*int](4)
	b.Push(new(int))
	b.Pop()
	for i, p := range b.slots {
		if p != nil {
			t.Errorf("slot %d still holds a pointer", i)
		}
	}
	large := NewBuffer[int](100_000)
	for i := range 5000 {
		large.Push(i)
	}
	for range 5000 {
		large.Pop()
	}
	if len(large.slots) > keepSlots {
		t.Errorf("an empty buffer keeps %d slots", len(large.slots))
	}
}

// The window gives out completed values in the order of the reservations, whatever the order of the completions, and takes a
// place until it is released.
func TestWindowOrders(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		max := rapid.IntRange(1, 20).Draw(t, "max")
		w := NewWindow[uint64](max)
		var reserved, next, drained, released uint64
		done := map[uint64]bool{}
		told := false // the consumer was told, or has not looked since
		t.Repeat(map[string]func(*rapid.T){
			"reserve": func(t *rapid.T) {
				seq, ok := w.Reserve()
				if want := reserved-released < uint64(max); ok != want {
					t.Fatalf("reserve with %d of %d taken: %v", reserved-released, max, ok)
				}
				if ok {
					if seq != reserved {
						t.Fatalf("place %d, want %d", seq, reserved)
					}
					reserved++
				}
			},
			"complete": func(t *rapid.T) {
				var open []uint64
				for seq := next; seq < reserved; seq++ {
					if !done[seq] {
						open = append(open, seq)
					}
				}
				if len(open) == 0 {
					t.Skip("nothing to complete")
				}
				seq := rapid.SampledFrom(open).Draw(t, "seq")
				accepted, wake := w.Complete(seq, seq*7)
				if !accepted {
					t.Fatal("refused by an open window")
				}
				done[seq] = true
				if wake {
					if seq != next {
						t.Fatalf("woken for %d while %d is not completed", seq, next)
					}
					told = true
				}
				if done[next] && !told {
					t.Fatalf("%d is ready and nobody was told", next)
				}
			},
			"drain": func(t *rapid.T) {
				got := w.Drain(nil)
				for _, v := range got {
					if v != next*7 || !done[next] {
						t.Fatalf("drained %d, want the value of %d", v, next)
					}
					next++
				}
				if done[next] {
					t.Fatalf("%d is ready and was not drained", next)
				}
				drained = next
				told = len(got) > 0 // it will look again before it sleeps
			},
			"release": func(t *rapid.T) {
				n := rapid.IntRange(0, int(drained-released)).Draw(t, "n")
				w.Release(n)
				released += uint64(n)
			},
			"": func(t *rapid.T) {
				if got := w.Outstanding(); got != int(reserved-released) {
					t.Fatalf("%d outstanding, want %d", got, reserved-released)
				}
			},
		})
		left := w.Close()
		for seq := next; seq < reserved; seq++ {
			if accepted, _ := w.Complete(seq, 0); accepted {
				t.Fatal("a closed window accepted a value")
			}
			if done[seq] {
				if len(left) == 0 || left[0] != seq*7 {
					t.Fatalf("Close gave %v back, want the value of %d", left, seq)
				}
				left = left[1:]
			}
		}
		if _, ok := w.Reserve(); ok || len(left) != 0 {
			t.Fatalf("after Close: reserved %v, %d values too many", ok, len(left))
		}
	})
}

// One reserver, many completers, one consumer: nothing is lost and nobody sleeps for ever.
func TestWindowUnderLoad(t *testing.T) {
	const total = 50_000
	w := NewWindow[uint64](64)
	wake, space, end := NewBell(), NewBell(), make(chan struct{})
	work := make(chan uint64, 64)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			r := rand.New(rand.NewPCG(1, uint64(i)))
			for seq := range work {
				if r.IntN(8) == 0 {
					runtime.Gosched()
				}
				if _, ring := w.Complete(seq, seq); ring {
					wake.Ring()
				}
			}
		}()
	}
	wg.Add(1)
	go func() {
		defer wg.Done()
		defer close(work)
		for n := 0; n < total; {
			seq, ok := w.Reserve()
			if !ok {
				space.Wait(end)
				continue
			}
			work <- seq
			n++
		}
	}()
	var got []uint64
	for next := uint64(0); next < total; {
		if got = w.Drain(got[:0]); len(got) == 0 {
			wake.Wait(end)
			continue
		}
		for _, v := range got {
			if v != next {
				t.Fatalf("got %d, want %d", v, next)
			}
			next++
		}
		w.Release(len(got))
		space.Ring()
	}
	wg.Wait()
}

func TestMisusePanics(t *testing.T) {
	w := NewWindow[int](2)
	seq, _ := w.Reserve()
	w.Complete(seq, 1)
	for name, f := range map[string]func(){
		"complete twice":        func() { w.Complete(seq, 1) },
		"complete unreserved":   func() { w.Complete(9, 1) },
		"release undrained":     func() { w.Release(1) },
		"peek outside a buffer": func() { NewBuffer[int](1).Peek(0) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

func TestBell(t *testing.T) {
	b, done := NewBell(), make(chan struct{})
	b.Ring()
	b.Ring()
	if !b.Wait(done) {
		t.Error("a ring was lost")
	}
	close(done)
	if b.Wait(done) {
		t.Error("two rings counted twice")
	}
	b.Ring()
	if !b.Wait(done) {
		t.Error("a ring counts even when done is closed")
	}
	if !slices.Contains([]int{0}, len(b.C())) {
		t.Error("the bell still rings")
	}
}

func BenchmarkWindow(b *testing.B) {
	w := NewWindow[int](256)
	var got []int
	b.ReportAllocs()
	for b.Loop() {
		seq, _ := w.Reserve()
		w.Complete(seq, 1)
		got = w.Drain(got[:0])
		w.Release(len(got))
	}
}
