package store

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"strings"

	"github.com/felix-go/felix/internal/clock"
)

// Config says where the state lives. Exactly one of DataDir and Endpoints is set.
type Config struct {
	// DataDir holds the embedded single member. It is created with mode 0700 when absent. A directory
	// that another process uses is refused with ErrLocked.
	DataDir string

	// Endpoints are the client addresses of an existing etcd cluster, for example
	// https://10.0.0.1:2379. Open fails when none of them answers before its context ends.
	Endpoints []string

	// TLS secures the connections to Endpoints. Nil means plain connections.
	TLS *tls.Config

	// Prefix is put in front of every key, so that several installations can share a cluster. It must
	// start and end with a slash. Default /felix/v1/.
	Prefix string

	// RetainChanges is how many change rows of each kind are kept. A reader further behind than that
	// has to take a snapshot. Default 10,000 (rule P20).
	RetainChanges int

	// Logger gets the store's own lines and etcd's warnings. Default slog.Default(): etcd ends the process
	// when its disk fails, and says why in a line that must not get lost.
	Logger *slog.Logger

	// Clock paces the retries of background work. Default: the real one.
	Clock clock.Clock
}

const (
	defaultPrefix        = "/felix/v1/"
	defaultRetainChanges = 10_000
)

func (c Config) withDefaults() Config {
	if c.Prefix == "" {
		c.Prefix = defaultPrefix
	}
	if c.RetainChanges == 0 {
		c.RetainChanges = defaultRetainChanges
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.Clock == nil {
		c.Clock = clock.Real()
	}
	return c
}

// Validate reports the first setting that cannot work.
func (c Config) Validate() error {
	c = c.withDefaults()
	switch {
	case (c.DataDir == "") == (len(c.Endpoints) == 0):
		return fmt.Errorf("%w: exactly one of DataDir and Endpoints must be set", ErrConfig)
	case c.TLS != nil && len(c.Endpoints) == 0:
		return fmt.Errorf("%w: TLS applies to Endpoints only", ErrConfig)
	case !strings.HasPrefix(c.Prefix, "/") || !strings.HasSuffix(c.Prefix, "/"):
		return fmt.Errorf("%w: Prefix %q must start and end with a slash", ErrConfig, c.Prefix)
	case c.RetainChanges < 1:
		return fmt.Errorf("%w: RetainChanges %d must be positive", ErrConfig, c.RetainChanges)
	}
	return nil
}
