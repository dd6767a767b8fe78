package broker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/felix-go/felix/controlplane/client"
	"github.com/felix-go/felix/dataplane/admin"
	"github.com/felix-go/felix/dataplane/admission"
	"github.com/felix-go/felix/dataplane/arena"
	"github.com/felix-go/felix/dataplane/auth"
	"github.com/felix-go/felix/dataplane/cache"
	"github.com/felix-go/felix/dataplane/catalog"
	"github.com/felix-go/felix/dataplane/cluster"
	"github.com/felix-go/felix/dataplane/fanout"
	"github.com/felix-go/felix/dataplane/ingress"
	"github.com/felix-go/felix/dataplane/route"
	"github.com/felix-go/felix/dataplane/shard"
	"github.com/felix-go/felix/dataplane/stat"
	"github.com/felix-go/felix/dataplane/stream"
	"github.com/felix-go/felix/dataplane/transport"
)

// Broker is one running node of the data plane.
type Broker struct {
	cfg    Config
	log    *slog.Logger
	stats  *stat.Set
	arena  *arena.Arena
	admin  *admin.Server
	listen *transport.Listener
	certs  *transport.Certificates

	keys      *auth.Keys
	catalog   *catalog.Catalog
	sync      *cluster.Sync
	caches    *cache.Store
	scheduler *shard.Scheduler
	places    *ingress.Places
	server    *ingress.Server

	stop    context.CancelFunc // ends the background loops
	loops   sync.WaitGroup     // accept loop and sweep
	ready   *stat.Gauge
	forced  func(subsystem string)
	closing sync.Once
	closed  error
}

// Start brings a broker up in the order of the data path's guide: storage and core, authenticator, admin listener, client
// listener, accept loop, catalog sync. It returns when clients can connect; Ready says when the catalog is complete. ctx
// bounds the start only. A failure in any step undoes the ones before it and names the setting.
func Start(ctx context.Context, cfg Config) (*Broker, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	b := &Broker{cfg: cfg, log: cfg.Logger, stats: stat.NewSet()}
	loops, stop := context.WithCancel(context.Background())
	b.stop = stop
	if err := b.start(ctx, loops); err != nil {
		b.cfg.DrainTimeout = time.Second
		b.Close(context.Background())
		return nil, err
	}
	return b, nil
}

func (b *Broker) start(ctx, loops context.Context) error {
	if err := b.build(); err != nil {
		return err
	}
	api, err := client.New(client.Config{BaseURL: b.cfg.ControlPlaneURL, Token: b.cfg.ControlPlaneToken, CAFile: b.cfg.ControlPlaneCA})
	if err != nil {
		return fmt.Errorf("broker: controlplane_url: %w", err)
	}
	rooms := b.rooms(api)
	if b.cfg.AdminBind != "" {
		if b.admin, err = admin.Start(b.adminConfig()); err != nil {
			return fmt.Errorf("broker: metrics_bind: %w", err)
		}
	}
	if err := b.openListener(); err != nil {
		return err
	}
	b.server = ingress.New(b.cfg.Ingress, rooms, b.places)
	b.catalog.OnTenantRemoved(b.server.EndTenant)
	b.loops.Add(2)
	go func() {
		defer b.loops.Done()
		if err := b.server.Serve(loops, b.listen); err != nil {
			b.log.Error("accept loop ended", "err", err)
		}
	}()
	go func() {
		defer b.loops.Done()
		b.server.Sweep(loops)
	}()
	b.sync = cluster.Start(cluster.Config{API: api, Catalog: b.catalog, Keys: b.keys, Stats: b.stats, Clock: b.cfg.Clock, Logger: b.log})
	b.ready.Set(1)
	b.log.Info("broker is up", "addr", b.listen.Addr().String(), "version", b.cfg.Version)
	return ctx.Err()
}

// build makes what needs no neighbour: memory, core and authenticator.
func (b *Broker) build() error {
	b.ready = b.stats.Gauge("felix_ready_state", "1 while serving, 0 while draining or not up.")
	b.forced = func(subsystem string) {
		b.stats.Counter(`felix_drain_forced_total{subsystem="`+subsystem+`"}`, "Drains that ran out of time, by what was unfinished.").Inc()
	}
	b.arena = arena.New()
	b.stats.GaugeFunc("felix_arena_blocks", "Memory blocks in use.", b.arena.Outstanding)
	b.stats.GaugeFunc("felix_arena_bytes", "Bytes of memory blocks in use.", b.arena.OutstandingBytes)
	cfg := b.cfg.Cache
	cfg.Arena, cfg.Clock, cfg.Stats = b.arena, b.cfg.Clock, b.stats
	if err := cfg.Validate(); err != nil {
		return fmt.Errorf("broker: %w", err)
	}
	b.caches = cache.New(cfg)
	b.caches.Start()
	b.catalog = catalog.New()
	return nil
}

