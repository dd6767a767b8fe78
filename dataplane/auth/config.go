package auth

import (
	"time"

	"github.com/felix-go/felix/dataplane/stat"
	"github.com/felix-go/felix/internal/clock"
)

// Config is how a Verifier judges tokens. Zero values take the defaults named beside them.
type Config struct {
	// Keys holds the tenants' published keys. Required.
	Keys *Keys
	// Clock tells the wall time (default the real one).
	Clock clock.Clock
	// Issuer is what `iss` must be (default "felix-auth").
	Issuer string
	// Audience is what `aud` must be, as one string (default "felix-broker").
	Audience string
	// Leeway is how far `nbf` and `iat` may lie in the future (default 30 s; negative: none). A value below
	// the clocks' real difference refuses fresh tokens.
	Leeway time.Duration
	// MaxTokenBytes bounds a token before it is parsed (default 16 KiB).
	MaxTokenBytes int
	// CacheEntries bounds the verified tokens that are remembered (default 8192). Too small a value costs one
	// signature check, about 0.1 ms of CPU, for each stream that opens.
	CacheEntries int
	// Stats receives the counters (default a set of its own).
	Stats *stat.Set
}

func (c Config) withDefaults() Config {
	if c.Clock == nil {
		c.Clock = clock.Real()
	}
	if c.Issuer == "" {
		c.Issuer = "felix-auth"
	}
	if c.Audience == "" {
		c.Audience = "felix-broker"
	}
	switch {
	case c.Leeway == 0:
		c.Leeway = 30 * time.Second
	case c.Leeway < 0:
		c.Leeway = 0
	}
	if c.MaxTokenBytes <= 0 {
		c.MaxTokenBytes = 16 << 10
	}
	if c.CacheEntries <= 0 {
		c.CacheEntries = 8192
	}
	if c.Stats == nil {
		c.Stats = stat.NewSet()
	}
	return c
}
