package auth

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

func TestGoodToken(t *testing.T) {
	w, key := newWorld(t), newSigner("k1")
	w.publish(key)
	id, err := w.Verify(t.Context(), []byte("t1"), []byte(key.token(nil)))
	if err != nil {
		t.Fatal(Reason(err), err)
	}
	if id.Tenant != "t1" || id.Subject != "alice" || id.KeyID != "k1" ||
		!id.Expires.Equal(epoch.Add(15*time.Minute)) ||
		!id.Matcher.AllowStream(StreamPublish, []byte("ns"), []byte("s")) {
		t.Fatalf("identity is %+v", id)
	}
	if again, _ := w.Verify(t.Context(), []byte("t1"), []byte(key.token(nil))); again != id {
		t.Fatal("the second stream does not share the identity")
	}
	for _, change := range []object{
		{"sub": nil}, {"perms": nil}, {"perms": []string{}}, {"iat": nil}, {"act": object{"sub": "bob"}, "jti": "x"},
		{"nbf": epoch.Add(20 * time.Second).Unix()}, {"iat": epoch.Add(20 * time.Second).Unix()}, {"nbf": 0},
	} {
		if r := w.login(t, key.token(change)); r != "" {
			t.Errorf("token with %v: %s", change, r)
		}
	}
	w.wantFetches(t, 1)
}

