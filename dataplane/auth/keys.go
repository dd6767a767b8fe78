package auth

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"fmt"
	"log/slog"
	"maps"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/felix-go/felix/dataplane/stat"
	"github.com/felix-go/felix/internal/clock"
)

// The bounds of control plane P33.
const (
	defaultKeyTTL   = time.Hour
	fetchLimit      = 5 * time.Second  // from the decision to fetch to the answer
	maxFetches      = 8                // in flight, over all tenants
	failureMemory   = 5 * time.Second  // no new fetch for the tenant
	unknownKeyPause = 30 * time.Second // between fetches that unknown key ids cause, per tenant
	maxUnproven     = 1024             // tenants remembered that no catalog has confirmed
)

// KeyFetch fetches every published key of a tenant by key id. It must end soon after ctx does.
type KeyFetch func(ctx context.Context, tenant string) (map[string]ed25519.PublicKey, error)

// KeysConfig is how Keys finds keys. Zero values take the defaults named beside them.
type KeysConfig struct {
	// Fetch asks the control plane. Nil: keys come from Set only.
	Fetch KeyFetch
	// TTL is how long a key set is used before it is fetched again (default 1 h). It bounds how long a key
	// that was retired goes on verifying.
	TTL time.Duration
	// Known says whether the catalog has the tenant, and whether the catalog is complete. It is called for
	// every token and must not block. Nil: every tenant is known.
	Known func(tenant string) (known, seeded bool)
	// Clock times fetches (default the real one).
	Clock clock.Clock
	// Stats receives the counters (default a set of its own).
	Stats *stat.Set
	// Logger hears of failed fetches, for one tenant at most every 5 s (default none).
	Logger *slog.Logger
}

// Keys holds the published keys of the tenants that log in (control plane P33).
//
// The control plane must not hear of strangers: a token is free to make, so what a token can cause is bounded
// here.
//
//	unknown tenant              refused, no fetch, once the catalog is complete
//	known tenant, no keys       one fetch, which every caller waits for
//	keys older than the TTL     they go on verifying; one fetch behind the callers' backs
//	key id not in the set       one fetch at most every 30 s for the tenant; who comes during it waits for it
//	failed fetch                remembered 5 s; the keys at hand stay valid
//
// and over all tenants at most 8 fetches are in flight, each ended after 5 s. A fetch belongs to Keys and not
// to the caller that caused it, so a caller that gives up takes nothing from the others; Close ends the
// fetches.
//
// A set that was fetched again and is the same stays the same pointer. That pointer is the tenant's state as
// the Verifier remembers it: a changed set, or a forgotten tenant, voids every token that was verified
// before.
type Keys struct {
	cfg   KeysConfig
	ctx   context.Context // ends with Close
	stop  context.CancelFunc
	slots chan struct{} // one element per fetch in flight

	flights singleflight.Group
	running sync.WaitGroup

	fetched, failed *stat.Counter
	inFlight        *stat.Gauge

	mu      sync.Mutex // guards the following and every tenantKeys
	closed  bool
	last    uint64
	tenants map[string]*tenantKeys
}

// tenantKeys is what is known about one life of one tenant. Times are on the monotonic clock.
type tenantKeys struct {
	name   string
	flight string // key of the singleflight group; unique, so that a re-created tenant joins no older fetch
	proven bool   // the catalog has confirmed the tenant

	set     *keySet       // nil until the first fetch succeeds
	stale   time.Duration // the set is fetched again from then on
	quiet   time.Duration // after a failure, no fetch before
	patient time.Duration // no fetch for an unknown key id before

	fetching bool // a flight is in the group
	gone     bool // forgotten; who waits for the fetch is refused
}

// keySet is one published set. It is immutable.
type keySet struct{ byID map[string]ed25519.PublicKey }

