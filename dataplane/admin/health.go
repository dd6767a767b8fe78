package admin

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// live answers while the process can answer at all; it asks nobody, because a restart mends none of what it
// could ask.
func (s *Server) live(w http.ResponseWriter, _ *http.Request) {
	text(w, http.StatusOK, "live\n")
}

// ready says whether the broker should get traffic. Draining is answered first: whatever else is wrong, this
// broker is about to go.
func (s *Server) ready(w http.ResponseWriter, r *http.Request) {
	var reasons []string
	if s.draining.Load() {
		reasons = append(reasons, "draining")
	}
	reasons = append(reasons, s.cfg.Ready()...)
	status := http.StatusOK
	body := "ready\n"
	if len(reasons) > 0 {
		status = http.StatusServiceUnavailable
		body = strings.Join(reasons, "\n") + "\n"
	}
	if r.URL.Query().Has("verbose") {
		uptime := s.uptime().Truncate(time.Second)
		body = verbose(reasons) + fmt.Sprintf("version: %s\nuptime: %s\n", s.cfg.Version, uptime)
	}
	text(w, status, body)
}

func verbose(reasons []string) string {
	if len(reasons) == 0 {
		return "[+] ready\n"
	}
	var b strings.Builder
	for _, r := range reasons {
		fmt.Fprintf(&b, "[-] %s\n", r)
	}
	return b.String()
}

func text(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	io.WriteString(w, body)
}
