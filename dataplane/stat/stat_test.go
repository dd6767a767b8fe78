package stat

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestPrometheusText(t *testing.T) {
	s := NewSet()
	s.Counter("felix_b_total", "Second family.").Add(3)
	s.Gauge(`felix_a{kind="y"}`, "First family.\nWith a line break and a \\.").Set(-2)
	s.Gauge(`felix_a{kind="x"}`, "First family.\nWith a line break and a \\.").Add(5)
	s.GaugeFunc("felix_c", "From a function.", func() int64 { return 7 })
	s.CounterFunc("felix_d_total", "From a function.", func() uint64 { return 1 << 63 })
	h := s.Histogram(`felix_e_seconds{op="get"}`, "Latency.", []float64{0.001, 0.01})
	for _, d := range []time.Duration{0, time.Millisecond, 2 * time.Millisecond, time.Second} {
		h.Observe(d)
	}
	var b bytes.Buffer
	s.WritePrometheus(&b)
	want := `# HELP felix_a First family.\nWith a line break and a \\.
# TYPE felix_a gauge
felix_a{kind="x"} 5
felix_a{kind="y"} -2
# HELP felix_b_total Second family.
# TYPE felix_b_total counter
felix_b_total 3
# HELP felix_c From a function.
# TYPE felix_c gauge
felix_c 7
# HELP felix_d_total From a function.
# TYPE felix_d_total counter
felix_d_total 9223372036854775808
# HELP felix_e_seconds Latency.
# TYPE felix_e_seconds histogram
felix_e_seconds_bucket{op="get",le="0.001"} 2
felix_e_seconds_bucket{op="get",le="0.01"} 3
felix_e_seconds_bucket{op="get",le="+Inf"} 4
felix_e_seconds_sum{op="get"} 1.003
felix_e_seconds_count{op="get"} 4
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestLabelEscapes(t *testing.T) {
	got := Label(Label("felix_x", "a", "q\"b\\n\n"), "b", "2")
	if want := `felix_x{a="q\"b\\n\n",b="2"}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestRegistrationIsOnce(t *testing.T) {
	s := NewSet()
	var wg sync.WaitGroup
	for range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 1000 {
				s.Counter("felix_x_total", "x").Inc()
				s.Gauge("felix_y", "y").Add(1)
			}
		}()
	}
	wg.Wait()
	if m := s.Snapshot(); m["felix_x_total"] != 8000 || m["felix_y"] != 8000 {
		t.Error(m)
	}
	for name, f := range map[string]func(){
		"another kind":             func() { s.Gauge("felix_x_total", "x") },
		"another kind of a family": func() { s.Gauge(`felix_x_total{a="b"}`, "x") },
		"a number as a function":   func() { s.GaugeFunc("felix_y", "y", func() int64 { return 0 }) },
		"bounds that fall":         func() { NewHistogram([]float64{2, 1}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
	s.GaugeFunc("felix_f", "f", func() int64 { return 1 })
	s.GaugeFunc("felix_f", "f", func() int64 { return 2 })
	if s.Snapshot()["felix_f"] != 2 {
		t.Error("a second function does not replace the first")
	}
}

func TestHistogramBounds(t *testing.T) {
	h := NewHistogram([]float64{0.001})
	h.Observe(time.Millisecond)
	h.Observe(time.Millisecond + 1)
	h.Observe(-time.Second)
	if h.Count() != 3 || h.buckets[0].Load() != 2 {
		t.Errorf("%d observed, %d in the first bucket", h.Count(), h.buckets[0].Load())
	}
}

func TestFamiliesHaveHelpOnce(t *testing.T) {
	s := NewSet()
	for _, l := range []string{"a", "b", "c"} {
		s.Counter(Label("felix_x_total", "l", l), "Text.")
	}
	var b bytes.Buffer
	s.WritePrometheus(&b)
	if strings.Count(b.String(), "# HELP") != 1 || strings.Count(b.String(), "# TYPE") != 1 {
		t.Error(b.String())
	}
}