// attacks returns tokens that must be refused, and why.
func attacks(t *testing.T, key *signer) map[string][2]string {
	t.Helper()
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	signed := func(m jwt.SigningMethod, with any) string {
		token := jwt.NewWithClaims(m, jwt.MapClaims(goodClaims(nil)))
		token.Header["kid"] = key.id
		s, err := token.SignedString(with)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	head := func(change object) string { return key.sign(encode(key.header(change)), encode(goodClaims(nil))) }
	raw := func(claims string) string {
		return key.sign(encode(key.header(nil)), base64.RawURLEncoding.EncodeToString([]byte(claims)))
	}
	exp := func(literal string) string {
		return raw(`{"iss":"felix-auth","aud":"felix-broker","tid":"t1","perms":[],"exp":` + literal + `}`)
	}
	good := key.token(nil)
	parts := strings.Split(good, ".")
	confused := parts[0] + "." + parts[1]
	mac := hmac.New(sha256.New, key.public())
	mac.Write([]byte(confused))
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	withKey := encode(key.header(object{"jwk": object{"kty": "OKP"}}))
	exchanged := encode(goodClaims(object{"sub": "eve"}))
	perms := func(permissions ...string) string { return key.token(object{"perms": permissions}) }
	later := epoch.Add(15 * time.Minute).Unix()

	return map[string][2]string{
		"4 MiB of dots":        {strings.Repeat(".", 4<<20), "too_long"},
		"16 KiB of dots":       {strings.Repeat(".", 16<<10), "malformed"},
		"one byte too long":    {good + strings.Repeat("A", 16<<10+1-len(good)), "too_long"},
		"empty":                {"", "malformed"},
		"two dots":             {"..", "malformed"},
		"text":                 {"hello", "malformed"},
		"no signature part":    {confused, "malformed"},
		"empty signature":      {confused + ".", "signature"},
		"two signatures":       {good + "." + parts[2], "malformed"},
		"json, two signatures": {`{"payload":"` + parts[1] + `","signatures":[{},{}]}`, "malformed"},
		"padded":               {good + "=", "malformed"},
		"newline inside":       {parts[0] + "\n." + parts[1] + "." + parts[2], "malformed"},
		"newline after":        {good + "\n", "malformed"},
		"deep json":            {raw(strings.Repeat("[", 9000)), "malformed"},
		"deep claim":           {raw(`{"x":` + deep + `}`), "tenant"},
		"header not json":      {key.sign("e30x", parts[1]), "malformed"},
		"header null":          {key.sign(encode(nil), parts[1]), "algorithm"},
		"claims null":          {raw("null"), "tenant"},
		"claims array":         {raw("[]"), "malformed"},
		"trailing claims":      {raw(`{"iss":"felix-auth"} {}`), "malformed"},

		"alg none":             {signed(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType), "algorithm"},
		"alg None":             {encode(key.header(object{"alg": "None"})) + "." + parts[1] + ".", "algorithm"},
		"alg HS256, public":    {signed(jwt.SigningMethodHS256, []byte(key.public())), "algorithm"},
		"HS256 mac, EdDSA":     {confused + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil)), "signature"},
		"alg RS256":            {signed(jwt.SigningMethodRS256, rsaKey), "algorithm"},
		"alg missing":          {head(object{"alg": nil}), "algorithm"},
		"alg array":            {head(object{"alg": []string{"EdDSA"}}), "algorithm"},
		"alg lower case":       {head(object{"alg": "eddsa"}), "algorithm"},
		"alg Ed25519":          {head(object{"alg": "Ed25519"}), "algorithm"},
		"ALG":                  {head(object{"alg": nil, "ALG": "EdDSA"}), "algorithm"},
		"crit":                 {head(object{"crit": []string{"exp"}}), "header_extension"},
		"crit empty":           {head(object{"crit": []string{}}), "header_extension"},
		"b64 false":            {head(object{"b64": false}), "header_extension"},
		"b64 and crit":         {head(object{"b64": false, "crit": []string{"b64"}}), "header_extension"},
		"kid missing":          {head(object{"kid": nil}), "no_key_id"},
		"kid array":            {head(object{"kid": []string{"k1"}}), "no_key_id"},
		"kid number":           {head(object{"kid": 1}), "no_key_id"},
		"kid unknown":          {head(object{"kid": "k9"}), "unknown_key"},
		"kid a path":           {head(object{"kid": "../../k1"}), "unknown_key"},
		"kid other case":       {head(object{"kid": "K1"}), "unknown_key"},
		"kid 10 KiB":           {head(object{"kid": strings.Repeat("k", 10<<10)}), "unknown_key"},
		"key in the header":    {newSigner("k1").sign(withKey, parts[1]), "signature"},
		"other key, same kid":  {newSigner("k1").token(nil), "signature"},
		"signature cut":        {good[:len(good)-2], "signature"},
		"claims exchanged":     {parts[0] + "." + exchanged + "." + parts[2], "signature"},
		"iss wrong":            {key.token(object{"iss": "felix-auth2"}), "issuer"},
		"iss missing":          {key.token(object{"iss": nil}), "issuer"},
		"iss array":            {key.token(object{"iss": []string{"felix-auth"}}), "claims"},
		"aud control plane":    {key.token(object{"aud": "felix-controlplane"}), "audience"},
		"aud array":            {key.token(object{"aud": []string{"felix-broker"}}), "claims"},
		"aud array of two":     {key.token(object{"aud": []string{"felix-broker", "x"}}), "claims"},
		"aud missing":          {key.token(object{"aud": nil}), "audience"},
		"aud other case":       {key.token(object{"aud": "Felix-Broker"}), "audience"},
		"aud space":            {key.token(object{"aud": "felix-broker "}), "audience"},
		"tid other":            {key.token(object{"tid": "t2"}), "tenant"},
		"tid missing":          {key.token(object{"tid": nil}), "tenant"},
		"tid array":            {key.token(object{"tid": []string{"t1"}}), "claims"},
		"TID":                  {key.token(object{"tid": nil, "TID": "t1"}), "tenant"},
		"exp missing":          {key.token(object{"exp": nil}), "expired"},
		"exp null":             {exp("null"), "expired"},
		"exp passed":           {key.token(object{"exp": epoch.Unix() - 1}), "expired"},
		"exp now":              {key.token(object{"exp": epoch.Unix()}), "expired"},
		"exp zero":             {exp("0"), "expired"},
		"exp string":           {exp(fmt.Sprintf("%q", fmt.Sprint(later))), "claims"},
		"exp float":            {exp(fmt.Sprintf("%d.5", later)), "claims"},
		"exp float, whole":     {exp(fmt.Sprintf("%d.0", later)), "claims"},
		"exp 1e30":             {exp("1e30"), "claims"},
		"exp 2e9":              {exp("2e9"), "claims"},
		"exp 30 digits":        {exp("9" + strings.Repeat("9", 29)), "claims"},
		"exp negative":         {exp("-1"), "claims"},
		"exp array":            {exp(fmt.Sprintf("[%d]", later)), "claims"},
		"exp true":             {exp("true"), "claims"},
		"EXP":                  {key.token(object{"exp": nil, "EXP": later}), "expired"},
		"nbf later":            {key.token(object{"nbf": epoch.Add(31 * time.Second).Unix()}), "not_yet_valid"},
		"nbf string":           {key.token(object{"nbf": "0"}), "claims"},
		"iat later":            {key.token(object{"iat": epoch.Add(31 * time.Second).Unix()}), "not_yet_valid"},
		"iat float":            {key.token(object{"iat": 1.5}), "claims"},
		"perms string":         {key.token(object{"perms": "stream.publish:stream:t1/ns/s"}), "claims"},
		"perms object":         {key.token(object{"perms": object{}}), "claims"},
		"perms number":         {key.token(object{"perms": []any{1}}), "claims"},
		"perms unknown action": {perms("stream.publish:stream:t1/ns/s", "stream.fly:stream:t1/ns/s"), "permissions"},
		"perms other tenant":   {perms("stream.publish:stream:t2/ns/s"), "permissions"},
	}
}

