package cluster

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/felix-go/felix/internal/clock"
)

// The first wait after a failure, and the longest.
const (
	firstWait   = 100 * time.Millisecond
	longestWait = 5 * time.Second
)

// backoff spaces the attempts of one feed.
type backoff struct {
	clock    clock.Clock
	failures int // in a row
}

// wait waits after one more failure. It returns false when ctx ends first.
func (b *backoff) wait(ctx context.Context) bool { return pause(ctx, b.clock, b.next()) }

// next counts a failure and returns the wait after it, about twice the one before.
func (b *backoff) next() time.Duration {
	d := min(firstWait<<min(b.failures, 16), longestWait)
	b.failures++
	return jitter(d)
}

// jitter returns between half of d and d, so that brokers which failed together do not come back together.
func jitter(d time.Duration) time.Duration { return d/2 + rand.N(d/2+1) }

// pause waits d. It returns false when ctx ends first.
func pause(ctx context.Context, clk clock.Clock, d time.Duration) bool {
	t := clk.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C():
		return true
	case <-ctx.Done():
		return false
	}
}

// limit returns a context that ends after d with errTimeout.
func limit(ctx context.Context, clk clock.Clock, d time.Duration) (context.Context, func()) {
	limited, cancel := context.WithCancelCause(ctx)
	t := clk.AfterFunc(d, func() { cancel(errTimeout) })
	return limited, func() {
		t.Stop()
		cancel(nil)
	}
}
