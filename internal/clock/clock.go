package clock

import "time"

// Clock tells time and starts timers. It is safe for concurrent use.
type Clock interface {
	// Now is the wall time. It may jump in either direction.
	Now() time.Time
	// Monotonic is the time since some fixed point; it never goes back and stands still while the machine sleeps.
	Monotonic() time.Duration
	// Boot is Monotonic with the time the machine slept.
	Boot() time.Duration
	// NewTimer returns a timer whose channel receives once after d.
	NewTimer(d time.Duration) Timer
	// AfterFunc calls f in a goroutine of its own after d.
	AfterFunc(d time.Duration, f func()) Timer
}

// Timer is one running or stopped timer.
type Timer interface {
	// C is the channel of NewTimer, nil for AfterFunc.
	C() <-chan time.Time
	// Stop ends the timer; false means that it had fired or was stopped before.
	Stop() bool
	// Reset starts it again for d; true means that it was still running.
	Reset(d time.Duration) bool
}

// Real returns the machine's clock.
func Real() Clock { return real{} }

type real struct{}

// started is where Monotonic counts from.
var started = time.Now()

// Monotonic is the runtime's own clock, which takes no system call.
func (real) Monotonic() time.Duration { return time.Since(started) }

func (real) Now() time.Time { return time.Now() }

func (real) NewTimer(d time.Duration) Timer { return realTimer{time.NewTimer(d)} }

func (real) AfterFunc(d time.Duration, f func()) Timer { return realTimer{time.AfterFunc(d, f)} }

type realTimer struct{ *time.Timer }

func (t realTimer) C() <-chan time.Time { return t.Timer.C }
