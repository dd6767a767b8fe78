package server

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"github.com/felix-go/felix/controlplane/api"
	"github.com/felix-go/felix/controlplane/store"
	"github.com/felix-go/felix/controlplane/token"
)

const mintPath = "/v1/tenants/t/token/mint"

func TestMintAndVerify(t *testing.T) {
	r := start(t)
	r.basic()
	out := r.must(200, "POST", mintPath,
		`{"principal":"alice","permissions":["stream.publish:stream:t/n/s","cache.read:cache:t/*/*"]}`)
	minted := into[api.MintResponse](t, out)
	if minted.TokenType != "Bearer" || minted.ExpiresIn != 900 || out.header.Get("Cache-Control") != "no-store" {
		t.Fatalf("answer %+v %v", minted, out.header)
	}
	set := into[api.JWKS](t, r.sendAs("", "GET", "/v1/tenants/t/.well-known/jwks.json", ""))
	if len(set.Keys) != 1 {
		t.Fatalf("key set %+v", set)
	}
	jwk := set.Keys[0]
	if jwk.KeyType != "OKP" || jwk.Curve != "Ed25519" || jwk.Algorithm != "EdDSA" || jwk.Use != "sig" {
		t.Fatalf("key %+v", jwk)
	}
	parsed, err := jwt.Parse(minted.FelixToken, func(tok *jwt.Token) (any, error) {
		if tok.Header["kid"] != jwk.KeyID {
			t.Errorf("kid %v, want %s", tok.Header["kid"], jwk.KeyID)
		}
		x, err := base64.RawURLEncoding.DecodeString(jwk.X)
		return ed25519.PublicKey(x), err
	}, jwt.WithValidMethods([]string{"EdDSA"}), jwt.WithIssuer(token.Issuer), jwt.WithAudience(api.AudienceBroker),
		jwt.WithExpirationRequired(), jwt.WithIssuedAt())
	if err != nil {
		t.Fatal(err)
	}
	claims := parsed.Claims.(jwt.MapClaims)
	perms := fmt.Sprint(claims["perms"])
	life := claims["exp"].(float64) - claims["iat"].(float64)
	if claims["sub"] != token.Subject(operatorIssuer, "alice") || claims["tid"] != "t" || life != 900 ||
		perms != "[stream.publish:stream:t/n/s cache.read:cache:t/*/*]" {
		t.Fatalf("claims %v", claims)
	}
}

func TestMintOptions(t *testing.T) {
	r := start(t)
	r.basic()
	minted := into[api.MintResponse](t, r.must(200, "POST", mintPath,
		`{"principal":"ops","permissions":["node.view:cluster:*"],"audience":"felix-controlplane","ttl_seconds":5}`))
	if minted.ExpiresIn != 5 {
		t.Fatalf("answer %+v", minted)
	}
	for _, body := range []string{
		`{}`, `{"principal":"a"}`, `{"principal":"a","permissions":[]}`,
		`{"permissions":["node.view:cluster:*"]}`,
		`{"principal":"a","permissions":["fly:stream:t/n/s"]}`,
		`{"principal":"a","permissions":["stream.publish:stream:u/n/s"]}`,
		`{"principal":"a","permissions":["node.view:cluster:*"],"audience":"else"}`,
		`{"principal":"a","permissions":["node.view:cluster:*"],"ttl_seconds":0}`,
		`{"principal":"a","permissions":["node.view:cluster:*"],"ttl_seconds":-5}`,
		`{"principal":"a","permissions":["node.view:cluster:*"],"ttl_seconds":99999999}`,
		`{"principal":"a","permissions":["node.view:cluster:*"],"admin":true}`,
		`{"principal":"` + strings.Repeat("a", 513) + `","permissions":["node.view:cluster:*"]}`,
	} {
		r.refused(400, api.CodeInvalidRequest, "POST", mintPath, body)
	}
	valid := `{"principal":"a","permissions":["node.view:cluster:*"]}`
	r.refused(404, api.CodeNotFound, "POST", "/v1/tenants/none/token/mint", valid)
	r.refused(404, api.CodeNotFound, "GET", "/v1/tenants/none/.well-known/jwks.json", "")
	r.must(204, "DELETE", "/v1/tenants/t", "")
	r.refused(404, api.CodeNotFound, "POST", mintPath, valid)
	r.refused(404, api.CodeNotFound, "GET", "/v1/tenants/t/.well-known/jwks.json", "")
}

func TestMintNeedsLoopback(t *testing.T) {
	s := openStore(t, store.Config{})
	for bind, want := range map[string]bool{
		"127.0.0.1:0": true, "127.8.8.8:1": true, "[::1]:8443": true, "localhost:0": true,
		"0.0.0.0:0": false, ":0": false, "[::]:0": false, "10.0.0.1:8443": false, "example.com:8443": false,
		"": false,
	} {
		for _, anywhere := range []bool{false, true} {
			h, err := New(Config{Store: s, OperatorToken: secret, Bind: bind, MintAnywhere: anywhere})
			if err != nil {
				t.Fatal(err)
			}
			out := serveOnce(h, "POST", mintPath, `{"principal":"a","permissions":["node.view:cluster:*"]}`)
			status := http.StatusForbidden
			if want || anywhere {
				status = http.StatusNotFound // there is no such tenant
			}
			if out.Code != status {
				t.Errorf("bind %q, anywhere %v: %d %s", bind, anywhere, out.Code, out.Body)
			}
		}
	}
}

// serveOnce sends one request with the operator credential to a bare handler.
func serveOnce(h http.Handler, method, path, body string) *httptest.ResponseRecorder {
	req := httptest.NewRequest(method, path, strings.NewReader(body))
	req.Header.Set("Authorization", "Bearer "+secret)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	return w
}
