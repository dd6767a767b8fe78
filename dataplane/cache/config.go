package cache

import (
	"github.com/felix-go/felix/dataplane/arena"
	"github.com/felix-go/felix/dataplane/stat"
	"github.com/felix-go/felix/internal/clock"
)

// Policy decides which entries leave when a put needs room under Config.MaxBytes.
type Policy uint8

const (
	// PolicyS3FIFO, the default, keeps new entries in a small probation queue and lets only those that are
	// read again into the main queue, so one-time keys do not push out the working set. Reads share the
	// stripe lock.
	PolicyS3FIFO Policy = iota
	// PolicyLRU evicts the entry of a stripe that was used longest ago. A read moves its entry and therefore
	// takes the stripe lock alone: prefer s3-fifo when many readers meet on few keys.
	PolicyLRU
	// PolicyNone evicts nothing: a put beyond the limit answers Full and leaves the cache as it was.
	PolicyNone
)

var policyNames = [...]string{PolicyS3FIFO: "s3-fifo", PolicyLRU: "lru", PolicyNone: "none"}

// String is the name of the policy in configuration: s3-fifo, lru or none.
func (p Policy) String() string {
	if int(p) < len(policyNames) {
		return policyNames[p]
	}
	return "unknown"
}

// ParsePolicy is the inverse of String; any other name is an error that wraps ErrConfig.
func ParsePolicy(name string) (Policy, error) {
	for p, n := range policyNames {
		if n == name {
			return Policy(p), nil
		}
	}
	return 0, configError("Policy", name, "s3-fifo, lru or none")
}

// Config describes a Store. Zero fields mean their default.
type Config struct {
	// MaxBytes bounds the sum over all entries of key, value and EntryOverhead, in bytes; 0 is unlimited. It
	// is a hard limit: puts that are still being written count too. Arena blocks are powers of two, so the
	// process may hold up to twice the value and key bytes, and values that readers still hold after an
	// eviction count no longer. Too low and hit ratio falls; too high and the process meets its memory limit
	// first.
	MaxBytes int64
	// Policy is what happens at the limit. Default PolicyS3FIFO. Without a limit it changes nothing.
	Policy Policy
	// Arena holds keys and values. Required.
	Arena *arena.Arena
	// Clock tells expiry (its boot clock) and the first version (its wall clock, once). Default clock.Real().
	Clock clock.Clock
	// Stats receives the felix_cache_* metrics. Default: a set of its own.
	Stats *stat.Set
}

func (c Config) withDefaults() Config {
	if c.Clock == nil {
		c.Clock = clock.Real()
	}
	if c.Stats == nil {
		c.Stats = stat.NewSet()
	}
	return c
}

// Validate reports the first field that is out of range, as an error that wraps ErrConfig.
func (c Config) Validate() error {
	switch {
	case c.MaxBytes < 0:
		return configError("MaxBytes", c.MaxBytes, "0 (unlimited) or more")
	case int(c.Policy) >= len(policyNames):
		return configError("Policy", uint8(c.Policy), "s3-fifo, lru or none")
	case c.Arena == nil:
		return configError("Arena", nil, "an arena")
	}
	return nil
}

const (
	maxStripes = 256
	// A stripe evicts by what it has seen itself, so it needs a fair number of entries to judge by.
	minStripeBytes = 1 << 20
)

// stripesFor returns log2 of the number of stripes: one per MiB of limit, at most 256. More stripes mean
// fewer meetings of lanes and readers and shorter holds by listings; a small limit cut into many stripes
// would evict almost at random.
func stripesFor(maxBytes int64) uint {
	n := uint(0)
	for 1<<n < maxStripes && (maxBytes == 0 || maxBytes>>(n+1) >= minStripeBytes) {
		n++
	}
	return n
}