// TestAttacks refuses every crafted token with the same words and without allocating in proportion to it.
func TestAttacks(t *testing.T) {
	w, key := newWorld(t), newSigner("k1")
	w.publish(key)
	if r := w.login(t, key.token(nil)); r != "" {
		t.Fatal("the good token is refused:", r)
	}
	for name, attack := range attacks(t, key) {
		token := []byte(attack[0])
		before := w.stats.Snapshot()
		id, err := w.Verify(t.Context(), []byte("t1"), token)
		if id != nil || err == nil {
			t.Errorf("%s: accepted", name)
			continue
		}
		if err.Error() != ErrRefused.Error() || !errors.Is(err, ErrRefused) {
			t.Errorf("%s: the peer can read %q", name, err)
		}
		if r := Reason(err); r != attack[1] {
			t.Errorf("%s: reason %q, want %q", name, r, attack[1])
		}
		counter := `felix_auth_refused_total{reason="` + attack[1] + `"}`
		if n := w.stats.Snapshot()[counter] - before[counter]; n != 1 {
			t.Errorf("%s: %s moved by %d", name, counter, n)
		}
	}
	if n := w.known.order.Len(); n != 1 {
		t.Errorf("%d tokens are remembered, want the good one", n)
	}
	if r := w.login(t, key.token(nil)); r != "" {
		t.Fatal("the good token is refused afterwards:", r)
	}
	w.wantFetches(t, 2) // at first, and once for all the unknown key ids
}

// TestAttackMemory measures what a token costs, in bytes allocated. A header of dots once cost 16 times its
// length.
func TestAttackMemory(t *testing.T) {
	w, key := newWorld(t), newSigner("k1")
	w.publish(key)
	w.login(t, key.token(nil))
	cost := func(token string) uint64 {
		b := []byte(token)
		least := ^uint64(0)
		for range 3 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			w.Verify(t.Context(), []byte("t1"), b)
			runtime.ReadMemStats(&after)
			least = min(least, after.TotalAlloc-before.TotalAlloc)
		}
		return least
	}
	if n := cost(strings.Repeat(".", 4<<20)); n > 4<<10 {
		t.Errorf("4 MiB of dots cost %d bytes", n)
	}
	for name, attack := range attacks(t, key) {
		if n := cost(attack[0]); n > 512<<10 {
			t.Errorf("%s: %d bytes of token cost %d bytes", name, len(attack[0]), n)
		}
	}
}

// TestStrangersLookAlike checks that an unknown tenant cannot be told from a bad signature, and causes no
// fetch.
func TestStrangersLookAlike(t *testing.T) {
	w, key := newWorld(t), newSigner("k1")
	w.publish(key)
	w.login(t, key.token(nil))
	for _, tenant := range []string{"t2", "", "t1/..", "../t1", "T1", strings.Repeat("x", 60<<10), "t1\x00"} {
		token := key.token(object{"tid": tenant})
		_, err := w.Verify(t.Context(), []byte(tenant), []byte(token))
		if err == nil || err.Error() != ErrRefused.Error() {
			t.Errorf("tenant %.20q: %v", tenant, err)
		}
		if r := Reason(err); r != "unknown_tenant" && r != "too_long" {
			t.Errorf("tenant %.20q: reason %q", tenant, r)
		}
	}
	// A good token in another tenant's frame, before and after it is remembered.
	if _, err := w.Verify(t.Context(), []byte("t2"), []byte(key.token(nil))); Reason(err) != "tenant" {
		t.Errorf("another tenant's frame: %v, %q", err, Reason(err))
	}
	w.wantFetches(t, 1)
}

// TestExpiryOfARememberedToken checks that memory does not outlive the token.
func TestExpiryOfARememberedToken(t *testing.T) {
	w, key := newWorld(t), newSigner("k1")
	w.publish(key)
	token := key.token(nil)
	for range 2 {
		if r := w.login(t, token); r != "" {
			t.Fatal(r)
		}
	}
	w.clock.StepWall(15*time.Minute - time.Nanosecond)
	if r := w.login(t, token); r != "" {
		t.Fatalf("refused before it expires: %s", r)
	}
	w.clock.StepWall(time.Nanosecond)
	for range 2 {
		if r := w.login(t, token); r != "expired" {
			t.Fatalf("expired token: %q", r)
		}
	}
	if n := w.Verifier.known.order.Len(); n != 0 {
		t.Fatalf("%d tokens are remembered", n)
	}
}

