package admin

import (
	"log/slog"

	"github.com/felix-go/felix/dataplane/stat"
	"github.com/felix-go/felix/internal/clock"
)

// Config says what the listener serves. Zero values take the defaults named beside them.
type Config struct {
	// Bind is the TCP address to listen on (default "127.0.0.1:8080"). Health and metrics are open to whoever
	// reaches it; everything else is for this machine or for Token.
	Bind string
	// Token admits other machines to profiles and the log level, as `Authorization: Bearer` (default "": none
	// are).
	Token string
	// Version is shown in felix_build_info and by ?verbose (default: the main module's version).
	Version string
	// Stats is what /metrics shows besides the process (default an empty set).
	Stats *stat.Set
	// Ready returns why the broker should get no traffic yet, nothing when it should. It must not block. Nil:
	// ready.
	Ready func() []string
	// LogLevel is what PUT /v1/log-level changes. Nil: the path is unknown.
	LogLevel *slog.LevelVar
	// Clock ends temporary log levels (default the real one).
	Clock clock.Clock
	// Logger hears of changed levels and of connections that fail (default none).
	Logger *slog.Logger
}

func (c Config) withDefaults() Config {
	if c.Bind == "" {
		c.Bind = "127.0.0.1:8080"
	}
	if c.Version == "" {
		c.Version = build().Main.Version
	}
	if c.Stats == nil {
		c.Stats = stat.NewSet()
	}
	if c.Ready == nil {
		c.Ready = func() []string { return nil }
	}
	if c.Clock == nil {
		c.Clock = clock.Real()
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}
