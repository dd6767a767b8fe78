package server

import (
	"strconv"

	"github.com/felix-go/felix/dataplane/stat"
)

// counters is what the server counts. None of it is on a message's way, so labelled counters are looked
// up by name.
type counters struct {
	set     *stat.Set
	panics  *stat.Counter
	waiting *stat.Gauge
}

func newCounters(set *stat.Set) *counters {
	return &counters{
		set: set,
		panics: set.Counter("felix_controlplane_panics_total",
			"Requests that ended in a panic of their handler."),
		waiting: set.Gauge("felix_controlplane_polls_waiting",
			"Long polls that wait for a change."),
	}
}

func (c *counters) request(route class, status int) {
	name := stat.Label("felix_controlplane_requests_total", "route", string(route))
	c.set.Counter(stat.Label(name, "code", strconv.Itoa(status)),
		"Requests answered, by class of route and HTTP status.").Inc()
}

func (c *counters) rejected(reason string) {
	c.set.Counter(stat.Label("felix_controlplane_auth_rejected_total", "reason", reason),
		"Requests refused for their credential: none, not a bearer, not the right one.").Inc()
}
