package token

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/felix-go/felix/controlplane/api"
	"github.com/felix-go/felix/dataplane/auth"
	"github.com/felix-go/felix/internal/clock"
)

var now = time.Date(2026, 5, 4, 3, 2, 1, 987654321, time.UTC)

func claims() Claims {
	return Claims{
		Audience:    api.AudienceBroker,
		Subject:     Subject("https://idp.example", "alice"),
		Tenant:      "t",
		IssuedAt:    now,
		ExpiresAt:   now.Add(DefaultTTL),
		Permissions: []string{"stream.publish:stream:t/n/s"},
	}
}

func newKey(t *testing.T) Key {
	t.Helper()
	k, err := NewKey(now)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestSign(t *testing.T) {
	k := newKey(t)
	signed, err := Sign(k.Private, k.ID, claims())
	if err != nil {
		t.Fatal(err)
	}
	parser := jwt.NewParser(jwt.WithValidMethods([]string{"EdDSA"}), jwt.WithTimeFunc(func() time.Time { return now }))
	parsed, err := parser.Parse(signed, func(*jwt.Token) (any, error) { return k.Public(), nil })
	if err != nil {
		t.Fatal(err)
	}
	header := fmt.Sprint(parsed.Header)
	if header != fmt.Sprintf("map[alg:EdDSA kid:%s typ:JWT]", k.ID) {
		t.Errorf("header %s", header)
	}
	got := fmt.Sprint(parsed.Claims)
	want := "map[aud:felix-broker exp:1.777864621e+09 iat:1.777863721e+09 iss:felix-auth" +
		" perms:[stream.publish:stream:t/n/s] sub:" + Subject("https://idp.example", "alice") + " tid:t]"
	if got != want {
		t.Errorf("claims %s\nwant   %s", got, want)
	}
}

// Brokers take what Sign makes: the two sides agree on every claim and on the header.
func TestBrokerVerifies(t *testing.T) {
	k := newKey(t)
	signed, err := Sign(k.Private, k.ID, claims())
	if err != nil {
		t.Fatal(err)
	}
	keys := auth.NewKeys(auth.KeysConfig{})
	defer keys.Close()
	if err := keys.Set("t", map[string]ed25519.PublicKey{k.ID: k.Public()}); err != nil {
		t.Fatal(err)
	}
	v := auth.NewVerifier(auth.Config{Keys: keys, Clock: clock.NewManual(now)})
	id, err := v.Verify(t.Context(), []byte("t"), []byte(signed))
	if err != nil {
		t.Fatalf("refused: %s", auth.Reason(err))
	}
	if id.Tenant != "t" || id.Subject != claims().Subject || id.KeyID != k.ID ||
		id.Expires.Unix() != claims().ExpiresAt.Unix() ||
		!id.Matcher.AllowStream(auth.StreamPublish, []byte("n"), []byte("s")) {
		t.Fatalf("identity %+v", id)
	}
}

func TestSignRefusals(t *testing.T) {
	k := newKey(t)
	for name, spoil := range map[string]func(*Claims){
		"audience":       func(c *Claims) { c.Audience = "felix" },
		"no audience":    func(c *Claims) { c.Audience = "" },
		"no subject":     func(c *Claims) { c.Subject = "" },
		"no tenant":      func(c *Claims) { c.Tenant = "" },
		"no permissions": func(c *Claims) { c.Permissions = nil },
		"no life":        func(c *Claims) { c.ExpiresAt = c.IssuedAt },
		"backwards":      func(c *Claims) { c.ExpiresAt = c.IssuedAt.Add(-time.Hour) },
		"too long":       func(c *Claims) { c.ExpiresAt = c.IssuedAt.Add(MaxTTL + time.Second) },
		"too large":      func(c *Claims) { c.Permissions = []string{strings.Repeat("x", MaxTokenBytes)} },
	} {
		c := claims()
		spoil(&c)
		if _, err := Sign(k.Private, k.ID, c); !errors.Is(err, ErrClaims) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Sign(k.Private, "", claims()); !errors.Is(err, ErrKey) {
		t.Errorf("no key id: %v", err)
	}
	if _, err := Sign(k.Private[:5], k.ID, claims()); !errors.Is(err, ErrKey) {
		t.Errorf("short key: %v", err)
	}
}

func TestSubject(t *testing.T) {
	// printf 'iss|sub' | sha256sum
	if got := Subject("iss", "sub"); got != "9c5b08f7bfce39746aee22ec2c1c310a6c78fa8ccfb5a08dd4ebbe5b969c3df9" {
		t.Errorf("subject %s", got)
	}
}

func TestKey(t *testing.T) {
	k := newKey(t)
	same, err := ParseKey(k.Private.Seed(), true, now)
	if err != nil || same.ID != k.ID || !same.Private.Equal(k.Private) || !same.Current || !same.CreatedAt.Equal(now) {
		t.Fatalf("key read back %v, %v", same, err)
	}
	if newKey(t).ID == k.ID {
		t.Error("two keys share an id")
	}
	if _, err := ParseKey(make([]byte, 31), true, now); !errors.Is(err, ErrKey) {
		t.Errorf("short seed: %v", err)
	}
	x, err := base64.RawURLEncoding.DecodeString(k.JWK().X)
	if err != nil || !k.Public().Equal(ed25519.PublicKey(x)) {
		t.Errorf("public key %x, %v", x, err)
	}
}

// However a key is printed, its secret stays inside.
func TestKeyHidesItsSecret(t *testing.T) {
	k := newKey(t)
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "key", k)
	all := fmt.Sprintf("%v %+v %#v %s", k, k, k, k) + log.String()
	for _, secret := range []string{
		fmt.Sprintf("%x", k.Private.Seed()), fmt.Sprint([]byte(k.Private.Seed())),
		base64.StdEncoding.EncodeToString(k.Private), fmt.Sprint([]byte(k.Private)),
	} {
		if strings.Contains(all, secret) {
			t.Fatalf("secret in %s", all)
		}
	}
	if !strings.Contains(log.String(), k.ID) {
		t.Errorf("no key id in %s", log.String())
	}
}
