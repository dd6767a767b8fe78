package arena

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// liveSet remembers where lent blocks were acquired. It is used under the invariants build tag only.
type liveSet struct {
	mu     sync.Mutex // guards the following
	blocks map[*block][]uintptr
}

// stackDepth is how many frames of an acquisition are kept.
const stackDepth = 12

func (l *liveSet) add(b *block) {
	pcs := make([]uintptr, stackDepth)
	pcs = pcs[:runtime.Callers(3, pcs)] // without Callers, add and Acquire
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.blocks == nil {
		l.blocks = make(map[*block][]uintptr)
	}
	l.blocks[b] = pcs
}

func (l *liveSet) remove(b *block) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.blocks, b)
}

// describe groups the blocks by the place of their acquisition.
func (l *liveSet) describe() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	bySite := make(map[string]int)
	for _, pcs := range l.blocks {
		bySite[site(pcs)]++
	}
	var out strings.Builder
	for _, s := range slices.Sorted(maps.Keys(bySite)) {
		fmt.Fprintf(&out, "%d blocks acquired at\n%s", bySite[s], s)
	}
	return out.String()
}

func site(pcs []uintptr) string {
	var out strings.Builder
	for frames := runtime.CallersFrames(pcs); ; {
		f, more := frames.Next()
		fmt.Fprintf(&out, "\t%s\n\t\t%s:%d\n", f.Function, f.File, f.Line)
		if !more {
			return out.String()
		}
	}
}

// poison makes whoever still reads a released block see it.
func poison(b []byte) {
	for i := range b {
		b[i] = 0xDB
	}
}
