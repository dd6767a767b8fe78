package auth

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// claims are the claims of a Felix token (control plane P27), read more strictly than JWT libraries do: names
// match exactly, times are JSON integers and nothing else, and the audience is one string. The library would
// take a quoted number or 1e30 for a time, and an array for the audience.
type claims struct {
	jwt.Claims // nil: only makes this the library's type; its validation, which would ask, is off

	issuer, audience, tenant, subject string

	expires, notBefore, issuedAt     int64 // Unix seconds
	hasExpires, hasBefore, hasIssued bool

	permissions []string
}

var errBadClaim = errors.New("auth: claim of a wrong type")

// UnmarshalJSON implements json.Unmarshaler. A null claim counts as absent.
func (c *claims) UnmarshalJSON(b []byte) error {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	err := errors.Join(
		readClaim(raw, "iss", &c.issuer),
		readClaim(raw, "aud", &c.audience),
		readClaim(raw, "tid", &c.tenant),
		readClaim(raw, "sub", &c.subject),
		readClaim(raw, "perms", &c.permissions),
		readTime(raw, "exp", &c.expires, &c.hasExpires),
		readTime(raw, "nbf", &c.notBefore, &c.hasBefore),
		readTime(raw, "iat", &c.issuedAt, &c.hasIssued),
	)
	if err != nil {
		return errBadClaim
	}
	return nil
}

func readClaim[T any](raw map[string]json.RawMessage, name string, v *T) error {
	b, ok := raw[name]
	if !ok {
		return nil
	}
	return json.Unmarshal(b, v)
}

// readTime takes 1 to 11 digits: no sign, fraction, exponent or quotes, and no year that overflows a
// time.Time.
func readTime(raw map[string]json.RawMessage, name string, v *int64, has *bool) error {
	b, ok := raw[name]
	if !ok || string(b) == "null" {
		return nil
	}
	if len(b) == 0 || len(b) > 11 {
		return errBadClaim
	}
	for _, d := range b {
		if d < '0' || d > '9' {
			return errBadClaim
		}
		*v = *v*10 + int64(d-'0')
	}
	*has = true
	return nil
}

// check compares the claims with what they must say. Only `nbf` and `iat` have leeway: they forgive a broker
// whose clock is behind, while an expired token is expired.
func (c *claims) check(cfg *Config, tenant string, now time.Time) *refusal {
	seconds := now.Unix()
	latest := now.Add(cfg.Leeway).Unix()
	switch {
	case c.issuer != cfg.Issuer:
		return refusedIssuer
	case c.audience != cfg.Audience:
		return refusedAudience
	case c.tenant != tenant:
		return refusedTenant
	case !c.hasExpires || c.expires <= seconds:
		return refusedExpired
	case c.hasBefore && c.notBefore > latest, c.hasIssued && c.issuedAt > latest:
		return refusedNotYet
	}
	return nil
}
