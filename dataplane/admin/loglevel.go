package admin

import (
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/felix-go/felix/internal/clock"
)

// longestLevel bounds a temporary log level.
const longestLevel = 24 * time.Hour

// levels changes the log level, for good or for a while. A temporary level falls back alone to the last one
// that was set for good, however many temporary ones follow each other.
type levels struct {
	level  *slog.LevelVar
	clock  clock.Clock
	logger *slog.Logger

	mu    sync.Mutex // guards the following
	base  slog.Level
	timer clock.Timer // armed while a temporary level holds, else nil
	turn  uint64      // counts temporary levels, so that a late timer does not end a later one
}

// put serves PUT /v1/log-level?level=debug|info|warn|error&for=10m. Without for, the level stays.
func (l *levels) put(w http.ResponseWriter, r *http.Request) {
	var level slog.Level
	var d time.Duration
	q := r.URL.Query()
	if err := level.UnmarshalText([]byte(q.Get("level"))); err != nil {
		text(w, http.StatusBadRequest, "level must be debug, info, warn or error\n")
		return
	}
	if q.Has("for") {
		var err error
		if d, err = time.ParseDuration(q.Get("for")); err != nil || d <= 0 || d > longestLevel {
			text(w, http.StatusBadRequest, fmt.Sprintf("for must be at most %s, such as 10m\n", longestLevel))
			return
		}
	}
	l.set(level, d)
	l.logger.Warn("log level changed", "level", level, "for", d, "remote", r.RemoteAddr)
	if d == 0 {
		text(w, http.StatusOK, fmt.Sprintf("level=%s\n", level))
		return
	}
	text(w, http.StatusOK, fmt.Sprintf("level=%s for=%s\n", level, d))
}

func (l *levels) set(level slog.Level, d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer == nil {
		l.base = l.level.Level()
	} else {
		l.timer.Stop()
		l.timer = nil
	}
	l.level.Set(level)
	if d == 0 {
		return
	}
	l.turn++
	turn := l.turn
	l.timer = l.clock.AfterFunc(d, func() { l.fallBack(turn) })
}

func (l *levels) fallBack(turn uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer != nil && l.turn == turn {
		l.timer = nil
		l.level.Set(l.base)
	}
}

// restore ends a temporary level now.
func (l *levels) restore() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
		l.level.Set(l.base)
	}
}
