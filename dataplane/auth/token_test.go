package auth

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"sync/atomic"
	"testing"
	"time"

	"github.com/felix-go/felix/dataplane/stat"
	"github.com/felix-go/felix/internal/clock"
)

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// signer holds a tenant's key. Its tokens are put together by hand, so that they can be wrong in every way.
type signer struct {
	id      string
	private ed25519.PrivateKey
}

func newSigner(id string) *signer {
	_, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		panic(err)
	}
	return &signer{id: id, private: private}
}

func (s *signer) public() ed25519.PublicKey { return s.private.Public().(ed25519.PublicKey) }

type object = map[string]any

func (s *signer) header(change object) object {
	return merge(object{"alg": "EdDSA", "typ": "JWT", "kid": s.id}, change)
}

func goodClaims(change object) object {
	return merge(object{
		"iss": "felix-auth", "aud": "felix-broker", "sub": "alice", "tid": "t1",
		"iat": epoch.Unix(), "exp": epoch.Add(15 * time.Minute).Unix(),
		"perms": []string{"stream.publish:stream:t1/ns/s"},
	}, change)
}

// merge sets the members of change; a nil member is removed.
func merge(base, change object) object {
	for k, v := range change {
		if v == nil {
			delete(base, k)
		} else {
			base[k] = v
		}
	}
	return base
}

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// sign signs whatever the two parts are.
func (s *signer) sign(header, claims string) string {
	text := header + "." + claims
	return text + "." + base64.RawURLEncoding.EncodeToString(ed25519.Sign(s.private, []byte(text)))
}

// token returns a good token with the given claims changed.
func (s *signer) token(change object) string {
	return s.sign(encode(s.header(nil)), encode(goodClaims(change)))
}

// world is a Verifier, its keys, the control plane behind them and the catalog beside them, all in the test's
// hands.
type world struct {
	*Verifier
	keys    *Keys
	clock   *clock.Manual
	stats   *stat.Set
	fetches atomic.Int64
	answer  atomic.Pointer[func(ctx context.Context, tenant string) (map[string]ed25519.PublicKey, error)]
	catalog atomic.Pointer[func(tenant string) (known, seeded bool)]
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{clock: clock.NewManual(epoch), stats: stat.NewSet()}
	w.serve(func(context.Context, string) (map[string]ed25519.PublicKey, error) {
		return nil, context.DeadlineExceeded
	})
	w.know(func(tenant string) (bool, bool) { return tenant == "t1", true })
	w.keys = NewKeys(KeysConfig{
		Fetch: func(ctx context.Context, tenant string) (map[string]ed25519.PublicKey, error) {
			w.fetches.Add(1)
			return (*w.answer.Load())(ctx, tenant)
		},
		Known: func(tenant string) (bool, bool) { return (*w.catalog.Load())(tenant) },
		Clock: w.clock,
		Stats: w.stats,
	})
	t.Cleanup(w.keys.Close)
	w.Verifier = NewVerifier(Config{Keys: w.keys, Clock: w.clock, Stats: w.stats})
	return w
}

func (w *world) serve(f func(ctx context.Context, tenant string) (map[string]ed25519.PublicKey, error)) {
	w.answer.Store(&f)
}

func (w *world) know(f func(tenant string) (known, seeded bool)) { w.catalog.Store(&f) }

// publish makes the control plane answer with the keys of these signers.
func (w *world) publish(signers ...*signer) {
	keys := keysOf(signers...)
	w.serve(func(context.Context, string) (map[string]ed25519.PublicKey, error) { return keys, nil })
}

func keysOf(signers ...*signer) map[string]ed25519.PublicKey {
	keys := make(map[string]ed25519.PublicKey)
	for _, s := range signers {
		keys[s.id] = s.public()
	}
	return keys
}

// login verifies a token for tenant t1 and returns the reason of the refusal, "" when it is accepted.
func (w *world) login(t *testing.T, token string) string {
	t.Helper()
	id, err := w.Verify(t.Context(), []byte("t1"), []byte(token))
	if (id == nil) == (err == nil) {
		t.Fatalf("identity %v with error %v", id, err)
	}
	return Reason(err)
}

func (w *world) wantFetches(t *testing.T, want int64) {
	t.Helper()
	if n := w.fetches.Load(); n != want {
		t.Fatalf("%d fetches, want %d", n, want)
	}
}

// settle waits until no fetch of t1 is in flight.
func (w *world) settle(t *testing.T) {
	t.Helper()
	w.keys.mu.Lock()
	e := w.keys.tenants["t1"]
	if e == nil || !e.fetching {
		w.keys.mu.Unlock()
		return
	}
	done := w.keys.fetchLocked(e)
	w.keys.mu.Unlock()
	<-done
}
