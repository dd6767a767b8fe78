package client

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"net/http"

	"github.com/felix-go/felix/controlplane/api"
)

// Keys fetches the public signing keys of a tenant by key id. It needs no credential. Keys of other
// types are skipped, so that a later algorithm does not break an older reader.
func (c *Client) Keys(ctx context.Context, tenant string) (map[string]ed25519.PublicKey, error) {
	var set api.JWKS
	path := pathOf("tenants", tenant, ".well-known", "jwks.json")
	if err := c.do(ctx, http.MethodGet, path, nil, &set, maxJWKSBytes); err != nil {
		return nil, err
	}
	keys := make(map[string]ed25519.PublicKey, len(set.Keys))
	for _, k := range set.Keys {
		if k.KeyType != "OKP" || k.Curve != "Ed25519" || k.KeyID == "" {
			continue
		}
		x, err := base64.RawURLEncoding.DecodeString(k.X)
		if err != nil || len(x) != ed25519.PublicKeySize {
			return nil, fmt.Errorf("%w: key %q is not an Ed25519 key", ErrBadAnswer, k.KeyID)
		}
		keys[k.KeyID] = ed25519.PublicKey(x)
	}
	return keys, nil
}

// Mint signs a token for a principal of the tenant. It needs the operator credential, and the server
// grants it on a loopback address only.
func (c *Client) Mint(ctx context.Context, tenant string, m api.MintRequest) (api.MintResponse, error) {
	return call[api.MintResponse](ctx, c, http.MethodPost, pathOf("tenants", tenant, "token", "mint"), m)
}
