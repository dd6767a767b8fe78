package ingress

import (
	"log/slog"
	"time"

	"github.com/felix-go/felix/dataplane/admission"
	"github.com/felix-go/felix/dataplane/arena"
	"github.com/felix-go/felix/dataplane/auth"
	"github.com/felix-go/felix/dataplane/catalog"
	"github.com/felix-go/felix/dataplane/fanout"
	"github.com/felix-go/felix/dataplane/route"
	"github.com/felix-go/felix/dataplane/shard"
	"github.com/felix-go/felix/dataplane/stat"
	"github.com/felix-go/felix/internal/clock"
)

// Config bounds what one client connection may make the broker hold. Zero values take the defaults named beside them.
type Config struct {
	// MaxFrameBytes bounds a frame's payload on an authenticated stream (default and most: 16 MiB).
	MaxFrameBytes int
	// PreauthMaxFrameBytes bounds a frame's payload before the stream has authenticated (default 64 KiB).
	PreauthMaxFrameBytes int
	// PreauthMaxStreams is how many streams of one connection may be read at once before they authenticate (default 16);
	// more wait.
	PreauthMaxStreams int
	// AuthTimeout closes a connection on which nothing has authenticated (default 10 s).
	AuthTimeout time.Duration
	// AnswerStallTimeout ends a stream whose peer refuses to read its answers, or that leaves a frame half sent, for this
	// long (default 30 s).
	AnswerStallTimeout time.Duration
	// PublishWindow is how many unanswered requests one stream may have; at the limit the broker stops reading that stream
	// (default 256).
	PublishWindow int
	// ConnPublishBytes bounds the publish bytes one connection has between its reader and the claim (default 16 MiB).
	ConnPublishBytes int64
	// PublishQueueWait is how long a commit-acknowledged publish waits for a queue slot before it is refused (default 2 s).
	PublishQueueWait time.Duration
	// IngressWait makes every publish wait for room instead of being refused or shed: lossless ingress.
	IngressWait bool
	// AckOnCommit answers acknowledged publishes after the write and the fan-out instead of when they are queued.
	AckOnCommit bool
	// MaxSubscriptionsPerConn bounds the live subscriptions of one connection (default 4096).
	MaxSubscriptionsPerConn int
	// QueueItems, QueueItemsMax and QueueBytes bound one subscriber's queue: batches by default, the most a client may ask
	// for, and bytes (512, 4096, 4 MiB).
	QueueItems, QueueItemsMax int
	QueueBytes                int64
	// QueuePolicy decides what a full subscriber queue does to the publish.
	QueuePolicy fanout.Policy
	// MaxBytesPerWrite bounds how much one event-stream write combines (default 64 KiB).
	MaxBytesPerWrite int
}

func (c Config) withDefaults() Config {
	set := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	set(&c.MaxFrameBytes, 16<<20)
	set(&c.PreauthMaxFrameBytes, 64<<10)
	set(&c.PreauthMaxStreams, 16)
	set(&c.PublishWindow, 256)
	set(&c.MaxSubscriptionsPerConn, 4096)
	set(&c.QueueItems, 512)
	set(&c.QueueItemsMax, 4096)
	set(&c.MaxBytesPerWrite, 64<<10)
	if c.AuthTimeout <= 0 {
		c.AuthTimeout = 10 * time.Second
	}
	if c.AnswerStallTimeout <= 0 {
		c.AnswerStallTimeout = 30 * time.Second
	}
	if c.PublishQueueWait <= 0 {
		c.PublishQueueWait = 2 * time.Second
	}
	if c.ConnPublishBytes <= 0 {
		c.ConnPublishBytes = 16 << 20
	}
	if c.QueueBytes <= 0 {
		c.QueueBytes = 4 << 20
	}
	return c
}

// Rooms are the neighbours a message meets after ingress; broker builds them and hands them over.
type Rooms struct {
	Arena     *arena.Arena
	Verifier  *auth.Verifier
	Catalog   *catalog.Catalog
	Router    *route.Router
	Scheduler *shard.Scheduler
	Egress    *fanout.Egress
	Delivery  *fanout.Delivery
	Budget    *admission.Budget // process-wide publish bytes
	Stats     *stat.Set
	Clock     clock.Clock
	Logger    *slog.Logger
}
