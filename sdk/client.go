package felix

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/felix-go/felix/dataplane/transport"
	"github.com/felix-go/felix/dataplane/wire"
)

// Client speaks for one principal in one namespace of one tenant. It holds one connection, made by Dial and replaced when it
// is lost.
type Client struct {
	cfg    config
	dialer *transport.Dialer
	tokens tokens
	bytes  *semaphore.Weighted // request bytes queued or unanswered
	nextID atomic.Uint64

	// dialing is held by whoever replaces the connection.
	dialing chan struct{}
	link    atomic.Pointer[link]
	closed  atomic.Bool
	stop    context.Context // ends with the client
	cancel  context.CancelFunc
	wg      sync.WaitGroup // every goroutine of every connection and subscription

	failures int       // dials failed in a row; owned by the holder of dialing
	notUntil time.Time // earliest next dial; owned by the holder of dialing
}

// Dial connects to the first broker of url (felix://host:port[,host:port…]/tenant/namespace) that answers, and logs in once so
// that a wrong token is found here.
func Dial(ctx context.Context, url string, opts ...Option) (*Client, error) {
	cfg, err := parseURL(url)
	if err != nil {
		return nil, err
	}
	for _, o := range opts {
		if err := o(&cfg); err != nil {
			return nil, err
		}
	}
	d, err := transport.NewDialer(transport.DialConfig{ServerName: cfg.serverName, CAFile: cfg.caFile,
		OfferALPN: cfg.offerALPN, Logger: cfg.logger})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	c := &Client{cfg: cfg, dialer: d, tokens: tokens{source: cfg.source, turn: make(chan struct{}, 1)},
		bytes: semaphore.NewWeighted(cfg.inflightBytes), dialing: make(chan struct{}, 1)}
	c.stop, c.cancel = context.WithCancel(context.Background())
	l, err := c.connected(ctx)
	if err == nil {
		_, err = l.publishPipe(ctx, 0)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// Tenant returns the tenant the client speaks for.
func (c *Client) Tenant() string { return c.cfg.tenant }

// Namespace returns the namespace the client works in.
func (c *Client) Namespace() string { return c.cfg.namespace }

// Close ends everything of the client at once: calls in flight fail, subscriptions end with ErrClosed. Use Publisher.Flush
// before it to know what became of publishes.
func (c *Client) Close() error {
	if c.closed.Swap(true) {
		return nil
	}
	c.cancel()
	c.dialing <- struct{}{} // no dial in progress, none after
	l := c.link.Swap(nil)
	<-c.dialing
	if l != nil {
		l.close()
	}
	c.wg.Wait()
	return c.dialer.Close()
}

// connected returns the live connection, making one if there is none.
func (c *Client) connected(ctx context.Context) (*link, error) {
	if l := c.link.Load(); l != nil && l.alive() {
		return l, nil
	}
	select {
	case c.dialing <- struct{}{}:
	case <-ctx.Done():
		return nil, abandoned("connect", ctx, false)
	}
	defer func() { <-c.dialing }()
	if c.closed.Load() {
		return nil, ErrClosed
	}
	old := c.link.Load()
	if old != nil && old.alive() {
		return old, nil
	}
	if err := c.backOff(ctx); err != nil {
		return nil, err
	}
	l, err := c.dialAny(ctx)
	if err != nil {
		c.failed()
		return nil, err
	}
	c.failures, c.notUntil = 0, time.Time{}
	c.link.Store(l)
	if old != nil {
		c.cfg.logger.Info("felix: reconnected", "addr", l.conn.RemoteAddr().String())
		old.close()
	}
	return l, nil
}

// Backoff between failed dials: full jitter under a doubling bound.
const (
	backoffBase = 50 * time.Millisecond
	backoffMax  = 2 * time.Second
)

func (c *Client) failed() {
	bound := min(backoffMax, backoffBase<<min(c.failures, 10))
	c.failures++
	c.notUntil = time.Now().Add(rand.N(bound))
}

func (c *Client) backOff(ctx context.Context) error {
	wait := time.Until(c.notUntil)
	if wait <= 0 {
		return nil
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return abandoned("connect", ctx, false)
	case <-c.stop.Done():
		return ErrClosed
	}
}

// dialAny tries the addresses in order. It ends with the client.
func (c *Client) dialAny(ctx context.Context) (*link, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(c.stop, func() { cancel(ErrClosed) })()
	var failures []error
	for _, addr := range c.cfg.addrs {
		dctx, cancel := context.WithTimeout(ctx, c.cfg.dialTimeout)
		conn, err := c.dialer.Dial(dctx, addr)
		cancel()
		if err == nil {
			return newLink(c, conn), nil
		}
		if ctx.Err() != nil {
			return nil, abandoned("connect", ctx, false) // ErrClosed if that is why
		}
		failures = append(failures, fmt.Errorf("%s: %w", addr, err))
	}
	cause := errors.Join(failures...)
	return nil, &Error{Op: "connect", Class: ClassRetry, Message: "no broker could be reached: " + cause.Error(),
		cause: errors.Join(ErrConnection, cause)}
}

// offered is what this client understands.
func (c *Client) offered() (wire.Flags, wire.Features) {
	flags := wire.FlagPublishBatch | wire.FlagEventBatch | wire.FlagEventBatchShared | wire.FlagPublishAcked |
		wire.FlagPublishAck | wire.FlagEventOffsets | wire.FlagPublishKeyed | wire.FlagAckCode | wire.FlagAckDetail |
		wire.FlagEventSkipped | wire.FlagAckOffset
	features := wire.FeatureErrorCodes | wire.FeatureUnsupported | wire.FeaturePublishPipeline |
		wire.FeatureStreamPublishWindow | wire.FeatureCacheConditional | wire.FeatureSubscribeQueue |
		wire.FeatureExtended | wire.FeatureStreamDeleted | wire.FeatureMultiKeys
	if c.cfg.ackOnCommit {
		features |= wire.FeatureAckOnCommit
	}
	return flags, features
}
