package clock

import (
	"time"

	"golang.org/x/sys/unix"
)

func (real) Monotonic() time.Duration { return read(unix.CLOCK_MONOTONIC) }

func (real) Boot() time.Duration { return read(unix.CLOCK_BOOTTIME) }

// read cannot fail for these clocks: every supported kernel has both.
func read(id int32) time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(id, &ts); err != nil {
		panic("clock: " + err.Error())
	}
	return time.Duration(ts.Nano())
}
