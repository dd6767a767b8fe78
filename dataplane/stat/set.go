package stat

import (
	"fmt"
	"strings"
	"sync"
)

type kind string

const (
	kindCounter   kind = "counter"
	kindGauge     kind = "gauge"
	kindHistogram kind = "histogram"
)

// metric is one named number; exactly one of the pointers and functions is set.
type metric struct {
	name, help string
	kind       kind
	counter    *Counter
	gauge      *Gauge
	histogram  *Histogram
	counterFn  func() uint64
	gaugeFn    func() int64
}

// Set is a registry of numbers by full name. A name may carry labels: felix_x_total{reason="full"}; everything before the
// brace is the family, and a family has one kind and one help text. Register once and keep the pointer: lookups take a lock.
type Set struct {
	mu       sync.Mutex // guards the following
	metrics  map[string]*metric
	families map[string]*metric // the first of each family
}

// NewSet returns an empty set.
func NewSet() *Set {
	return &Set{metrics: make(map[string]*metric), families: make(map[string]*metric)}
}

// Counter returns the counter of that name, new or the one registered before. It panics when the name or its family has
// another kind.
func (s *Set) Counter(name, help string) *Counter {
	return s.register(&metric{name: name, help: help, kind: kindCounter, counter: new(Counter)}).counter
}

// Gauge returns the gauge of that name, as Counter does.
func (s *Set) Gauge(name, help string) *Gauge {
	return s.register(&metric{name: name, help: help, kind: kindGauge, gauge: new(Gauge)}).gauge
}

// Histogram returns the histogram of that name, as Counter does; bounds are in seconds.
func (s *Set) Histogram(name, help string, bounds []float64) *Histogram {
	return s.register(&metric{name: name, help: help, kind: kindHistogram, histogram: NewHistogram(bounds)}).histogram
}

// GaugeFunc registers a gauge that is read from f; a second registration replaces the function.
func (s *Set) GaugeFunc(name, help string, f func() int64) {
	m := s.register(&metric{name: name, help: help, kind: kindGauge, gaugeFn: f})
	s.mu.Lock()
	m.gaugeFn = f
	s.mu.Unlock()
}

// CounterFunc registers a counter that is read from f; a second registration replaces the function.
func (s *Set) CounterFunc(name, help string, f func() uint64) {
	m := s.register(&metric{name: name, help: help, kind: kindCounter, counterFn: f})
	s.mu.Lock()
	m.counterFn = f
	s.mu.Unlock()
}

func (s *Set) register(m *metric) *metric {
	s.mu.Lock()
	defer s.mu.Unlock()
	family := s.families[familyOf(m.name)]
	if family != nil && family.kind != m.kind {
		panic(fmt.Sprintf("stat: %s is a %s, not a %s", m.name, family.kind, m.kind))
	}
	if old := s.metrics[m.name]; old != nil {
		if (old.counter == nil) != (m.counter == nil) || (old.gauge == nil) != (m.gauge == nil) {
			panic(fmt.Sprintf("stat: %s is registered both as a number and as a function", m.name))
		}
		return old
	}
	s.metrics[m.name] = m
	if family == nil {
		s.families[familyOf(m.name)] = m
	}
	return m
}

// familyOf cuts the labels off a name.
func familyOf(name string) string {
	family, _, _ := strings.Cut(name, "{")
	return family
}

// Snapshot returns all counters and gauges by full name.
func (s *Set) Snapshot() map[string]int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make(map[string]int64, len(s.metrics))
	for name, m := range s.metrics {
		if m.kind != kindHistogram {
			out[name] = m.value()
		}
	}
	return out
}

func (m *metric) value() int64 {
	switch {
	case m.counter != nil:
		return int64(m.counter.Load())
	case m.gauge != nil:
		return m.gauge.Load()
	case m.counterFn != nil:
		return int64(m.counterFn())
	}
	return m.gaugeFn()
}
