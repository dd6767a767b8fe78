package server

import (
	"fmt"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/felix-go/felix/controlplane/api"
	"github.com/felix-go/felix/controlplane/token"
)

// operatorIssuer is the issuer part of the subject of a minted token: no identity provider can have this
// name, because theirs are URLs.
const operatorIssuer = "felix-operator"

const maxPrincipalBytes = 512

// jwks publishes the verifying keys of a tenant.
func (h *Handler) jwks(r *http.Request) (answer, error) {
	n, err := names(r, "tenant")
	if err != nil {
		return answer{}, err
	}
	keys, err := h.cfg.Store.SigningKeys(r.Context(), n[0])
	if err != nil {
		return answer{}, err
	}
	set := api.JWKS{Keys: make([]api.JWK, 0, len(keys))}
	for _, k := range keys {
		set.Keys = append(set.Keys, k.JWK())
	}
	return okay(set), nil
}

// mint signs a token for any principal of a tenant.
func (h *Handler) mint(r *http.Request) (answer, error) {
	if !h.cfg.mayMint() {
		return answer{}, refuse(http.StatusForbidden, api.CodeForbidden,
			"tokens are minted only where the API is bound to a loopback address")
	}
	n, err := names(r, "tenant")
	if err != nil {
		return answer{}, err
	}
	var body api.MintRequest
	g, err := decode(r, &body)
	if err != nil {
		return answer{}, err
	}
	claims, err := h.claimsOf(n[0], body, g)
	if err != nil {
		return answer{}, err
	}
	keys, err := h.cfg.Store.SigningKeys(r.Context(), n[0])
	if err != nil {
		return answer{}, err
	}
	for _, k := range keys {
		if !k.Current {
			continue
		}
		signed, err := token.Sign(k.Private, k.ID, claims)
		if err != nil {
			return answer{}, err
		}
		h.log.Info("token minted",
			"tenant", n[0], "subject", claims.Subject, "key", k, "expires", claims.ExpiresAt)
		life := claims.ExpiresAt.Sub(claims.IssuedAt)
		return okay(api.MintResponse{
			FelixToken: signed,
			TokenType:  "Bearer",
			ExpiresIn:  int64(life.Seconds()),
		}), nil
	}
	return answer{}, fmt.Errorf("tenant %q has no current signing key", n[0])
}

func (h *Handler) claimsOf(tenant string, b api.MintRequest, g given) (token.Claims, error) {
	if b.Principal == "" || len(b.Principal) > maxPrincipalBytes || !utf8.ValidString(b.Principal) {
		return token.Claims{}, invalid("principal must be UTF-8 of 1 to %d bytes", maxPrincipalBytes)
	}
	if err := token.ValidatePermissions(tenant, b.Permissions); err != nil {
		return token.Claims{}, err
	}
	life := token.DefaultTTL
	if g.has("ttl_seconds") {
		const longest = int64(token.MaxTTL / time.Second)
		if b.TTLSeconds < 1 || b.TTLSeconds > longest {
			return token.Claims{}, invalid("ttl_seconds must be from 1 to %d", longest)
		}
		life = time.Duration(b.TTLSeconds) * time.Second
	}
	now := h.cfg.Clock.Now()
	return token.Claims{
		Audience:    orDefault(b.Audience, api.AudienceBroker),
		Subject:     token.Subject(operatorIssuer, b.Principal),
		Tenant:      tenant,
		IssuedAt:    now,
		ExpiresAt:   now.Add(life),
		Permissions: b.Permissions,
	}, nil
}
