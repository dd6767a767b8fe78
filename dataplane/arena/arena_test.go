package arena

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/felix-go/felix/internal/invariants"
)

func TestAcquireGivesWhatWasAsked(t *testing.T) {
	a := New()
	for _, n := range []int{0, 1, 63, 64, 65, 128, 1000, 4096, 1<<20 - 1, 1 << 20, 1<<20 + 1, 3 << 20} {
		r := a.Acquire(n)
		if !r.Valid() || len(r.Bytes()) != n || r.Cap() < n {
			t.Errorf("acquire %d: %d bytes, cap %d", n, len(r.Bytes()), r.Cap())
		}
		if n <= 1<<20 && n > 64 && r.Cap() >= 2*n {
			t.Errorf("acquire %d wastes %d", n, r.Cap())
		}
		if a.Outstanding() != 1 || a.OutstandingBytes() != int64(r.Cap()) {
			t.Errorf("outstanding %d, %d bytes", a.Outstanding(), a.OutstandingBytes())
		}
		r = r.Slice(0).Slice(r.Cap())
		second := r.Retain()
		r.Release()
		if a.Outstanding() != 1 || len(second.Bytes()) != second.Cap() {
			t.Error("a retained block went with its first owner")
		}
		second.Release()
		if a.Outstanding() != 0 || a.OutstandingBytes() != 0 {
			t.Errorf("outstanding %d, %d bytes after the last release", a.Outstanding(), a.OutstandingBytes())
		}
	}
	var none Ref
	if none.Valid() || none.Bytes() != nil || none.Cap() != 0 {
		t.Error("the zero Ref holds something")
	}
}

func TestMisusePanics(t *testing.T) {
	a := New()
	dead := func() Ref {
		r := a.Acquire(2 << 20) // never pooled: nobody else can hold it
		r.Release()
		return r
	}
	for name, f := range map[string]func(){
		"release twice":        func() { dead().Release() },
		"retain after release": func() { dead().Retain() },
		"slice beyond the cap": func() { r := a.Acquire(10); defer r.Release(); r.Slice(r.Cap() + 1) },
		"slice below zero":     func() { r := a.Acquire(10); defer r.Release(); r.Slice(-1) },
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

// Owners on many goroutines retain and release one another's blocks; nobody sees another's bytes.
func TestOwnersNeverShareByAccident(t *testing.T) {
	a := New()
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range 2000 {
				r := a.Acquire(64 << (i % 4))
				b := r.Bytes()
				for j := range b {
					b[j] = byte(g)
				}
				second := r.Retain()
				done := make(chan bool)
				go func() {
					ok := true
					for _, x := range second.Bytes() {
						ok = ok && x == byte(g)
					}
					second.Release()
					done <- ok
				}()
				r.Release()
				if !<-done {
					t.Error("a block was written by two owners")
				}
			}
		}()
	}
	wg.Wait()
	if n := a.Outstanding(); n != 0 {
		t.Errorf("%d blocks left", n)
	}
}

func TestLeaksNameTheirPlace(t *testing.T) {
	a := New()
	r := a.Acquire(100)
	leaks := a.Leaks()
	if invariants.Enabled != strings.Contains(leaks, "TestLeaksNameTheirPlace") {
		t.Errorf("leaks: %q", leaks)
	}
	b := r.Bytes()
	r.Release()
	if invariants.Enabled && (b[0] != 0xDB || b[99] != 0xDB) {
		t.Error("a released block is not poisoned")
	}
	if a.Leaks() != "" {
		t.Errorf("after the release: %q", a.Leaks())
	}
}

func BenchmarkArenaAcquire(b *testing.B) {
	for _, size := range []int{64, 4096, 1 << 20} {
		b.Run(fmt.Sprintf("size=%d", size), func(b *testing.B) {
			a := New()
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					a.Acquire(size).Release()
				}
			})
		})
	}
}
