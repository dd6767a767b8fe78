package felix

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"time"
)

// TokenSource gives the token for a login. It is asked when no token is held, when two thirds of the life of the one held are
// over (read from the JWT's exp), and when a token was refused.
type TokenSource interface {
	Token(ctx context.Context) (string, error)
}

// TokenFunc is a TokenSource.
type TokenFunc func(ctx context.Context) (string, error)

// Token implements TokenSource.
func (f TokenFunc) Token(ctx context.Context) (string, error) { return f(ctx) }

// Option configures Dial.
type Option func(*config) error

type config struct {
	addrs             []string
	tenant, namespace string
	source            TokenSource
	caFile            string
	serverName        string
	offerALPN         bool
	logger            *slog.Logger
	publishStreams    int
	cacheStreams      int
	inflightBytes     int64
	ackOnCommit       bool
	dialTimeout       time.Duration
}

// Defaults of the options.
const (
	DefaultPublishStreams = 2
	DefaultCacheStreams   = 2
	DefaultInflightBytes  = 16 << 20
	DefaultDialTimeout    = 10 * time.Second
)

// parseURL reads felix://host:port[,host:port…]/tenant/namespace.
func parseURL(raw string) (config, error) {
	bad := func(what string) (config, error) {
		return config{}, fmt.Errorf("%w: address %q: %s, want felix://host:port/tenant/namespace", ErrConfig, raw, what)
	}
	rest, ok := strings.CutPrefix(raw, "felix://")
	if !ok {
		return bad("not a felix address")
	}
	hosts, path, _ := strings.Cut(rest, "/")
	if strings.Contains(hosts, "@") {
		return bad("credentials do not belong into an address; use an option")
	}
	c := config{serverName: "localhost", publishStreams: DefaultPublishStreams, cacheStreams: DefaultCacheStreams,
		inflightBytes: DefaultInflightBytes, dialTimeout: DefaultDialTimeout, logger: slog.New(slog.DiscardHandler)}
	for h := range strings.SplitSeq(hosts, ",") {
		if u, err := url.Parse("felix://" + h); err != nil || u.Hostname() == "" || u.Port() == "" {
			return bad(fmt.Sprintf("%q is not host:port", h))
		}
		c.addrs = append(c.addrs, h)
	}
	names := strings.Split(path, "/")
	if len(names) != 2 || names[0] == "" || names[1] == "" {
		return bad("no tenant and namespace")
	}
	c.tenant, c.namespace = names[0], names[1]
	return c, nil
}

// WithToken uses one token for every login.
func WithToken(token string) Option {
	return WithTokenSource(TokenFunc(func(context.Context) (string, error) { return token, nil }))
}

// WithTokenFile reads the token from a file at every login that needs one, so that a replaced file is taken up.
func WithTokenFile(path string) Option {
	return WithTokenSource(TokenFunc(func(context.Context) (string, error) {
		b, err := os.ReadFile(path)
		if err != nil {
			return "", fmt.Errorf("felix: token file: %w", err)
		}
		return strings.TrimSpace(string(b)), nil
	}))
}

// WithTokenSource asks s for tokens.
func WithTokenSource(s TokenSource) Option {
	return func(c *config) error { c.source = s; return nil }
}

// WithCAFile trusts the certificates in a PEM file instead of the system's.
func WithCAFile(path string) Option { return func(c *config) error { c.caFile = path; return nil } }

// WithServerName is the name the broker's certificate must carry. Default: localhost, as every Felix client.
func WithServerName(name string) Option {
	return func(c *config) error { c.serverName = name; return nil }
}

// WithALPN offers the protocol id felix/1 in the TLS handshake.
func WithALPN() Option { return func(c *config) error { c.offerALPN = true; return nil } }

// WithLogger reports reconnects. Default: silent.
func WithLogger(l *slog.Logger) Option { return func(c *config) error { c.logger = l; return nil } }

// WithStreams sets how many request streams publishes and cache calls are spread over. More streams mean less waiting behind
// one another and fewer requests that share a packet. Default 2 and 2.
func WithStreams(publish, cache int) Option {
	return func(c *config) error {
		if publish < 1 || publish > 256 || cache < 1 || cache > 256 {
			return fmt.Errorf("%w: WithStreams(%d, %d): each must be 1 to 256", ErrConfig, publish, cache)
		}
		c.publishStreams, c.cacheStreams = publish, cache
		return nil
	}
}

// WithInflightBytes bounds the request bytes that are queued or unanswered. At the limit callers wait. Default 16 MiB.
func WithInflightBytes(n int64) Option {
	return func(c *config) error {
		if n < 1 {
			return fmt.Errorf("%w: WithInflightBytes(%d) must be positive", ErrConfig, n)
		}
		c.inflightBytes = n
		return nil
	}
}

// WithAckOnCommit asks the broker to acknowledge publishes after the write and the fan-out instead of when they are queued.
func WithAckOnCommit() Option { return func(c *config) error { c.ackOnCommit = true; return nil } }

// WithDialTimeout bounds one connection attempt to one address. Default 10 s.
func WithDialTimeout(d time.Duration) Option {
	return func(c *config) error {
		if d <= 0 {
			return fmt.Errorf("%w: WithDialTimeout(%s) must be positive", ErrConfig, d)
		}
		c.dialTimeout = d
		return nil
	}
}

var errNoToken = errors.New("felix: no token: use WithToken, WithTokenFile or WithTokenSource")
