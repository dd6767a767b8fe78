//go:build !linux

package clock

import "time"

var started = time.Now()

func (real) Monotonic() time.Duration { return time.Since(started) }

// Boot stands still while the machine sleeps where the platform's monotonic clock does.
func (real) Boot() time.Duration { return time.Since(started) }
