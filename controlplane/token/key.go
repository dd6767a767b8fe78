package token

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"log/slog"
	"time"

	"github.com/felix-go/felix/controlplane/api"
)

// Key is one signing key of a tenant. Every published key verifies; the current one signs (rule P32).
type Key struct {
	ID        string
	Private   ed25519.PrivateKey
	Current   bool
	CreatedAt time.Time
}

// NewKey makes a fresh current key. Its id is derived from the public key, so two keys never share one.
func NewKey(now time.Time) (Key, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return Key{}, fmt.Errorf("cannot generate a signing key: %w", err)
	}
	return keyOf(private, true, now), nil
}

// ParseKey rebuilds a key from its 32-byte seed.
func ParseKey(seed []byte, current bool, createdAt time.Time) (Key, error) {
	if len(seed) != ed25519.SeedSize {
		return Key{}, fmt.Errorf("%w: seed of %d bytes, want %d", ErrKey, len(seed), ed25519.SeedSize)
	}
	return keyOf(ed25519.NewKeyFromSeed(seed), current, createdAt), nil
}

func keyOf(private ed25519.PrivateKey, current bool, createdAt time.Time) Key {
	sum := sha256.Sum256(private.Public().(ed25519.PublicKey))
	return Key{ID: hex.EncodeToString(sum[:8]), Private: private, Current: current, CreatedAt: createdAt}
}

// Public returns the verifying half.
func (k Key) Public() ed25519.PublicKey { return k.Private.Public().(ed25519.PublicKey) }

// JWK returns the verifying half as a member of a JWKS.
func (k Key) JWK() api.JWK {
	return api.JWK{
		KeyType:   "OKP",
		Curve:     "Ed25519",
		Algorithm: "EdDSA",
		Use:       "sig",
		KeyID:     k.ID,
		X:         base64.RawURLEncoding.EncodeToString(k.Public()),
	}
}

// String names the key without its secret.
func (k Key) String() string { return "key " + k.ID }

// GoString names the key without its secret.
func (k Key) GoString() string { return k.String() }

// LogValue names the key without its secret.
func (k Key) LogValue() slog.Value { return slog.StringValue(k.ID) }
