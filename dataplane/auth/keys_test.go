package auth

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

var errDown = errors.New("control plane is down")

// gate is a control plane whose answers the test lets out one by one.
type gate struct {
	asked  chan string // tenant of each request
	answer chan error
}

func (w *world) gate(keys map[string]ed25519.PublicKey) gate {
	g := gate{asked: make(chan string, 2000), answer: make(chan error)}
	w.serve(func(ctx context.Context, tenant string) (map[string]ed25519.PublicKey, error) {
		g.asked <- tenant
		select {
		case err := <-g.answer:
			return keys, err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	})
	return g
}

// logins starts n logins with the same token and returns their reasons.
func (w *world) logins(t *testing.T, n int, token string) <-chan string {
	reasons := make(chan string, n)
	for range n {
		go func() { reasons <- w.login(t, token) }()
	}
	return reasons
}

func TestFirstFetchIsShared(t *testing.T) {
	w, key := newWorld(t), newSigner("k1")
	g := w.gate(keysOf(key))
	reasons := w.logins(t, 100, key.token(nil))
	<-g.asked
	g.answer <- nil
	for range 100 {
		if r := <-reasons; r != "" {
			t.Fatal(r)
		}
	}
	w.wantFetches(t, 1)
}

// TestFetchesInFlight starts logins of 100 tenants against a control plane that does not answer.
func TestFetchesInFlight(t *testing.T) {
	w, key := newWorld(t), newSigner("k1")
	w.know(func(string) (bool, bool) { return true, true })
	g := w.gate(keysOf(key))
	reasons := make(chan string, 100)
	for i := range 100 {
		tenant := fmt.Sprintf("t%d", i)
		token := key.token(object{"tid": tenant, "perms": nil})
		go func() {
			_, err := w.Verify(t.Context(), []byte(tenant), []byte(token))
			reasons <- Reason(err)
		}()
	}
	for answered := range 100 {
		<-g.asked
		// Everything asked and not answered is in flight; the test itself lets one go at a time.
		if n := w.fetches.Load() - int64(answered); n > maxFetches {
			t.Fatalf("%d fetches in flight", n)
		}
		g.answer <- nil
	}
	for range 100 {
		if r := <-reasons; r != "" {
			t.Fatal(r)
		}
	}
	if n := w.stats.Snapshot()["felix_auth_key_fetches_in_flight"]; n != 0 {
		t.Fatalf("%d fetches in flight at the end", n)
	}
}

// TestUnknownTenants is the case of 1000 connections that name tenants the catalog does not have.
func TestUnknownTenants(t *testing.T) {
	w, key := newWorld(t), newSigner("k1")
	w.publish(key)
	for i := range 1000 {
		tenant := fmt.Sprintf("x%d", i)
		token := []byte(key.token(object{"tid": tenant}))
		if _, err := w.Verify(t.Context(), []byte(tenant), token); Reason(err) != "unknown_tenant" {
			t.Fatal(Reason(err))
		}
	}
	w.wantFetches(t, 0)
	if n := len(w.keys.tenants); n != 0 {
		t.Fatalf("%d strangers are remembered", n)
	}
}

// TestBeforeTheCatalogIsComplete bounds what strangers cost while nobody can tell them from tenants.
func TestBeforeTheCatalogIsComplete(t *testing.T) {
	w, key := newWorld(t), newSigner("k1")
	w.serve(func(context.Context, string) (map[string]ed25519.PublicKey, error) { return nil, errDown })
	w.know(func(string) (bool, bool) { return false, false })
	for i := range 2 * maxUnproven {
		tenant := fmt.Sprintf("x%d", i)
		token := []byte(key.token(object{"tid": tenant}))
		if _, err := w.Verify(t.Context(), []byte(tenant), token); Reason(err) != "keys_unavailable" {
			t.Fatal(Reason(err))
		}
	}
	w.wantFetches(t, maxUnproven)
	if n := len(w.keys.tenants); n != maxUnproven {
		t.Fatalf("%d strangers are remembered", n)
	}
	// A tenant that the catalog has is served all the same.
	w.publish(key)
	w.know(func(tenant string) (bool, bool) { return tenant == "t1", false })
	if r := w.login(t, key.token(nil)); r != "" {
		t.Fatal(r)
	}
}

func TestFailureIsRemembered(t *testing.T) {
	w, key := newWorld(t), newSigner("k1")
	w.serve(func(context.Context, string) (map[string]ed25519.PublicKey, error) { return nil, errDown })
	for range 10 {
		if r := w.login(t, key.token(nil)); r != "keys_unavailable" {
			t.Fatal(r)
		}
	}
	w.wantFetches(t, 1)
	w.publish(key)
	w.clock.Advance(failureMemory - 1)
	if r := w.login(t, key.token(nil)); r != "keys_unavailable" {
		t.Fatalf("%q within 5 s of a failure", r)
	}
	w.clock.Advance(1)
	if r := w.login(t, key.token(nil)); r != "" {
		t.Fatal(r)
	}
	w.wantFetches(t, 2)
}

// TestMalformedKeySet checks that an answer with a key of a wrong size is a failure and replaces nothing.
func TestMalformedKeySet(t *testing.T) {
	w, key := newWorld(t), newSigner("k1")
	w.publish(key)
	if r := w.login(t, key.token(nil)); r != "" {
		t.Fatal(r)
	}
	w.serve(func(context.Context, string) (map[string]ed25519.PublicKey, error) {
		return map[string]ed25519.PublicKey{"k1": key.public()[:31]}, nil
	})
	w.clock.StepWall(-time.Hour) // keeps the token young
	w.clock.Advance(time.Hour)
	for range 2 {
		if r := w.login(t, key.token(nil)); r != "" {
			t.Fatal(r)
		}
		w.settle(t)
	}
	if n := w.stats.Snapshot()[`felix_auth_key_fetches_total{result="failed"}`]; n != 1 {
		t.Fatalf("%d failed fetches, want 1", n)
	}
	for _, bad := range []map[string]ed25519.PublicKey{{"": key.public()}, {"k1": nil}} {
		if err := w.keys.Set("t1", bad); !errors.Is(err, ErrBadKey) {
			t.Fatalf("Set(%v) is %v", bad, err)
		}
	}
}

// TestStaleKeys checks that keys older than the TTL verify while the control plane does not answer, and that
// nobody waits.
func TestStaleKeys(t *testing.T) {
	w, first, second := newWorld(t), newSigner("k1"), newSigner("k2")
	w.publish(first)
	if r := w.login(t, first.token(nil)); r != "" {
		t.Fatal(r)
	}
	g := w.gate(keysOf(second))
	advance := func(d time.Duration) {
		w.clock.StepWall(-d) // the token stays young
		w.clock.Advance(d)
	}
	advance(defaultKeyTTL)
	for range 20 {
		if r := w.login(t, first.token(nil)); r != "" {
			t.Fatalf("stale keys: %q", r)
		}
	}
	<-g.asked
	w.wantFetches(t, 2)
	g.answer <- errDown
	w.settle(t)
	if r := w.login(t, first.token(nil)); r != "" {
		t.Fatalf("after a failed refresh: %q", r)
	}
	w.wantFetches(t, 2)

	advance(failureMemory)
	if r := w.login(t, first.token(nil)); r != "" {
		t.Fatalf("during the second refresh: %q", r)
	}
	<-g.asked
	g.answer <- nil
	w.settle(t)
	w.publish(second)
	if r := w.login(t, first.token(nil)); r != "unknown_key" {
		t.Fatalf("after the refresh dropped the key: %q", r)
	}
}

// TestUnknownKeyIDs sends forged key ids, before and after the tenant rotates its key.
func TestUnknownKeyIDs(t *testing.T) {
	w, first, second := newWorld(t), newSigner("k1"), newSigner("k2")
	w.publish(first)
	forged := func(i int) string { return newSigner(fmt.Sprintf("forged-%d", i)).token(nil) }
	if r := w.login(t, forged(0)); r != "unknown_key" {
		t.Fatal(r)
	}
	w.wantFetches(t, 1) // the keys have only just come
	for i := range 50 {
		if r := w.login(t, forged(i)); r != "unknown_key" {
			t.Fatal(r)
		}
	}
	w.wantFetches(t, 2)
	w.publish(first, second)
	w.clock.Advance(unknownKeyPause - 1)
	if r := w.login(t, second.token(nil)); r != "unknown_key" {
		t.Fatal(r)
	}
	w.clock.Advance(1)
	if r := w.login(t, second.token(nil)); r != "" {
		t.Fatal(r)
	}
	if r := w.login(t, first.token(nil)); r != "" {
		t.Fatalf("the older key, still published: %q", r)
	}
	w.wantFetches(t, 3)
}

// TestUnknownKeyIDsShareAFetch checks that callers who come while a fetch is in flight wait for its answer.
func TestUnknownKeyIDsShareAFetch(t *testing.T) {
	w, first, second := newWorld(t), newSigner("k1"), newSigner("k2")
	w.publish(first)
	if r := w.login(t, first.token(nil)); r != "" {
		t.Fatal(r)
	}
	g := w.gate(keysOf(first, second))
	early := w.logins(t, 1, second.token(nil))
	<-g.asked
	late := w.logins(t, 50, second.token(nil))
	if r := w.login(t, first.token(nil)); r != "" {
		t.Fatalf("a known key id waits or is refused: %q", r)
	}
	g.answer <- nil
	if r := <-early; r != "" {
		t.Fatal(r)
	}
	for range 50 {
		if r := <-late; r != "" {
			t.Fatal(r)
		}
	}
	w.wantFetches(t, 2)
}

// TestRotation rotates a tenant's key while 500 clients reconnect with old tokens, new tokens and forged key
// ids.
func TestRotation(t *testing.T) {
	w, old, young := newWorld(t), newSigner("k1"), newSigner("k2")
	w.publish(old)
	good := func(s *signer) {
		t.Helper()
		reasons := w.logins(t, 250, s.token(nil))
		for i := range 250 {
			w.login(t, newSigner("forged").token(object{"sub": fmt.Sprint(i)}))
			if r := <-reasons; r != "" {
				t.Fatalf("a good token of %s: %q", s.id, r)
			}
		}
	}
	good(old)
	w.publish(old, young) // staged: published, not signing
	w.clock.Advance(unknownKeyPause)
	good(old)
	good(young) // active
	w.clock.Advance(unknownKeyPause)
	good(old)
	w.publish(young) // retired
	w.clock.Advance(unknownKeyPause)
	w.login(t, newSigner("forged").token(nil))
	w.settle(t)
	good(young)
	if r := w.login(t, old.token(nil)); r != "unknown_key" {
		t.Fatalf("token of a retired key: %q", r)
	}
	w.wantFetches(t, 5) // the first, and one in each of four periods of 30 s
}

func TestFetchLimit(t *testing.T) {
	w, key := newWorld(t), newSigner("k1")
	g := w.gate(keysOf(key))
	reasons := w.logins(t, 1, key.token(nil))
	<-g.asked
	w.clock.Advance(fetchLimit)
	if r := <-reasons; r != "keys_unavailable" {
		t.Fatal(r)
	}
}

// TestCallerGivesUp checks that one caller's deadline takes nothing from the others.
func TestCallerGivesUp(t *testing.T) {
	w, key := newWorld(t), newSigner("k1")
	g := w.gate(keysOf(key))
	ctx, cancel := context.WithCancel(t.Context())
	impatient := make(chan string)
	go func() {
		_, err := w.Verify(ctx, []byte("t1"), []byte(key.token(nil)))
		impatient <- Reason(err)
	}()
	<-g.asked
	patient := w.logins(t, 1, key.token(nil))
	cancel()
	if r := <-impatient; r != "cancelled" {
		t.Fatal(r)
	}
	g.answer <- nil
	if r := <-patient; r != "" {
		t.Fatal(r)
	}
	w.wantFetches(t, 1)
}

// TestForgetDuringAFetch deletes the tenant while its keys are on their way, and makes it again.
func TestForgetDuringAFetch(t *testing.T) {
	w, old, young := newWorld(t), newSigner("k1"), newSigner("k2")
	g := w.gate(keysOf(old))
	before := w.logins(t, 1, old.token(nil))
	<-g.asked
	w.keys.Forget("t1")
	after := w.gate(keysOf(young))
	again := w.logins(t, 1, young.token(nil))
	<-after.asked
	g.answer <- nil // the answer about the earlier life comes last but one
	if r := <-before; r != "unknown_tenant" {
		t.Fatalf("a token of the deleted tenant: %q", r)
	}
	after.answer <- nil
	if r := <-again; r != "" {
		t.Fatal(r)
	}
	w.publish(young)
	if r := w.login(t, old.token(nil)); r != "unknown_key" {
		t.Fatalf("keys of the earlier life verify: %q", r)
	}
}

// TestCloseEndsFetches closes with fetches in flight and waiting for a slot; the leak check in TestMain does
// the rest.
func TestCloseEndsFetches(t *testing.T) {
	w, key := newWorld(t), newSigner("k1")
	w.know(func(string) (bool, bool) { return true, true })
	g := w.gate(keysOf(key))
	var logins sync.WaitGroup
	for i := range 2 * maxFetches {
		tenant := fmt.Sprintf("t%d", i)
		token := []byte(key.token(object{"tid": tenant, "perms": nil}))
		logins.Go(func() {
			if _, err := w.Verify(t.Context(), []byte(tenant), token); Reason(err) != "keys_unavailable" {
				t.Error(Reason(err))
			}
		})
	}
	for range maxFetches {
		<-g.asked
	}
	w.keys.Close()
	logins.Wait()
	if r := w.login(t, key.token(nil)); r != "keys_unavailable" {
		t.Fatalf("after Close: %q", r)
	}
}

// TestKeysWithoutControlPlane uses Set alone.
func TestKeysWithoutControlPlane(t *testing.T) {
	w, key := newWorld(t), newSigner("k1")
	keys := NewKeys(KeysConfig{Clock: w.clock})
	defer keys.Close()
	v := NewVerifier(Config{Keys: keys, Clock: w.clock})
	verify := func() string {
		_, err := v.Verify(t.Context(), []byte("t1"), []byte(key.token(nil)))
		return Reason(err)
	}
	if r := verify(); r != "keys_unavailable" {
		t.Fatal(r)
	}
	if err := keys.Set("t1", keysOf(key)); err != nil {
		t.Fatal(err)
	}
	if r := verify(); r != "" {
		t.Fatal(r)
	}
	if strings.Contains(fmt.Sprint(ErrRefused), "k1") {
		t.Fatal("the error names a key")
	}
}
