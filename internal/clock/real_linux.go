package clock

import (
	"time"

	"golang.org/x/sys/unix"
)

// Boot asks the kernel: the runtime has no clock that counts the time the machine slept. It costs a system call, about ten
// times Monotonic; read it once per batch.
func (real) Boot() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		panic("clock: " + err.Error()) // every supported kernel has it
	}
	return time.Duration(ts.Nano())
}
