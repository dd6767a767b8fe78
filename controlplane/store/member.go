package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3client"
)

// Timing of the embedded member. It has nobody to lose an election to, so short ticks only make it
// start sooner: with etcd's defaults it spends 0.2-0.3 s waiting for its own vote.
const (
	memberTickMillis     = 10
	memberElectionMillis = 100
)

// compactionRetention is how much key history the member keeps. Only a snapshot that is being read
// needs any, and it takes seconds.
const compactionRetention = "5m"

// member is an embedded single etcd member.
//
// It has no listeners at all: the client is a set of function calls into the server, so no port and no
// socket gives another local user the signing keys, and nothing has to be picked, remembered or
// cleaned up over restarts. Its peer address is a name that nobody dials.
//
// Every write is synced to disk before it is acknowledged, which makes kill -9 harmless: the write-ahead
// log is replayed on the next start.
type member struct {
	lock *os.File
	etcd *embed.Etcd
}

// startMember starts the member and waits until it leads itself.
func startMember(
	ctx context.Context, dir string, log *slog.Logger,
) (m *member, c *clientv3.Client, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, fmt.Errorf("cannot create the data directory: %w", err)
	}
	m = &member{}
	if m.lock, err = lockFile(filepath.Join(dir, "etcd.lock")); err != nil {
		return nil, nil, err
	}
	if err = m.start(filepath.Join(dir, "etcd"), log); err == nil {
		err = m.waitReady(ctx)
	}
	if err != nil {
		m.close()
		return nil, nil, fmt.Errorf("cannot start the embedded etcd member in %q: %w", dir, err)
	}
	return m, v3client.New(m.etcd.Server), nil
}

func (m *member) start(dir string, log *slog.Logger) (err error) {
	// etcd reports an unreadable write-ahead log by a panic.
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: etcd cannot use its files: %v", ErrCorrupt, p)
		}
	}()
	peer := url.URL{Scheme: "http", Host: "localhost:2380"}
	cfg := embed.NewConfig()
	cfg.Name = "felix"
	cfg.Dir = dir
	cfg.ListenPeerUrls, cfg.ListenClientUrls = nil, nil
	cfg.AdvertisePeerUrls, cfg.AdvertiseClientUrls = []url.URL{peer}, []url.URL{peer}
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	cfg.TickMs, cfg.ElectionMs = memberTickMillis, memberElectionMillis
	cfg.AutoCompactionMode = embed.CompactorModePeriodic
	cfg.AutoCompactionRetention = compactionRetention
	cfg.EnableGRPCGateway = false
	cfg.LogLevel = "warn"
	cfg.ZapLoggerBuilder = embed.NewZapLoggerBuilder(newZap(log))
	m.etcd, err = embed.StartEtcd(cfg)
	return err
}

func (m *member) waitReady(ctx context.Context) error {
	select {
	case <-m.etcd.Server.ReadyNotify():
		return nil
	case <-m.etcd.Server.StopNotify():
		return errors.New("it stopped by itself")
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (m *member) close() {
	if m.etcd != nil {
		m.etcd.Close()
	}
	m.lock.Close()
}
