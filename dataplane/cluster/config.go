package cluster

import (
	"log/slog"

	"github.com/felix-go/felix/controlplane/client"
	"github.com/felix-go/felix/dataplane/auth"
	"github.com/felix-go/felix/dataplane/catalog"
	"github.com/felix-go/felix/dataplane/stat"
	"github.com/felix-go/felix/internal/clock"
)

// Config connects a Sync. Zero values take the defaults named beside them.
type Config struct {
	// API asks the control plane. Required; its credential needs node.view on the cluster.
	API *client.Client
	// Catalog is kept in step. Required, and written by nobody else.
	Catalog *catalog.Catalog
	// Keys forgets the keys of tenants that are deleted (default: nobody is told).
	Keys *auth.Keys
	// Clock times waits (default the real one).
	Clock clock.Clock
	// Stats receives the counters (default a set of its own).
	Stats *stat.Set
	// Logger hears when a feed fails, works again or starts over (default none).
	Logger *slog.Logger
}

func (c Config) withDefaults() Config {
	if c.Clock == nil {
		c.Clock = clock.Real()
	}
	if c.Stats == nil {
		c.Stats = stat.NewSet()
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}
