package cache

import (
	"errors"
	"fmt"
)

var (
	// ErrConfig marks a Config that cannot be used; the text names the field, its value and its range.
	ErrConfig = errors.New("cache: invalid configuration")
	// ErrTTL marks a time to live outside 1 to MaxTTL milliseconds. The caller answers `invalid_request` and
	// stores nothing (decisions section 8).
	ErrTTL = errors.New("cache: ttl_ms must be between 1 and 315576000000")
)

func configError(field string, value any, legal string) error {
	return fmt.Errorf("%w: %s is %v, want %s", ErrConfig, field, value, legal)
}
