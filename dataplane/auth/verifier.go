package auth

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/felix-go/felix/dataplane/stat"
)

// Identity is what a verified token says. It is shared between streams and never changes.
type Identity struct {
	Tenant  string
	Subject string
	KeyID   string    // id of the key that signed the token; opaque
	Expires time.Time // wall time; no new stream opens with the token from then on
	Matcher *Matcher
}

// Verifier checks the token of every stream that opens.
//
// A peer chooses the token, so the order of the checks is the order of their cost, and nothing is fetched,
// remembered or allocated in proportion to what a stranger sends:
//
//	length                     before anything is parsed
//	sha256, verified tokens    a known token costs one hash and one map lookup
//	parse                      compact form, strict base64, EdDSA by name, no `crit`, no `b64`, `kid` a string
//	`tid` = the frame's tenant so that a stray token makes nobody fetch keys
//	keys of the tenant         Keys: one fetch at a time, rarely
//	signature                  the key's type is an Ed25519 public key, whatever the header says
//	iss, aud, tid, exp, nbf, iat, perms
//
// Where there is no key to check with (unknown tenant, unknown key id, stray tenant), the signature is
// checked with a decoy, so that the answer takes the time of a bad signature and carries the same text.
//
// Verified tokens are remembered under their hash, bounded, least recently used out first. A remembered token
// is good only together with the very key set that verified it: when the tenant's keys change or the tenant
// goes, the set is another one or none, and the token is checked again from the start.
type Verifier struct {
	cfg    Config
	parser *jwt.Parser
	known  *verified
	decoy  ed25519.PublicKey // nobody holds its private half

	accepted, remembered *stat.Counter
	refused              map[*refusal]*stat.Counter // immutable after NewVerifier
}

// NewVerifier returns a Verifier. It starts nothing.
func NewVerifier(cfg Config) *Verifier {
	cfg = cfg.withDefaults()
	decoy, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		panic(err) // crypto/rand never fails on supported systems
	}
	v := &Verifier{
		cfg: cfg,
		parser: jwt.NewParser(
			jwt.WithValidMethods([]string{jwt.SigningMethodEdDSA.Alg()}),
			jwt.WithStrictDecoding(),
			jwt.WithoutClaimsValidation(), // claims.check does it
		),
		known:    newVerified(cfg.CacheEntries),
		decoy:    decoy,
		accepted: cfg.Stats.Counter("felix_auth_accepted_total", "Tokens accepted."),
		remembered: cfg.Stats.Counter("felix_auth_remembered_total",
			"Tokens accepted because they were verified before."),
		refused: make(map[*refusal]*stat.Counter, len(refusals)),
	}
	for _, r := range refusals {
		name := stat.Label("felix_auth_refused_total", "reason", r.reason)
		v.refused[r] = cfg.Stats.Counter(name, "Tokens refused, by reason.")
	}
	return v
}

// Verify checks the token that an auth frame carries for a tenant. It may wait for the tenant's keys, at most
// 5 s or until ctx ends. Every error is ErrRefused, with the same text; Reason tells them apart. Token and
// tenant are borrowed.
func (v *Verifier) Verify(ctx context.Context, tenant, token []byte) (*Identity, error) {
	id, r := v.verify(ctx, tenant, token)
	if r != nil {
		v.refused[r].Inc()
		return nil, r
	}
	v.accepted.Inc()
	return id, nil
}

func (v *Verifier) verify(ctx context.Context, tenant, token []byte) (*Identity, *refusal) {
	if len(token) > v.cfg.MaxTokenBytes {
		return nil, refusedTooLong
	}
	sum := sha256.Sum256(token)
	if id, set := v.known.find(sum); id != nil && id.Tenant == string(tenant) {
		// Fast path: the token was good, and nothing it was judged by has changed.
		if !v.cfg.Clock.Now().Before(id.Expires) {
			v.known.drop(sum)
			return nil, refusedExpired
		}
		if now, r := v.cfg.Keys.current(ctx, id.Tenant); r == nil && now.set == set {
			v.remembered.Inc()
			return id, nil
		}
		v.known.drop(sum)
	}
	if !compact(token) {
		return nil, refusedMalformed
	}
	id, set, r := v.check(ctx, string(tenant), string(token))
	if r != nil {
		return nil, r
	}
	v.known.add(sum, id, set)
	return id, nil
}

// check verifies a token from the start. It also returns the key set that verified it.
func (v *Verifier) check(ctx context.Context, tenant, token string) (*Identity, *keySet, *refusal) {
	var (
		c      claims
		id     string
		set    *keySet
		noted  *refusal // why the decoy stands in
		reject *refusal // why there is no key at all
	)
	_, err := v.parser.ParseWithClaims(token, &c, func(t *jwt.Token) (any, error) {
		if id, reject = keyID(t.Header); reject != nil {
			return nil, reject
		}
		var key ed25519.PublicKey
		if c.tenant != tenant {
			noted = refusedTenant
		} else {
			key, set, noted = v.cfg.Keys.find(ctx, tenant, id)
		}
		if noted != nil {
			return v.decoy, nil
		}
		return key, nil
	})
	switch {
	case reject != nil:
		return nil, nil, reject
	case noted != nil:
		return nil, nil, noted
	case err != nil:
		return nil, nil, reasonOf(err)
	}
	if r := c.check(&v.cfg, tenant, v.cfg.Clock.Now()); r != nil {
		return nil, nil, r
	}
	m, err := Compile(tenant, c.permissions)
	if err != nil {
		return nil, nil, refusedPermissions
	}
	return &Identity{
		Tenant: tenant, Subject: c.subject, KeyID: id, Expires: time.Unix(c.expires, 0), Matcher: m,
	}, set, nil
}

// compact reports whether a token is made of base64url letters and dots. The decoder would skip line ends, so
// that one token had many spellings.
func compact(token []byte) bool {
	for _, c := range token {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return true
}

// keyID reads the header. `crit` names extensions that must be understood, and none is; `b64` changes what is
// signed.
func keyID(header map[string]any) (string, *refusal) {
	if _, ok := header["crit"]; ok {
		return "", refusedExtension
	}
	if _, ok := header["b64"]; ok {
		return "", refusedExtension
	}
	id, _ := header["kid"].(string)
	if id == "" {
		return "", refusedNoKeyID
	}
	return id, nil
}

// reasonOf names an error of the JWT library.
func reasonOf(err error) *refusal {
	switch {
	case errors.Is(err, errBadClaim):
		return refusedClaims
	case errors.Is(err, jwt.ErrEd25519Verification), errors.Is(err, jwt.ErrInvalidKey),
		errors.Is(err, jwt.ErrInvalidKeyType):
		return refusedSignature
	case errors.Is(err, jwt.ErrTokenMalformed):
		return refusedMalformed
	}
	return refusedAlgorithm // an unlisted, unknown or missing algorithm
}
