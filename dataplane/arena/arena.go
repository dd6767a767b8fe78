package arena

import (
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/felix-go/felix/internal/invariants"
)

const (
	minShift = 6  // 64 B, the smallest class
	maxShift = 20 // 1 MiB, the largest; beyond it blocks are allocated and left to the garbage collector
	classes  = maxShift - minShift + 1
)

// Arena lends blocks of memory.
//
// The rules are in the signatures. Acquire returns a Ref that is owned by the caller and released exactly once. Who hands a
// block to a second owner retains it first, and each owner releases its own Ref. A []byte from Bytes is borrowed: it is
// valid while the Ref is. Retain on a dead block and a second Release panic in every build, because both mean that two
// owners write the same memory.
//
// Under the invariants build tag a released block is filled with 0xDB, is never lent again, and every live block remembers
// where it was acquired (Leaks).
type Arena struct {
	pools [classes]sync.Pool // of *block

	outstanding      atomic.Int64
	outstandingBytes atomic.Int64

	live liveSet // of blocks, under invariants
}

// block is the counted memory behind Refs.
type block struct {
	arena *Arena
	buf   []byte
	class int // -1: not pooled
	refs  atomic.Int32
}

// New returns an empty arena.
func New() *Arena {
	a := &Arena{}
	for i := range a.pools {
		size := 1 << (minShift + i)
		a.pools[i].New = func() any { return &block{arena: a, buf: make([]byte, size), class: i} }
	}
	return a
}

// Acquire lends a block with n bytes of undefined content. The caller owns the Ref. REQUIRES: n >= 0.
//
//felix:hot
func (a *Arena) Acquire(n int) Ref {
	class := classOf(n)
	var b *block
	if class < 0 {
		b = &block{arena: a, buf: make([]byte, n), class: -1} // Slow path: rare and large
	} else {
		b = a.pools[class].Get().(*block)
	}
	b.refs.Store(1)
	a.outstanding.Add(1)
	a.outstandingBytes.Add(int64(len(b.buf)))
	if invariants.Enabled {
		a.live.add(b)
	}
	return Ref{b: b, n: n}
}

// classOf is the smallest class that holds n bytes, -1 when none does.
//
//felix:hot
func classOf(n int) int {
	if n <= 1<<minShift {
		return 0
	}
	if shift := bits.Len(uint(n - 1)); shift <= maxShift {
		return shift - minShift
	}
	return -1
}

// Outstanding returns how many blocks are lent.
func (a *Arena) Outstanding() int64 { return a.outstanding.Load() }

// OutstandingBytes returns the size of all lent blocks.
func (a *Arena) OutstandingBytes() int64 { return a.outstandingBytes.Load() }

// Leaks describes the lent blocks by where they were acquired; empty when none is, or without the invariants build tag.
func (a *Arena) Leaks() string { return a.live.describe() }

// giveBack takes a block whose last reference was released.
//
//felix:hot
func (a *Arena) giveBack(b *block) {
	a.outstanding.Add(-1)
	a.outstandingBytes.Add(-int64(len(b.buf)))
	if invariants.Enabled {
		a.live.remove(b)
		poison(b.buf)
		return
	}
	if b.class >= 0 {
		a.pools[b.class].Put(b)
	}
}
