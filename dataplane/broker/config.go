package broker

import (
	"log/slog"
	"time"

	"github.com/felix-go/felix/dataplane/cache"
	"github.com/felix-go/felix/dataplane/ingress"
	"github.com/felix-go/felix/dataplane/shard"
	"github.com/felix-go/felix/dataplane/stream"
	"github.com/felix-go/felix/dataplane/transport"
	"github.com/felix-go/felix/internal/clock"
)

// Config is everything a broker is told. It nests the configurations of the rooms; the fields they share (stats, clock,
// logger, arena) are filled in by Start.
type Config struct {
	// Version is shown by build info and the admin listener.
	Version string
	// StateDir keeps the generated certificate and the stateless reset key. Required: without the key, clients notice a
	// crash only at their idle timeout.
	StateDir string
	// ControlPlaneURL and ControlPlaneToken reach the metadata. Required.
	ControlPlaneURL, ControlPlaneToken string
	// ControlPlaneCA is an extra trusted root (PEM file) for an https control plane.
	ControlPlaneCA string
	// TLSCert and TLSKey are PEM files, re-read when they change; both or neither. Without them a self-signed leaf for
	// localhost is kept in StateDir, unless RequireCert.
	TLSCert, TLSKey string
	RequireCert     bool
	// AdminBind is the address of health, metrics and profiles; empty serves none. AdminToken admits profiling and log
	// level changes from other machines.
	AdminBind, AdminToken string

	Transport transport.ListenConfig
	Ingress   ingress.Config
	Scheduler shard.Config
	Stream    stream.Config
	Cache     cache.Config

	// PublishBytes bounds the publish bytes of the whole process between readers and claims (default 64 MiB).
	PublishBytes int64
	// EgressBytes bounds what all subscriber queues hold together (default 256 MiB).
	EgressBytes int64
	// ReplayBytes bounds what all replay rings hold together (default 256 MiB).
	ReplayBytes int64

	// Predrain is how long the broker serves on with readiness off before it starts to drain (default 0).
	Predrain time.Duration
	// DrainTimeout is the one budget of the whole shutdown after Predrain (default 25 s); half of it is the grace of
	// streams in flight.
	DrainTimeout time.Duration

	Clock    clock.Clock
	Logger   *slog.Logger
	LogLevel *slog.LevelVar
}

func (c Config) withDefaults() Config {
	set := func(v *int64, d int64) {
		if *v <= 0 {
			*v = d
		}
	}
	set(&c.PublishBytes, 64<<20)
	set(&c.EgressBytes, 256<<20)
	set(&c.ReplayBytes, 256<<20)
	if c.DrainTimeout <= 0 {
		c.DrainTimeout = 25 * time.Second
	}
	if c.Clock == nil {
		c.Clock = clock.Real()
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// Validate reports the first field that cannot work.
func (c Config) Validate() error {
	switch {
	case c.StateDir == "":
		return configError("state_dir", "is empty; the certificate and the reset key need a directory")
	case c.ControlPlaneURL == "":
		return configError("controlplane_url", "is empty; a broker gets its metadata from a control plane")
	case (c.TLSCert == "") != (c.TLSKey == ""):
		return configError("tls_cert, tls_key", "are set one without the other")
	case c.RequireCert && c.TLSCert == "":
		return configError("tls_require_cert", "is on and tls_cert is not set")
	}
	return nil
}
