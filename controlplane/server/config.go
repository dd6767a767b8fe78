package server

import (
	"fmt"
	"log/slog"
	"net"

	"github.com/felix-go/felix/controlplane/store"
	"github.com/felix-go/felix/dataplane/stat"
	"github.com/felix-go/felix/internal/clock"
)

// Config is what the API needs.
type Config struct {
	// Store holds the state. The server does not close it. Required.
	Store *store.Store

	// OperatorToken is the one credential of this API, see LoadOperatorToken. Required, at least 32
	// bytes.
	OperatorToken string

	// Bind is the TCP address of the API, for example 127.0.0.1:8443; port 0 takes a free one. Start
	// listens on it. New only judges by it whether tokens may be minted.
	Bind string

	// MintAnywhere lets the mint endpoint answer on an address other than loopback, where it is refused
	// otherwise: whoever can use it can speak for every principal.
	MintAnywhere bool

	// CertFile and KeyFile are PEM files: both or neither. With them Start serves TLS and reads them
	// again when they change; without, it serves plain HTTP and warns.
	CertFile, KeyFile string

	// Logger gets one line per failure, and one per request at debug level. Default slog.Default().
	Logger *slog.Logger

	// Stats gets the server's counters. Default: a set of its own.
	Stats *stat.Set

	// Clock dates tokens and ends long polls. Default: the real one.
	Clock clock.Clock
}

// minOperatorTokenBytes keeps an empty or toy credential from guarding the API.
const minOperatorTokenBytes = 32

func (c Config) withDefaults() Config {
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.Stats == nil {
		c.Stats = stat.NewSet()
	}
	if c.Clock == nil {
		c.Clock = clock.Real()
	}
	return c
}

// Validate reports the first setting that cannot work.
func (c Config) Validate() error {
	switch {
	case c.Store == nil:
		return fmt.Errorf("%w: Store is missing", ErrConfig)
	case len(c.OperatorToken) < minOperatorTokenBytes:
		return fmt.Errorf("%w: OperatorToken must have at least %d bytes", ErrConfig, minOperatorTokenBytes)
	case (c.CertFile == "") != (c.KeyFile == ""):
		return fmt.Errorf("%w: CertFile and KeyFile must be set together", ErrConfig)
	}
	return nil
}

// mayMint reports whether the mint endpoint answers.
func (c Config) mayMint() bool {
	if c.MintAnywhere {
		return true
	}
	host, _, err := net.SplitHostPort(c.Bind)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
