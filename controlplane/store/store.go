package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/pprof"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/felix-go/felix/controlplane/api"
)

// Store is the state of the control plane.
//
// Every kind of resource is a Table. A write is one etcd transaction that changes the object, appends
// its change row and moves the kind's cursor; it is guarded by the cursor's revision, so the sequence of
// a kind is dense and total whoever writes, and by the revisions of the objects it depends on. A lost
// race is retried, a violated condition is the caller's error. See write.
//
// All methods are safe for concurrent use, from any number of processes on one etcd.
type Store struct {
	cfg    Config
	log    *slog.Logger
	keys   layout
	etcd   *door
	member *member // nil with external endpoints

	heads   [kindCount]head // write positions, see commit
	hub     *hub
	rewound chan struct{} // one token: set up the watch again
	sweeper *sweeper

	cancel context.CancelFunc // ends the background goroutines
	done   []<-chan struct{}  // closed as each of them returns

	closing sync.Once

	// The resource kinds. Immutable after Open.
	Tenants    *Table[api.Tenant]
	Namespaces *Table[api.Namespace]
	Streams    *Table[api.Stream]
	Caches     *Table[api.Cache]
}

// Open starts or reaches etcd and returns the store once it answers. ctx bounds the start only. The
// returned store must be closed.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	s := &Store{cfg: cfg, log: cfg.Logger, keys: layout{prefix: cfg.Prefix}, hub: newHub()}
	s.rewound = make(chan struct{}, 1)
	for k := range s.heads {
		s.heads[k].turn = make(chan struct{}, 1)
	}
	s.Tenants = &Table[api.Tenant]{store: s, schema: tenantSchema}
	s.Namespaces = &Table[api.Namespace]{store: s, schema: namespaceSchema}
	s.Streams = &Table[api.Stream]{store: s, schema: streamSchema}
	s.Caches = &Table[api.Cache]{store: s, schema: cacheSchema}

	started := cfg.Clock.Monotonic()
	if err := s.connect(ctx); err != nil {
		return nil, err
	}
	rev, err := s.loadCursors(ctx)
	if err != nil {
		s.disconnect()
		return nil, err
	}
	s.background(rev)
	s.log.Info("store ready", "embedded", s.member != nil, "dur", cfg.Clock.Monotonic()-started)
	return s, nil
}

func (s *Store) connect(ctx context.Context) (err error) {
	if s.cfg.DataDir != "" {
		var client *clientv3.Client
		if s.member, client, err = startMember(ctx, s.cfg.DataDir, s.log); err == nil {
			s.etcd = newDoor(client)
		}
		return err
	}
	client, err := clientv3.New(clientv3.Config{
		Endpoints:            s.cfg.Endpoints,
		TLS:                  s.cfg.TLS,
		DialTimeout:          5 * time.Second,
		DialKeepAliveTime:    5 * time.Second,
		DialKeepAliveTimeout: 5 * time.Second,
		Logger:               newZap(s.log),
	})
	if err != nil {
		return fmt.Errorf("cannot use the etcd endpoints %q: %w", s.cfg.Endpoints, err)
	}
	s.etcd = newDoor(client)
	return nil
}

func (s *Store) disconnect() {
	s.etcd.close()
	if err := s.etcd.client.Close(); err != nil && !errors.Is(err, context.Canceled) {
		s.log.Warn("cannot close the etcd client", "err", err)
	}
	if s.member != nil {
		s.member.close()
	}
}

// background starts the watcher of the cursors, from the revision after rev, and the sweeper of
// half-done deletions.
func (s *Store) background(rev int64) {
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	s.sweeper = newSweeper(s)
	s.run(ctx, "store-watch", func(ctx context.Context) { s.watch(ctx, rev+1) })
	s.run(ctx, "store-sweep", s.sweeper.run)
}

// run starts a background goroutine.
func (s *Store) run(ctx context.Context, role string, f func(context.Context)) {
	done := make(chan struct{})
	s.done = append(s.done, done)
	go func() {
		defer close(done)
		pprof.Do(ctx, pprof.Labels("role", role), f)
	}()
}

// Close ends the background work, and etcd when it is embedded. Calls in flight fail with
// ErrUnavailable, as do later ones. It may be called again.
func (s *Store) Close() {
	s.closing.Do(func() {
		s.cancel()
		for _, done := range s.done {
			<-done
		}
		s.disconnect()
	})
}

// Ping returns nil when the store can answer a linearizable read, which needs a quorum.
func (s *Store) Ping(ctx context.Context) error {
	_, err := s.etcd.get(ctx, s.keys.cursor(tenants), clientv3.WithCountOnly())
	return err
}
