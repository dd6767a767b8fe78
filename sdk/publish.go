package felix

import (
	"context"
	"hash/maphash"
	"sync"

	"github.com/felix-go/felix/dataplane/wire"
)

// Ack is the answer to an acknowledged publish.
type Ack struct {
	// HasOffset says that Offset is the offset of the first record. In-memory streams and acknowledgements given when the
	// publish was queued have none.
	HasOffset bool
	Offset    uint64
}

// AckMode says whether the broker acknowledges.
type AckMode uint8

// The acknowledgement modes. One frame gets one answer in either of the acknowledged modes.
const (
	AckPerMessage = AckMode(wire.AckPerMessage)
	AckPerBatch   = AckMode(wire.AckPerBatch)
	AckNone       = AckMode(wire.AckNone)
)

// PublishOption changes one publish, or all of a Publisher.
type PublishOption func(*publishOptions)

type publishOptions struct {
	key    []byte
	keyed  bool
	ack    AckMode
	ackSet bool
}

// Key routes the publish by the hash of key over the stream's shards. Without a key it goes to shard 0. The empty key is a
// key.
func Key(key string) PublishOption {
	return func(o *publishOptions) { o.key, o.keyed = []byte(key), true }
}

// WithAck sets the acknowledgement mode. Default: per message for Publish, per batch for PublishBatch.
func WithAck(m AckMode) PublishOption {
	return func(o *publishOptions) { o.ack, o.ackSet = m, true }
}

// Publish sends one record and waits for the acknowledgement. What that means is the broker's setting: for an in-memory stream
// the broker has queued it. With AckNone it returns when the record was handed to the transport.
func (c *Client) Publish(ctx context.Context, stream string, payload []byte, opts ...PublishOption) (Ack, error) {
	o := publishOptions{ack: AckPerMessage}
	for _, f := range opts {
		f(&o)
	}
	return c.publish(ctx, stream, [][]byte{payload}, o)
}

// PublishBatch sends the records as one batch: they get consecutive offsets and one acknowledgement.
func (c *Client) PublishBatch(ctx context.Context, stream string, payloads [][]byte, opts ...PublishOption) (Ack, error) {
	o := publishOptions{ack: AckPerBatch}
	for _, f := range opts {
		f(&o)
	}
	return c.publish(ctx, stream, payloads, o)
}

// hashSeed spreads streams over request streams; one stream keeps one, and with it its order.
var hashSeed = maphash.MakeSeed()

func (c *Client) publish(ctx context.Context, stream string, payloads [][]byte, o publishOptions) (Ack, error) {
	const op = "publish"
	f := wire.PublishFrame{Ack: wire.AckMode(o.ack), Tenant: c.cfg.tenant, Namespace: c.cfg.namespace, Stream: stream,
		Payloads: payloads, Keyed: o.keyed, Key: o.key}
	if err := f.Validate(); err != nil {
		return Ack{}, refused(op, wire.Refusal{Code: wire.CodeLimitExceeded, Message: err.Error(), Reason: wire.ReasonFrameTooLarge})
	}
	l, err := c.connected(ctx)
	if err != nil {
		return Ack{}, err
	}
	p, err := l.publishPipe(ctx, maphash.String(hashSeed, stream))
	if err != nil {
		return Ack{}, err
	}
	size := min(int64(f.Size()), c.cfg.inflightBytes) // larger ones go alone
	if err := c.bytes.Acquire(ctx, size); err != nil {
		return Ack{}, abandoned(op, ctx, false)
	}
	k := &call{op: op, id: c.nextID.Add(1), want: o.ack != AckNone, retained: func() { c.bytes.Release(size) }}
	f.RequestID = k.id
	k.frame = wire.AppendPublish(make([]byte, 0, f.Size()), &f)
	err = p.do(ctx, k)
	if err != nil {
		return Ack{}, err
	}
	return k.ack, nil
}

// Publisher sends to one stream with options set once, optionally without waiting.
type Publisher struct {
	c      *Client
	stream string
	opts   publishOptions

	wg    sync.WaitGroup // publishes under way
	slots chan struct{}

	mu    sync.Mutex // guards the following
	first error      // of the publishes since the last Flush
}

// asyncPublishes bounds the publishes that a Publisher has under way.
const asyncPublishes = 1024

// Publisher returns a publisher for the stream.
func (c *Client) Publisher(stream string, opts ...PublishOption) *Publisher {
	p := &Publisher{c: c, stream: stream, slots: make(chan struct{}, asyncPublishes)}
	for _, f := range opts {
		f(&p.opts)
	}
	return p
}

func (p *Publisher) options(def AckMode) publishOptions {
	o := p.opts
	if !o.ackSet {
		o.ack = def
	}
	return o
}

// Publish is Client.Publish with the publisher's options.
func (p *Publisher) Publish(ctx context.Context, payload []byte) (Ack, error) {
	return p.c.publish(ctx, p.stream, [][]byte{payload}, p.options(AckPerMessage))
}

// PublishBatch is Client.PublishBatch with the publisher's options.
func (p *Publisher) PublishBatch(ctx context.Context, payloads [][]byte) (Ack, error) {
	return p.c.publish(ctx, p.stream, payloads, p.options(AckPerBatch))
}

// PublishAsync sends a batch without waiting for its acknowledgement; done, if not nil, is called with the result. It waits
// while 1024 are under way. Two asynchronous publishes may overtake each other: where order matters, wait or use a batch. The
// payloads must not be changed before done was called.
func (p *Publisher) PublishAsync(ctx context.Context, payloads [][]byte, done func(Ack, error)) error {
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return abandoned("publish", ctx, false)
	}
	p.wg.Add(1)
	go func() {
		defer p.wg.Done()
		defer func() { <-p.slots }()
		ack, err := p.PublishBatch(ctx, payloads)
		if err != nil {
			p.mu.Lock()
			if p.first == nil {
				p.first = err
			}
			p.mu.Unlock()
		}
		if done != nil {
			done(ack, err)
		}
	}()
	return nil
}

// Flush waits until every asynchronous publish has its result and returns the first failure since the last Flush.
func (p *Publisher) Flush(ctx context.Context) error {
	idle := make(chan struct{})
	go func() {
		p.wg.Wait()
		close(idle)
	}()
	select {
	case <-idle:
	case <-ctx.Done():
		return abandoned("flush", ctx, true)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	err := p.first
	p.first = nil
	return err
}
