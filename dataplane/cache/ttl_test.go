package cache

import (
	"errors"
	"math"
	"testing"
	"time"
)

func TestParseTTL(t *testing.T) {
	if ttl, err := ParseTTL(0, false); ttl != NoExpiry || err != nil {
		t.Errorf("absent: %v, %v", ttl, err)
	}
	if ttl, err := ParseTTL(math.MaxUint64, false); ttl != NoExpiry || err != nil {
		t.Errorf("null with a stale number: %v, %v", ttl, err)
	}
	for _, ms := range []uint64{1, 2, 1000, 3_600_000, maxTTLMillis - 1, maxTTLMillis} {
		if ttl, err := ParseTTL(ms, true); err != nil || time.Duration(ttl).Milliseconds() != int64(ms) {
			t.Errorf("%d ms: %v, %v", ms, ttl, err)
		}
	}
	refused := []uint64{0, maxTTLMillis + 1}
	// Around every product and width at which a conversion to smaller units could wrap.
	for _, edge := range []uint64{
		1 << 63 / 1_000_000, 1 << 63 / 1000, 1 << 63, math.MaxUint64 / 1_000_000, math.MaxUint64 / 1000,
		18446744073709561, math.MaxUint64 - 2,
	} {
		for d := range uint64(5) {
			refused = append(refused, edge+d-2)
		}
	}
	for _, ms := range refused {
		if ttl, err := ParseTTL(ms, true); !errors.Is(err, ErrTTL) || ttl != NoExpiry {
			t.Errorf("%d ms: %v, %v", ms, ttl, err)
		}
	}
	if MaxTTL != mustTTL(maxTTLMillis) || time.Duration(MaxTTL) < 0 {
		t.Errorf("MaxTTL is %v", MaxTTL)
	}
}

func TestDeadlineNeverEarly(t *testing.T) {
	for _, now := range []time.Duration{0, 1, time.Hour, math.MaxInt64 - time.Duration(MaxTTL), math.MaxInt64 - 1} {
		for _, ttl := range []TTL{mustTTL(1), MaxTTL} {
			at := ttl.deadline(now)
			if at <= now || at != math.MaxInt64 && at-now != time.Duration(ttl) {
				t.Errorf("ttl %v at %v: deadline %v", ttl, now, at)
			}
		}
		if at := NoExpiry.deadline(now); at != 0 {
			t.Errorf("no expiry at %v: deadline %v", now, at)
		}
	}
}
