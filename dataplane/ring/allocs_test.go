//go:build !race

package ring

import (
	"runtime"
	"testing"
)

func gate(t *testing.T, name string, f func()) {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for range 5 { // some run must meet the target
		if testing.AllocsPerRun(1000, f) == 0 {
			return
		}
	}
	t.Errorf("%s allocates", name)
}

func TestAllocsRings(t *testing.T) {
	b := NewBuffer[int](64)
	gate(t, "buffer push and pop", func() {
		for i := range 40 {
			b.Push(i)
		}
		for range 40 {
			b.Pop()
		}
	})
	w := NewWindow[int](64)
	got := make([]int, 0, 64)
	gate(t, "window reserve, complete, drain, release", func() {
		for range 40 {
			seq, _ := w.Reserve()
			w.Complete(seq, 1)
		}
		got = w.Drain(got[:0])
		w.Release(len(got))
	})
	bell, done := NewBell(), make(chan struct{})
	gate(t, "bell ring and wait", func() { bell.Ring(); bell.Wait(done) })
}
