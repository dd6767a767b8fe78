//go:build !linux

package clock

import "time"

// Boot stands still while the machine sleeps where the platform's monotonic clock does.
func (real) Boot() time.Duration { return time.Since(started) }
