package invariants

import "sync/atomic"

var violations atomic.Uint64

// Check asserts that ok holds. When it does not, what says which promise was broken: a build with the invariants tag panics
// with it, any other counts it.
func Check(ok bool, what string) {
	if ok {
		return
	}
	violations.Add(1)
	if Enabled {
		panic("invariant broken: " + what)
	}
}

// Violations returns how many checks have failed in this process.
func Violations() uint64 { return violations.Load() }
