package server

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/felix-go/felix/controlplane/api"
	"github.com/felix-go/felix/controlplane/store"
	"github.com/felix-go/felix/internal/clock"
)

func newHandler(t *testing.T, log io.Writer) *Handler {
	t.Helper()
	logger := slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	h, err := New(Config{Store: openStore(t, store.Config{}), OperatorToken: secret, Logger: logger})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestConfigRefusals(t *testing.T) {
	s := openStore(t, store.Config{})
	for name, cfg := range map[string]Config{
		"no store":         {OperatorToken: secret},
		"no credential":    {Store: s},
		"short credential": {Store: s, OperatorToken: "hunter2"},
		"cert only":        {Store: s, OperatorToken: secret, CertFile: "x"},
		"key only":         {Store: s, OperatorToken: secret, KeyFile: "x"},
		"missing files":    {Store: s, OperatorToken: secret, CertFile: "/none/x", KeyFile: "/none/y"},
	} {
		if srv, err := Start(cfg); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v, %v", name, srv, err)
		}
	}
	if _, err := Start(Config{Store: s, OperatorToken: secret, Bind: "256.0.0.1:0"}); err == nil {
		t.Error("an address that does not exist was bound")
	}
}

func TestProbes(t *testing.T) {
	manual := clock.NewManual(time.Now())
	r := startWith(t, store.Config{}, Config{Bind: "127.0.0.1:0", Clock: manual})
	h := r.server.handler
	status := func(path string) (int, api.Health) {
		out := r.sendAs("", "GET", "/v1/system/"+path, "")
		return out.status, into[api.Health](t, out)
	}
	for _, p := range []string{"live", "ready", "health"} {
		if code, body := status(p); code != 200 || body.Status != "ok" {
			t.Errorf("%s: %d %+v", p, code, body)
		}
	}

	// The store goes away without a word: the question has an end of its own, and its answer serves every
	// probe of the same second.
	ask := func(f func(context.Context) error) {
		h.probe.mu.Lock()
		defer h.probe.mu.Unlock()
		h.probe.ask, h.probe.asked = f, false
	}
	asked := 0
	ask(func(ctx context.Context) error {
		asked++
		if deadline, bounded := ctx.Deadline(); !bounded || time.Until(deadline) > probeTimeout {
			t.Error("the store is asked without a bound")
		}
		return errors.New("black hole")
	})
	for range 3 {
		if code, body := status("ready"); code != 503 || body.Reason == "" {
			t.Errorf("ready without a store: %d %+v", code, body)
		}
	}
	if asked != 1 {
		t.Errorf("3 probes asked the store %d times", asked)
	}
	if code, _ := status("live"); code != 200 {
		t.Errorf("live without a store: %d", code)
	}

	// It comes back by itself, within the second.
	h.probe.mu.Lock()
	h.probe.ask = r.store.Ping
	h.probe.mu.Unlock()
	manual.Advance(probeCache)
	if code, _ := status("ready"); code != 200 {
		t.Errorf("ready after the repair: %d", code)
	}

	r.server.Drain()
	if code, body := status("ready"); code != 503 || body.Reason != "draining" {
		t.Errorf("ready while draining: %d %+v", code, body)
	}
	if code, _ := status("live"); code != 200 {
		t.Errorf("live while draining: %d", code)
	}
}

func TestStoreDownIs503(t *testing.T) {
	s, err := store.Open(testContext(t), store.Config{DataDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	h, err := New(Config{Store: s, OperatorToken: secret, Bind: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	for _, q := range [][3]string{
		{"GET", "/v1/tenants"}, {"GET", "/v1/tenants/t"}, {"DELETE", "/v1/tenants/t"},
		{"POST", "/v1/tenants", `{"tenant_id":"t"}`},
		{"GET", "/v1/streams/snapshot"}, {"GET", "/v1/streams/changes"},
		{"GET", "/v1/tenants/t/.well-known/jwks.json"},
	} {
		if out := serveOnce(h, q[0], q[1], q[2]); out.Code != 503 {
			t.Errorf("%s %s: %d %s", q[0], q[1], out.Code, out.Body)
		}
	}
	if out := serveOnce(h, "GET", "/v1/system/ready", ""); out.Code != 503 {
		t.Errorf("ready: %d %s", out.Code, out.Body)
	}
}

// issue writes a fresh self-signed certificate for 127.0.0.1.
func issue(t *testing.T, certFile, keyFile string) *x509.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	serial, _ := rand.Int(rand.Reader, big.NewInt(1<<62))
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: "felix test"},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(time.Hour),
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{
		certFile: {Type: "CERTIFICATE", Bytes: der}, keyFile: {Type: "PRIVATE KEY", Bytes: keyDER},
	} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

func TestTLSAndCertificateSwap(t *testing.T) {
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	first := issue(t, certFile, keyFile)
	manual := clock.NewManual(time.Now())
	cfg := Config{Bind: "127.0.0.1:0", CertFile: certFile, KeyFile: keyFile, Clock: manual, Logger: testLogger(t)}
	certs, err := loadCertificates(cfg)
	if err != nil {
		t.Fatal(err)
	}
	r := startWith(t, store.Config{}, cfg)
	pool := x509.NewCertPool()
	pool.AddCert(first)
	r.http.Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: pool}
	r.must(200, "GET", "/v1/tenants", "")

	served := func() *x509.Certificate {
		manual.Advance(certificateCheck)
		c, err := certs.certificate(nil)
		if err != nil {
			t.Fatal(err)
		}
		return c.Leaf
	}
	second := issue(t, certFile, keyFile)
	if !served().Equal(second) {
		t.Error("the new certificate is not served")
	}
	if err := os.WriteFile(keyFile, []byte("half written"), 0o600); err != nil {
		t.Fatal(err)
	}
	if !served().Equal(second) {
		t.Error("a broken pair replaced the one in use")
	}
	if err := os.Remove(certFile); err != nil {
		t.Fatal(err)
	}
	if !served().Equal(second) {
		t.Error("a missing file replaced the one in use")
	}
	third := issue(t, certFile, keyFile)
	if !served().Equal(third) {
		t.Error("the repaired certificate is not served")
	}
}

func TestOperatorToken(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	const starters = 8
	got := make([]string, starters)
	var wg sync.WaitGroup
	for i := range starters {
		wg.Go(func() {
			var err error
			if got[i], err = LoadOperatorToken(dir); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, s := range got {
		if s != got[0] || len(s) != 64 {
			t.Fatalf("processes that start together disagree: %q", got)
		}
	}
	path := filepath.Join(dir, operatorTokenFile)
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v, %v", info.Mode(), err)
	}
	if left, _ := filepath.Glob(path + ".*"); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadOperatorToken(dir); !errors.Is(err, ErrTokenFile) {
		t.Errorf("a credential that others can read: %v", err)
	}
	if err := os.WriteFile(path, []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadOperatorToken(dir); !errors.Is(err, ErrTokenFile) {
		t.Errorf("a file without a credential: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	again, err := LoadOperatorToken(dir)
	if err != nil || again == got[0] {
		t.Errorf("a removed credential came back: %v", err)
	}
	if _, err := readOperatorToken(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}
