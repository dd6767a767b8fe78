package clock

import (
	"sync"
	"time"
)

// Manual is a Clock that moves only when told. Timers fire inside Advance, in the order of their deadlines and, for equal
// ones, of their start.
type Manual struct {
	mu     sync.Mutex // guards the following
	wall   time.Time
	mono   time.Duration
	serial uint64
	timers map[*manualTimer]struct{}
}

var _ Clock = (*Manual)(nil)

// NewManual returns a clock that stands at start, with both monotonic clocks at one second.
func NewManual(start time.Time) *Manual {
	return &Manual{wall: start, mono: time.Second, timers: make(map[*manualTimer]struct{})}
}

// Now implements Clock.
func (m *Manual) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.wall
}

// Monotonic implements Clock.
func (m *Manual) Monotonic() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.mono
}

// Boot implements Clock. It equals Monotonic: this machine never sleeps.
func (m *Manual) Boot() time.Duration { return m.Monotonic() }

// StepWall moves the wall clock alone, as an operator or NTP may.
func (m *Manual) StepWall(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wall = m.wall.Add(d)
}

// Advance moves every clock on by d and fires the timers that are due on the way. Functions of AfterFunc run in the
// caller's goroutine, so that what they did is visible when Advance returns.
func (m *Manual) Advance(d time.Duration) {
	m.mu.Lock()
	end := m.mono + d
	for {
		t := m.dueLocked(end)
		if t == nil {
			break
		}
		m.moveLocked(t.at)
		delete(m.timers, t)
		if t.f == nil {
			select {
			case t.c <- m.wall:
			default:
			}
			continue
		}
		m.mu.Unlock()
		t.f()
		m.mu.Lock()
	}
	m.moveLocked(end)
	m.mu.Unlock()
}

func (m *Manual) moveLocked(to time.Duration) {
	if to > m.mono {
		m.wall = m.wall.Add(to - m.mono)
		m.mono = to
	}
}

// dueLocked returns the next timer with a deadline up to end.
func (m *Manual) dueLocked(end time.Duration) *manualTimer {
	var next *manualTimer
	for t := range m.timers {
		if t.at <= end && (next == nil || t.at < next.at || t.at == next.at && t.serial < next.serial) {
			next = t
		}
	}
	return next
}

// Timers returns how many timers are running: a test can wait for code to start one before it advances.
func (m *Manual) Timers() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.timers)
}

// NewTimer implements Clock.
func (m *Manual) NewTimer(d time.Duration) Timer {
	t := &manualTimer{m: m, c: make(chan time.Time, 1)}
	t.Reset(d)
	return t
}

// AfterFunc implements Clock.
func (m *Manual) AfterFunc(d time.Duration, f func()) Timer {
	t := &manualTimer{m: m, f: f}
	t.Reset(d)
	return t
}

type manualTimer struct {
	m *Manual
	c chan time.Time
	f func()

	// m.mu guards the following.
	at     time.Duration
	serial uint64
}

func (t *manualTimer) C() <-chan time.Time { return t.c }

func (t *manualTimer) Stop() bool {
	t.m.mu.Lock()
	defer t.m.mu.Unlock()
	_, running := t.m.timers[t]
	delete(t.m.timers, t)
	t.drain()
	return running
}

func (t *manualTimer) Reset(d time.Duration) bool {
	t.m.mu.Lock()
	defer t.m.mu.Unlock()
	_, running := t.m.timers[t]
	t.drain()
	t.m.serial++
	t.at, t.serial = t.m.mono+max(d, 0), t.m.serial
	t.m.timers[t] = struct{}{}
	return running
}

// drain forgets a tick nobody took, as timers of the standard library do.
func (t *manualTimer) drain() {
	select {
	case <-t.c:
	default:
	}
}
