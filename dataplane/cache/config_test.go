package cache

import (
	"errors"
	"testing"

	"github.com/felix-go/felix/dataplane/arena"
)

func TestConfigValidate(t *testing.T) {
	a := arena.New()
	for name, c := range map[string]struct {
		cfg Config
		ok  bool
	}{
		"defaults": {Config{Arena: a}, true},
		"limit":    {Config{Arena: a, MaxBytes: 1, Policy: PolicyNone}, true},
		"negative": {Config{Arena: a, MaxBytes: -1}, false},
		"policy":   {Config{Arena: a, Policy: 3}, false},
		"no arena": {Config{}, false},
	} {
		if err := c.cfg.Validate(); (err == nil) != c.ok || err != nil && !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestParsePolicy(t *testing.T) {
	for _, p := range []Policy{PolicyS3FIFO, PolicyLRU, PolicyNone} {
		if got, err := ParsePolicy(p.String()); got != p || err != nil {
			t.Errorf("%v: %v, %v", p, got, err)
		}
	}
	for _, name := range []string{"", "LRU", "s3fifo", "unknown"} {
		if _, err := ParsePolicy(name); !errors.Is(err, ErrConfig) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if s := Policy(9).String(); s != "unknown" {
		t.Errorf("unknown policy is %q", s)
	}
}

func TestStripesFollowLimit(t *testing.T) {
	for _, c := range []struct {
		maxBytes int64
		log2     uint
	}{{0, 8}, {1, 0}, {1 << 20, 0}, {2<<20 - 1, 0}, {2 << 20, 1}, {100 << 20, 6}, {256 << 20, 8}, {1 << 40, 8}} {
		if got := stripesFor(c.maxBytes); got != c.log2 {
			t.Errorf("limit %d: 2^%d stripes, want 2^%d", c.maxBytes, got, c.log2)
		}
	}
}