// rooms connects the rooms that a message walks through.
func (b *Broker) rooms(api *client.Client) ingress.Rooms {
	b.keys = auth.NewKeys(auth.KeysConfig{Fetch: api.Keys, Known: b.known, Clock: b.cfg.Clock, Stats: b.stats, Logger: b.log})
	encoder := fanout.NewEncoder(b.stats)
	egress := fanout.NewEgress(b.cfg.EgressBytes)
	b.stats.GaugeFunc("felix_egress_bytes", "Bytes waiting in subscriber queues.", egress.Bytes)
	replay := stream.NewReplayBudget(b.cfg.ReplayBytes)
	b.stats.GaugeFunc("felix_replay_bytes", "Bytes kept in replay rings.", replay.Bytes)
	publishes := admission.NewBudget(b.cfg.PublishBytes, 0)
	b.stats.GaugeFunc("felix_publish_inflight_bytes", "Publish bytes between readers and claims.", publishes.Bytes)

	work := &ingress.Work{Encoder: encoder, Arena: b.arena}
	sc := b.cfg.Scheduler
	sc.Handlers, sc.Drop, sc.Stats, sc.Logger = work.Handlers(), work.Drop, b.stats, b.log
	b.scheduler = shard.New(sc)
	b.scheduler.Start()

	streams := b.cfg.Stream
	streams.Budget, streams.Encoder, streams.Arena = replay, encoder, b.arena
	b.places = ingress.NewPlaces(b.scheduler, streams, b.caches, b.stats)
	b.catalog.OnChange(b.places.Removed)
	return ingress.Rooms{
		Arena:     b.arena,
		Verifier:  auth.NewVerifier(auth.Config{Keys: b.keys, Clock: b.cfg.Clock, Stats: b.stats}),
		Catalog:   b.catalog,
		Router:    route.New(),
		Scheduler: b.scheduler,
		Egress:    egress,
		Delivery:  fanout.NewDelivery(b.stats),
		Budget:    publishes,
		Stats:     b.stats,
		Clock:     b.cfg.Clock,
		Logger:    b.log,
	}
}

// known tells the authenticator which tenants exist, so that strangers cause no key fetch.
func (b *Broker) known(tenant string) (known, seeded bool) {
	return b.catalog.Tenant([]byte(tenant)), b.catalog.Seeded()
}

func (b *Broker) openListener() (err error) {
	if b.cfg.TLSCert != "" {
		b.certs, err = transport.LoadCertificates(b.cfg.TLSCert, b.cfg.TLSKey)
	} else {
		b.log.Warn("serving a generated certificate for localhost; set tls_cert and tls_key in production")
		b.certs, err = transport.SelfSigned(b.cfg.StateDir)
	}
	if err != nil {
		return fmt.Errorf("broker: tls_cert, tls_key or state_dir: %w", err)
	}
	lc := b.cfg.Transport
	if lc.ResetKey, err = transport.LoadResetKey(b.cfg.StateDir); err != nil {
		return fmt.Errorf("broker: state_dir: %w", err)
	}
	lc.Certificates, lc.Stats, lc.Logger = b.certs, b.stats, b.log
	if b.listen, err = transport.Listen(lc); err != nil {
		return fmt.Errorf("broker: quic_bind %q: %w", lc.Addr, err)
	}
	return nil
}

// Addr is the address clients dial, with the port that was bound.
func (b *Broker) Addr() *net.UDPAddr { return b.listen.Addr() }

// AdminAddr is the address of the admin listener, "" without one.
func (b *Broker) AdminAddr() string {
	if b.admin == nil {
		return ""
	}
	return b.admin.Addr().String()
}

// CAFile is a PEM file with what clients may trust: the served certificate.
func (b *Broker) CAFile() string { return b.certs.CAFile() }

// Stats are the broker's numbers.
func (b *Broker) Stats() *stat.Set { return b.stats }

// Arena is the broker's message memory, for leak checks.
func (b *Broker) Arena() *arena.Arena { return b.arena }

// Catalog is the broker's view of the metadata.
func (b *Broker) Catalog() *catalog.Catalog { return b.catalog }

// Ready waits until the catalog is complete: from then on every request is served.
func (b *Broker) Ready(ctx context.Context) error { return b.catalog.WaitSeeded(ctx) }

// DialAddr is an address at which this machine reaches the broker: the bound one, loopback when it is unspecified.
func (b *Broker) DialAddr() string {
	a := b.listen.Addr().AddrPort()
	if a.Addr().IsUnspecified() {
		a = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), a.Port())
	}
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()).String()
}

// Close drains the broker and stops it; see drain. It is safe to call more than once.
func (b *Broker) Close(ctx context.Context) error {
	b.closing.Do(func() { b.closed = b.drain(ctx) })
	return b.closed
}

// ErrForced is returned by Close when the drain budget ran out and work was cut.
var ErrForced = errors.New("broker: drain budget used up; unfinished work was cut")

func (b *Broker) adminConfig() admin.Config {
	return admin.Config{Bind: b.cfg.AdminBind, Token: b.cfg.AdminToken, Stats: b.stats, LogLevel: b.cfg.LogLevel,
		Version: b.cfg.Version, Logger: b.log, Ready: b.unready}
}

// unready says why the broker should get no traffic yet.
func (b *Broker) unready() []string {
	if !b.catalog.Seeded() {
		return []string{"metadata has not been loaded from the control plane"}
	}
	return nil
}
