package token

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/felix-go/felix/controlplane/api"
)

// Issuer is the iss claim of every token of ours (rule P27).
const Issuer = "felix-auth"

// Bounds of a token's life. The default is that of rule P27.
const (
	DefaultTTL = 900 * time.Second
	MaxTTL     = 30 * 24 * time.Hour
)

// MaxTokenBytes is the length of the longest token that brokers read.
const MaxTokenBytes = 16 << 10

// Claims is what a token says, in the order of rule P27.
type Claims struct {
	Audience    string // api.AudienceBroker or api.AudienceControlPlane
	Subject     string // see Subject
	Tenant      string
	IssuedAt    time.Time
	ExpiresAt   time.Time
	Permissions []string
}

// Subject returns the sub claim of a principal: the hex SHA-256 of issuer|subject, so that a token
// says nothing personal and two issuers cannot speak for one another's subjects.
func Subject(issuer, subject string) string {
	sum := sha256.Sum256([]byte(issuer + "|" + subject))
	return hex.EncodeToString(sum[:])
}

// Sign returns the claims as a compact JWT, signed with EdDSA and naming the key. Permissions of a
// broker token must have passed ValidatePermissions.
func Sign(key ed25519.PrivateKey, kid string, c Claims) (string, error) {
	if len(key) != ed25519.PrivateKeySize || kid == "" {
		return "", ErrKey
	}
	if err := c.validate(); err != nil {
		return "", err
	}
	t := jwt.NewWithClaims(jwt.SigningMethodEdDSA, jwt.MapClaims{
		"iss":   Issuer,
		"aud":   c.Audience,
		"sub":   c.Subject,
		"tid":   c.Tenant,
		"iat":   c.IssuedAt.Unix(),
		"exp":   c.ExpiresAt.Unix(),
		"perms": c.Permissions,
	})
	t.Header["kid"] = kid
	signed, err := t.SignedString(key)
	if err != nil {
		return "", fmt.Errorf("cannot sign a token with key %s: %w", kid, err)
	}
	if len(signed) > MaxTokenBytes {
		return "", fmt.Errorf("%w: a token of %d bytes, brokers read at most %d",
			ErrClaims, len(signed), MaxTokenBytes)
	}
	return signed, nil
}

func (c Claims) validate() error {
	switch {
	case c.Audience != api.AudienceBroker && c.Audience != api.AudienceControlPlane:
		return fmt.Errorf("%w: unknown audience %q", ErrClaims, c.Audience)
	case c.Subject == "":
		return fmt.Errorf("%w: empty subject", ErrClaims)
	case c.Tenant == "":
		return fmt.Errorf("%w: empty tenant", ErrClaims)
	case len(c.Permissions) == 0:
		return fmt.Errorf("%w: no permissions", ErrClaims)
	}
	if life := c.ExpiresAt.Sub(c.IssuedAt); life < time.Second || life > MaxTTL {
		return fmt.Errorf("%w: life of %s is outside 1s to %s", ErrClaims, life, MaxTTL)
	}
	return nil
}