// TestChangedKeysVoidTokens checks that what was verified before does not survive the key, the tenant or the
// tenant's re-creation.
func TestChangedKeysVoidTokens(t *testing.T) {
	w, first, second := newWorld(t), newSigner("k1"), newSigner("k2")
	w.publish(first)
	token := first.token(nil)
	if r := w.login(t, token); r != "" {
		t.Fatal(r)
	}
	if err := w.keys.Set("t1", keysOf(first)); err != nil {
		t.Fatal(err)
	}
	remembered := func() int64 { return w.stats.Snapshot()["felix_auth_remembered_total"] }
	before := remembered()
	if r := w.login(t, token); r != "" || remembered() != before+1 {
		t.Fatalf("equal keys voided the token, or refused it: %q", r)
	}
	if err := w.keys.Set("t1", keysOf(first, second)); err != nil {
		t.Fatal(err)
	}
	if r := w.login(t, token); r != "" || remembered() != before+1 {
		t.Fatalf("a token was not checked against changed keys, or refused: %q", r)
	}
	if err := w.keys.Set("t1", keysOf(second)); err != nil {
		t.Fatal(err)
	}
	w.publish(second)
	if r := w.login(t, token); r != "unknown_key" {
		t.Fatalf("token of a retired key: %q", r)
	}
	// The same key id with another key behind it.
	if err := w.keys.Set("t1", keysOf(first)); err != nil {
		t.Fatal(err)
	}
	if r := w.login(t, token); r != "" {
		t.Fatal(r)
	}
	if err := w.keys.Set("t1", keysOf(newSigner("k1"))); err != nil {
		t.Fatal(err)
	}
	if r := w.login(t, token); r != "signature" {
		t.Fatalf("token of an exchanged key: %q", r)
	}
	// The tenant goes, and comes back with keys of its own.
	third := newSigner("k3")
	w.publish(third)
	w.keys.Forget("t1")
	w.know(func(string) (bool, bool) { return false, true })
	if r := w.login(t, third.token(nil)); r != "unknown_tenant" {
		t.Fatalf("token of a deleted tenant: %q", r)
	}
	w.know(func(string) (bool, bool) { return true, true })
	if r := w.login(t, third.token(nil)); r != "" {
		t.Fatalf("token of a tenant made again: %q", r)
	}
	if r := w.login(t, token); r != "unknown_key" {
		t.Fatalf("token of the tenant's earlier life: %q", r)
	}
}

// TestRememberedTokensAreBounded fills the memory and checks that it drops the least recently used.
func TestRememberedTokensAreBounded(t *testing.T) {
	w, key := newWorld(t), newSigner("k1")
	w.publish(key)
	v := NewVerifier(Config{Keys: w.keys, Clock: w.clock, Stats: w.stats, CacheEntries: 3})
	login := func(subject string) {
		if _, err := v.Verify(t.Context(), []byte("t1"), []byte(key.token(object{"sub": subject}))); err != nil {
			t.Fatal(Reason(err))
		}
	}
	for _, s := range []string{"a", "b", "c", "a", "d"} { // b is the oldest when d comes
		login(s)
	}
	if n := len(v.known.tokens); n != 3 || v.known.order.Len() != n {
		t.Fatalf("%d tokens, %d in order, want 3", n, v.known.order.Len())
	}
	remembered := func() int64 { return w.stats.Snapshot()["felix_auth_remembered_total"] }
	for subject, want := range map[string]int64{"a": 1, "c": 1, "d": 1} {
		before := remembered()
		if login(subject); remembered()-before != want {
			t.Errorf("%s was not remembered", subject)
		}
	}
	before := remembered()
	if login("b"); remembered() != before {
		t.Error("b was remembered")
	}
}

func TestReasonOfOtherErrors(t *testing.T) {
	if r := Reason(errors.New("x")); r != "" {
		t.Errorf("reason %q of a stranger's error", r)
	}
	if r := Reason(nil); r != "" {
		t.Errorf("reason %q of no error", r)
	}
	if r := Reason(fmt.Errorf("login: %w", refusedExpired)); r != "expired" {
		t.Errorf("reason %q of a wrapped refusal", r)
	}
}
