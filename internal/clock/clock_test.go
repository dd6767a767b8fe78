package clock

import (
	"slices"
	"testing"
	"time"
)

func TestRealClocksMoveForward(t *testing.T) {
	c := Real()
	for name, read := range map[string]func() time.Duration{"monotonic": c.Monotonic, "boot": c.Boot} {
		last := read()
		for range 1000 {
			now := read()
			if now < last {
				t.Fatalf("%s went back from %s to %s", name, last, now)
			}
			last = now
		}
	}
	if d := time.Since(c.Now()); d < -time.Hour || d > time.Hour {
		t.Errorf("wall clock is off by %s", d)
	}
	timer := c.NewTimer(time.Nanosecond)
	<-timer.C()
	called := make(chan struct{})
	f := c.AfterFunc(0, func() { close(called) })
	<-called
	if f.C() != nil || f.Stop() || timer.Stop() {
		t.Error("a timer that fired is still running")
	}
}

func TestManualFiresInOrder(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	m := NewManual(start)
	var fired []string
	m.AfterFunc(3*time.Second, func() { fired = append(fired, "late") })
	m.AfterFunc(time.Second, func() {
		fired = append(fired, "first")
		if got := m.Now(); !got.Equal(start.Add(time.Second)) {
			t.Errorf("inside a timer it is %s", got)
		}
		m.AfterFunc(time.Second, func() { fired = append(fired, "started by first") })
	})
	m.AfterFunc(time.Second, func() { fired = append(fired, "second") })
	stopped := m.AfterFunc(time.Second, func() { fired = append(fired, "stopped") })
	if !stopped.Stop() || stopped.Stop() || m.Timers() != 3 {
		t.Errorf("stop: %d timers", m.Timers())
	}
	m.Advance(2 * time.Second)
	if want := []string{"first", "second", "started by first"}; !slices.Equal(fired, want) {
		t.Errorf("fired %v, want %v", fired, want)
	}
	before := m.Monotonic()
	m.StepWall(-time.Hour)
	if !m.Now().Equal(start.Add(2*time.Second-time.Hour)) || m.Monotonic() != before || m.Boot() != before {
		t.Error("a step of the wall clock moved another clock, or not its own")
	}
	m.Advance(time.Second)
	if fired[len(fired)-1] != "late" || m.Timers() != 0 {
		t.Errorf("fired %v, %d timers left", fired, m.Timers())
	}
}

func TestManualTimerResets(t *testing.T) {
	m := NewManual(time.Unix(0, 0))
	timer := m.NewTimer(time.Second)
	if !timer.Reset(2*time.Second) || m.Timers() != 1 {
		t.Error("reset of a running timer")
	}
	m.Advance(time.Second)
	select {
	case <-timer.C():
		t.Error("fired at its old deadline")
	default:
	}
	m.Advance(time.Second)
	if timer.Reset(time.Second) {
		t.Error("a fired timer says that it was running")
	}
	select {
	case <-timer.C():
		t.Error("a tick from before the reset is left")
	default:
	}
	m.Advance(time.Second)
	<-timer.C()
}
