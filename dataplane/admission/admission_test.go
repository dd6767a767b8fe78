package admission

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// waitFor polls without a bound of its own: the test binary's timeout is the bound.
func waitFor(ok func() bool) {
	for !ok() {
		runtime.Gosched()
	}
}

func (b *Budget) waiters() (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for w := b.first; w != nil; w = w.next {
		n++
	}
	return n
}

func TestBothBudgetsOrNeither(t *testing.T) {
	conn, process := NewBudget(100, 0), NewBudget(150, 0)
	p, ok := Acquire(conn, process, 100, 0, nil)
	if !ok || !p.Held() {
		t.Fatal("the whole budget was refused")
	}
	if _, ok := Acquire(conn, process, 1, 0, nil); ok {
		t.Error("more than the connection's budget")
	}
	other := NewBudget(100, 0)
	if _, ok := Acquire(other, process, 51, 0, nil); ok || other.Bytes() != 0 {
		t.Errorf("refused by the process, %d bytes stay with the connection", other.Bytes())
	}
	q, ok := Acquire(other, process, 50, 0, nil)
	if !ok {
		t.Error("what fits exactly was refused")
	}
	p.Release()
	p.Release() // an empty permit releases nothing
	q.Release()
	if conn.Bytes()+process.Bytes()+other.Bytes() != 0 || process.Items() != 0 || p.Held() {
		t.Error("something is still held")
	}
}

func TestOversizedGoesAlone(t *testing.T) {
	b := NewBudget(10, 0)
	p, ok := Acquire(nil, b, 1000, 0, nil)
	if !ok {
		t.Fatal("a request above the budget is never admitted")
	}
	if b.TryAcquire(1) {
		t.Error("it was not alone")
	}
	p.Release()
	if !b.TryAcquire(10) || b.TryAcquire(1) {
		t.Error("the budget changed")
	}
	b.Release(10)
}

func TestItemsAreBoundedToo(t *testing.T) {
	b := NewBudget(100, 2)
	for i, want := range []bool{true, true, false} {
		if got := b.TryAcquire(1); got != want {
			t.Errorf("item %d of at most 2: admitted %t", i+1, got)
		}
	}
	b.Release(1)
	b.Release(1)
}

// Waiters are served in the order of their coming, and nobody overtakes them.
func TestWaitersAreServedInOrder(t *testing.T) {
	b := NewBudget(10, 0)
	b.TryAcquire(10)
	order := make(chan int, 3)
	var wg sync.WaitGroup
	for i, n := range []int64{8, 7, 6} { // only one of them fits at a time, and the last would fit first
		wg.Add(1)
		go func() {
			defer wg.Done()
			p, ok := Acquire(nil, b, n, -1, nil)
			if !ok {
				t.Error("a waiter was refused")
			}
			order <- i
			p.Release()
		}()
		waitFor(func() bool { return b.waiters() == i+1 })
	}
	if b.TryAcquire(0) {
		t.Error("somebody overtook the waiters")
	}
	b.Release(10)
	wg.Wait()
	for want := range 3 {
		if got := <-order; got != want {
			t.Errorf("waiter %d was served in place of %d", got, want)
		}
	}
	if b.Bytes() != 0 || b.Items() != 0 {
		t.Errorf("%d bytes, %d items left", b.Bytes(), b.Items())
	}
}

// A waiter that gives up makes room for those behind it.
func TestGivingUpLetsOthersPass(t *testing.T) {
	b := NewBudget(10, 0)
	b.TryAcquire(5)
	done := make(chan struct{})
	gave := make(chan bool)
	go func() { _, ok := Acquire(nil, b, 9, -1, done); gave <- ok }()
	waitFor(func() bool { return b.waiters() == 1 })
	got := make(chan bool)
	go func() { _, ok := Acquire(nil, b, 5, -1, nil); got <- ok }()
	waitFor(func() bool { return b.waiters() == 2 })
	close(done)
	if <-gave || !<-got {
		t.Error("the waiter behind one that gave up was not served")
	}
	if _, ok := Acquire(nil, b, 1, time.Millisecond, nil); ok {
		t.Error("a full budget admitted after its wait")
	}
	b.Release(5)
	b.Release(5)
}

// Bursts with timeouts and cancellations leave exactly zero, a hundred times over.
func TestNothingLeaksUnderLoad(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	for cycle := range 100 {
		conn, process := NewBudget(64, 8), NewBudget(100, 0)
		var wg sync.WaitGroup
		for g := range 8 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				r := rand.New(rand.NewPCG(seed, uint64(cycle*8+g)))
				for range 20 {
					done := make(chan struct{})
					wait := []time.Duration{0, 50 * time.Microsecond, -1}[r.IntN(3)]
					if wait < 0 && r.IntN(2) == 0 {
						go close(done)
					}
					c := conn
					if r.IntN(3) == 0 {
						c = nil
					}
					if p, ok := Acquire(c, process, int64(r.IntN(120)), wait, done); ok {
						runtime.Gosched()
						p.Release()
					}
				}
			}()
		}
		wg.Wait()
		if conn.Bytes()+conn.Items()+process.Bytes()+process.Items() != 0 || conn.waiters()+process.waiters() != 0 {
			t.Fatalf("cycle %d: %d and %d bytes left", cycle, conn.Bytes(), process.Bytes())
		}
	}
}

func TestReleasingTooMuchPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	NewBudget(10, 0).Release(1)
}