// NewKeys returns an empty Keys. It starts nothing, but fetches run in goroutines of their own from the first
// lookup on, so it must be closed.
func NewKeys(cfg KeysConfig) *Keys {
	if cfg.TTL <= 0 {
		cfg.TTL = defaultKeyTTL
	}
	if cfg.Clock == nil {
		cfg.Clock = clock.Real()
	}
	if cfg.Known == nil {
		cfg.Known = func(string) (bool, bool) { return true, true }
	}
	if cfg.Stats == nil {
		cfg.Stats = stat.NewSet()
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	fetches := func(result string) *stat.Counter {
		return cfg.Stats.Counter(stat.Label("felix_auth_key_fetches_total", "result", result), "Key set fetches.")
	}
	k := &Keys{
		cfg:      cfg,
		slots:    make(chan struct{}, maxFetches),
		tenants:  make(map[string]*tenantKeys),
		fetched:  fetches("ok"),
		failed:   fetches("failed"),
		inFlight: cfg.Stats.Gauge("felix_auth_key_fetches_in_flight", "Key set fetches in flight."),
	}
	k.ctx, k.stop = context.WithCancel(context.Background())
	return k
}

// Set replaces the keys of a tenant, as a successful fetch does.
func (k *Keys) Set(tenant string, keys map[string]ed25519.PublicKey) error {
	set, err := newKeySet(keys)
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	e := k.tenants[tenant]
	if e == nil {
		e = k.insertLocked(tenant)
	}
	e.proven = true
	k.replaceLocked(e, set)
	return nil
}

// Forget drops a tenant: its tokens are void at once, and a fetch in flight is ignored. A tenant that is made
// again under the same name starts with a fetch.
func (k *Keys) Forget(tenant string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if e := k.tenants[tenant]; e != nil {
		e.gone = true
		delete(k.tenants, tenant)
	}
}

// Close ends the fetches in flight and waits for them. Lookups go on with the keys at hand.
func (k *Keys) Close() {
	k.mu.Lock()
	k.closed = true
	k.mu.Unlock()
	k.stop()
	k.running.Wait()
}

// state is the answer of a lookup.
type state struct {
	set   *keySet
	fresh bool // the set arrived while the caller waited for it
}

// current returns the keys of a tenant. It waits only when there are none yet.
func (k *Keys) current(ctx context.Context, tenant string) (state, *refusal) {
	if !ValidName(tenant) {
		return state{}, refusedUnknown // no tenant can have this name
	}
	known, seeded := k.cfg.Known(tenant)
	if seeded && !known {
		k.Forget(tenant)
		return state{}, refusedUnknown
	}
	now := k.cfg.Clock.Monotonic()
	k.mu.Lock()
	e := k.tenants[tenant]
	if e == nil {
		if !known && k.unprovenLocked() >= maxUnproven {
			k.mu.Unlock()
			return state{}, refusedNoKeys
		}
		e = k.insertLocked(tenant)
	}
	e.proven = e.proven || known
	if set := e.set; set != nil {
		if now >= e.stale && now >= e.quiet {
			k.fetchLocked(e)
		}
		k.mu.Unlock()
		return state{set: set}, nil
	}
	if now < e.quiet {
		k.mu.Unlock()
		return state{}, refusedNoKeys
	}
	done := k.fetchLocked(e)
	k.mu.Unlock()
	set, r := k.await(ctx, e, done)
	return state{set: set, fresh: true}, r
}

// find returns the key of a tenant with this id, and the set it is in.
func (k *Keys) find(ctx context.Context, tenant, id string) (ed25519.PublicKey, *keySet, *refusal) {
	now, r := k.current(ctx, tenant)
	if r != nil {
		return nil, nil, r
	}
	key := now.set.byID[id]
	if key == nil && !now.fresh {
		now.set, r = k.again(ctx, tenant)
		if r != nil {
			return nil, nil, r
		}
		key = now.set.byID[id]
	}
	if key == nil {
		return nil, nil, refusedUnknownKey
	}
	return key, now.set, nil
}

// again fetches the keys of a tenant because of a key id that is not among them, unless that happened less
// than 30 s ago. A fetch in flight, whatever caused it, is shared.
func (k *Keys) again(ctx context.Context, tenant string) (*keySet, *refusal) {
	now := k.cfg.Clock.Monotonic()
	k.mu.Lock()
	e := k.tenants[tenant]
	if e == nil || e.set == nil {
		k.mu.Unlock()
		return nil, refusedUnknown
	}
	if !e.fetching {
		if now < e.patient || now < e.quiet {
			set := e.set
			k.mu.Unlock()
			return set, nil
		}
		e.patient = now + unknownKeyPause
	}
	done := k.fetchLocked(e)
	k.mu.Unlock()
	return k.await(ctx, e, done)
}

// await waits for a flight and returns what the tenant has then.
func (k *Keys) await(
	ctx context.Context, e *tenantKeys, done <-chan singleflight.Result,
) (*keySet, *refusal) {
	if done != nil {
		select {
		case <-done:
		case <-ctx.Done():
			return nil, refusedCancelled
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case e.gone:
		return nil, refusedUnknown
	case e.set == nil:
		return nil, refusedNoKeys
	}
	return e.set, nil
}

// fetchLocked starts a fetch, or joins the one in flight. Flights enter and leave the group under mu, so
// e.fetching and the group agree. It returns nil when there is nobody to ask.
func (k *Keys) fetchLocked(e *tenantKeys) <-chan singleflight.Result {
	if k.cfg.Fetch == nil || k.closed {
		return nil
	}
	if !e.fetching {
		e.fetching = true
		k.running.Add(1)
	}
	return k.flights.DoChan(e.flight, func() (any, error) {
		defer k.running.Done()
		k.fetch(e)
		return nil, nil
	})
}

// fetch asks the control plane and stores the answer.
func (k *Keys) fetch(e *tenantKeys) {
	ctx, cancel := context.WithCancel(k.ctx)
	defer cancel()
	limit := k.cfg.Clock.AfterFunc(fetchLimit, cancel)
	defer limit.Stop()
	set, err := k.ask(ctx, e.name)
	if err != nil && k.ctx.Err() == nil {
		k.cfg.Logger.Warn("cannot fetch the signing keys of a tenant; keys at hand stay valid",
			"tenant", e.name, "err", err)
	}

	k.mu.Lock()
	defer k.mu.Unlock()
	e.fetching = false
	k.flights.Forget(e.flight)
	if err != nil {
		e.quiet = k.cfg.Clock.Monotonic() + failureMemory
		return
	}
	k.replaceLocked(e, set) // into a forgotten tenant too: nobody looks there any more
}

func (k *Keys) ask(ctx context.Context, tenant string) (*keySet, error) {
	select {
	case k.slots <- struct{}{}:
	case <-ctx.Done():
		k.failed.Inc()
		return nil, ctx.Err()
	}
	k.inFlight.Add(1)
	keys, err := k.cfg.Fetch(ctx, tenant)
	k.inFlight.Add(-1)
	<-k.slots
	var set *keySet
	if err == nil {
		set, err = newKeySet(keys)
	}
	if err != nil {
		k.failed.Inc()
		return nil, err
	}
	k.fetched.Inc()
	return set, nil
}

func (k *Keys) insertLocked(tenant string) *tenantKeys {
	k.last++
	e := &tenantKeys{name: tenant, flight: strconv.FormatUint(k.last, 10)}
	k.tenants[tenant] = e
	return e
}

func (k *Keys) replaceLocked(e *tenantKeys, set *keySet) {
	e.stale = k.cfg.Clock.Monotonic() + k.cfg.TTL
	e.quiet = 0
	if e.set == nil || !e.set.equal(set) {
		e.set = set
	}
}

// unprovenLocked counts the tenants that no catalog has confirmed. They exist only until the catalog is
// complete, so the walk is short-lived and bounded.
func (k *Keys) unprovenLocked() int {
	n := 0
	for _, e := range k.tenants {
		if !e.proven {
			n++
		}
	}
	return n
}

func newKeySet(keys map[string]ed25519.PublicKey) (*keySet, error) {
	byID := make(map[string]ed25519.PublicKey, len(keys))
	for id, key := range keys {
		if id == "" || len(key) != ed25519.PublicKeySize {
			return nil, fmt.Errorf("%w: id %.64q, %d bytes", ErrBadKey, id, len(key))
		}
		byID[id] = bytes.Clone(key)
	}
	return &keySet{byID: byID}, nil
}

func (s *keySet) equal(o *keySet) bool {
	return maps.EqualFunc(s.byID, o.byID, func(a, b ed25519.PublicKey) bool { return bytes.Equal(a, b) })
}
