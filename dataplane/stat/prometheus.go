package stat

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// WritePrometheus writes everything in the Prometheus text format, families in order, HELP and TYPE once each. Errors of w are
// ignored: the reader of a scrape has gone.
func (s *Set) WritePrometheus(w io.Writer) {
	s.mu.Lock()
	metrics := slices.Collect(maps.Values(s.metrics))
	help := make(map[string]*metric, len(s.families))
	maps.Copy(help, s.families)
	s.mu.Unlock()
	slices.SortFunc(metrics, func(a, b *metric) int {
		if c := strings.Compare(familyOf(a.name), familyOf(b.name)); c != 0 {
			return c
		}
		return strings.Compare(a.name, b.name)
	})
	out := bufio.NewWriter(w)
	defer out.Flush()
	last := ""
	for _, m := range metrics {
		family := familyOf(m.name)
		if family != last {
			last = family
			f := help[family]
			fmt.Fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", family, helpEscape.Replace(f.help), family, f.kind)
		}
		if m.kind == kindHistogram {
			m.histogram.write(out, m.name)
			continue
		}
		if m.kind == kindCounter {
			fmt.Fprintf(out, "%s %d\n", m.name, uint64(m.value()))
		} else {
			fmt.Fprintf(out, "%s %d\n", m.name, m.value())
		}
	}
}

var helpEscape = strings.NewReplacer(`\`, `\\`, "\n", `\n`)

// Label returns name{label="value"} with the value escaped, or adds the label to a name that has some.
func Label(name, label, value string) string {
	value = labelEscape.Replace(value)
	if open, ok := strings.CutSuffix(name, "}"); ok {
		return open + "," + label + `="` + value + `"}`
	}
	return name + "{" + label + `="` + value + `"}`
}

var labelEscape = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

func (h *Histogram) write(w io.Writer, name string) {
	family, labels, _ := strings.Cut(name, "{")
	suffix := func(s string) string {
		if labels == "" {
			return family + s
		}
		return family + s + "{" + labels
	}
	total := uint64(0)
	for i := range h.buckets {
		total += h.buckets[i].Load()
		le := "+Inf"
		if i < len(h.bounds) {
			le = strconv.FormatFloat(h.bounds[i], 'g', -1, 64)
		}
		fmt.Fprintf(w, "%s %d\n", Label(suffix("_bucket"), "le", le), total)
	}
	fmt.Fprintf(w, "%s %g\n%s %d\n", suffix("_sum"), time.Duration(h.sum.Load()).Seconds(), suffix("_count"), total)
}
