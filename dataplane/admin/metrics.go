package admin

import (
	"net/http"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/VictoriaMetrics/metrics"
	"github.com/valyala/bytebufferpool"

	"github.com/felix-go/felix/dataplane/stat"
)

// maxKeptScrape is the largest buffer that goes back to the pool.
const maxKeptScrape = 1 << 20

// newNumbers returns the broker's own metric set: what the rooms count, through a writer, and what only this
// room knows.
func (s *Server) newNumbers() *metrics.Set {
	metrics.ExposeMetadata(true) // HELP and TYPE lines; a process-wide switch that is only ever turned on
	set := metrics.NewSet()
	set.RegisterMetricsWriter(s.cfg.Stats.WritePrometheus)
	name := stat.Label("felix_build_info", "version", s.cfg.Version)
	name = stat.Label(name, "goversion", runtime.Version())
	name = stat.Label(name, "revision", revision(build()))
	set.NewGauge(name, func() float64 { return 1 })
	set.NewGauge("felix_uptime_seconds", func() float64 { return s.uptime().Seconds() })
	return set
}

func (s *Server) uptime() time.Duration { return s.cfg.Clock.Monotonic() - s.started }

// metrics writes a scrape into memory first, so that a slow reader holds nothing but bytes.
func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) {
	b := bytebufferpool.Get()
	s.numbers.WritePrometheus(b)
	metrics.WriteProcessMetrics(b)
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	w.Write(b.B)
	if cap(b.B) <= maxKeptScrape {
		bytebufferpool.Put(b)
	}
}

func build() *debug.BuildInfo {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info
	}
	return &debug.BuildInfo{}
}

// revision is the commit the binary was built from, with a mark when the tree had changes.
func revision(info *debug.BuildInfo) string {
	var commit, mark string
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			mark = "-dirty"
		}
	}
	return commit + mark
}
