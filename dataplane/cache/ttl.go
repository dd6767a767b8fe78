package cache

import (
	"math"
	"time"
)

// MaxTTL is the longest time to live: ten years.
const MaxTTL = TTL(maxTTLMillis * time.Millisecond)

const maxTTLMillis = 315_576_000_000

// TTL is how long an entry lives, counted from the completion of its put. Zero is NoExpiry; every other value
// comes from ParseTTL, so a time to live of zero on the wire never turns into "for ever".
type TTL time.Duration

// NoExpiry keeps an entry until it is deleted, replaced or evicted.
const NoExpiry TTL = 0

// ParseTTL checks a `ttl_ms` field. Absent or null (has false) is NoExpiry. 0 and more than 315,576,000,000
// are ErrTTL, which also covers every value whose conversion to nanoseconds or whose deadline would overflow.
func ParseTTL(ms uint64, has bool) (TTL, error) {
	if !has {
		return NoExpiry, nil
	}
	if ms == 0 || ms > maxTTLMillis {
		return NoExpiry, ErrTTL
	}
	return TTL(time.Duration(ms) * time.Millisecond), nil
}

// deadline is the boot time at which an entry put now dies; 0 is never. Ten years from any uptime below 282
// years fits.
func (t TTL) deadline(now time.Duration) time.Duration {
	if t == NoExpiry {
		return 0
	}
	if time.Duration(t) > math.MaxInt64-now {
		return math.MaxInt64
	}
	return now + time.Duration(t)
}
