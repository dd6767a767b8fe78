package api

// The audiences of a token. Brokers accept only AudienceBroker, this API only AudienceControlPlane
// (rule P28).
const (
	AudienceBroker       = "felix-broker"
	AudienceControlPlane = "felix-controlplane"
)

// JWK is one public signing key: an Ed25519 key as RFC 8037 writes it.
type JWK struct {
	KeyType   string `json:"kty"` // "OKP"
	Curve     string `json:"crv"` // "Ed25519"
	Algorithm string `json:"alg"` // "EdDSA"
	Use       string `json:"use"` // "sig"
	KeyID     string `json:"kid"`
	X         string `json:"x"` // public key, base64url without padding
}

// JWKS is the answer of GET /v1/tenants/{t}/.well-known/jwks.json: every published key of a tenant.
type JWKS struct {
	Keys []JWK `json:"keys"`
}

// MintRequest is the body of POST /v1/tenants/{t}/token/mint.
type MintRequest struct {
	Principal   string   `json:"principal"`
	Permissions []string `json:"permissions"` // "action:object", section 5.2
	// Audience is felix-broker when absent.
	Audience string `json:"audience,omitempty"`
	// TTLSeconds is the life of the token, 900 when absent.
	TTLSeconds int64 `json:"ttl_seconds,omitempty"`
}

// MintResponse carries a freshly signed token.
type MintResponse struct {
	FelixToken string `json:"felix_token"`
	TokenType  string `json:"token_type"` // "Bearer"
	ExpiresIn  int64  `json:"expires_in"` // seconds
}
