package cache

import (
	"time"

	"github.com/felix-go/felix/dataplane/arena"
)

// Value is what a key held. The caller owns Ref and releases it exactly once; the bytes stay valid and
// unchanged until then, even if the entry is replaced, evicted or expires meanwhile.
type Value struct {
	// Ref holds the value's bytes. A value of zero length is a valid Ref with no bytes.
	Ref arena.Ref
	// Version is the version of the put that wrote the value; never 0.
	Version uint64
	// ExpiresAt is the clock's boot time at which the value dies; 0 is never.
	ExpiresAt time.Duration
}

// Remaining is how much longer the value lives at boot time now, never negative; has is false when it does
// not expire.
func (v Value) Remaining(now time.Duration) (left time.Duration, has bool) {
	if v.ExpiresAt == 0 {
		return 0, false
	}
	return max(0, v.ExpiresAt-now), true
}

// Condition is what PutIf asks of the key's current entry. An expired entry counts as absent.
type Condition struct {
	// Absent applies the put only if the key has no entry.
	Absent bool
	// Version, when Absent is false, applies the put only if the current entry has this version. 0 never
	// matches.
	Version uint64
}

// Result is what became of a write.
type Result uint8

const (
	// Applied means that the write took effect.
	Applied Result = iota
	// Refused means that the condition did not hold. Nothing changed.
	Refused
	// Full means that the put does not fit under Config.MaxBytes: it is larger than the limit, or nothing may
	// be evicted. The key's entry did not change, though an evicting policy may have evicted it. The caller
	// answers `overloaded`.
	Full
	// Gone means that the cache was dropped. Nothing changed.
	Gone
)
