package transport

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// rotate puts the certificate of another node in place of that of n, and returns it.
func (n *node) rotate(t *testing.T) *x509.Certificate {
	t.Helper()
	certFile, keyFile := n.certs.certFile, n.certs.keyFile
	if err := writeSelfSigned(certFile, keyFile, time.Now()); err != nil {
		t.Fatal(err)
	}
	return leafOf(t, certFile)
}

func leafOf(t *testing.T, certFile string) *x509.Certificate {
	t.Helper()
	file, err := os.ReadFile(certFile)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(file)
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return leaf
}

// TestRotation: the next handshake sees the new certificate, also that of a client that could resume.
func TestRotation(t *testing.T) {
	for _, offer := range []bool{false, true} {
		n := newNode(t)
		l := n.listen(t, nil)
		trusted := x509.NewCertPool()
		first := leafOf(t, n.certs.CAFile())
		trusted.AddCert(first)
		d := n.dialer(t, func(c *DialConfig) { c.CAFile, c.RootCAs, c.OfferALPN = "", trusted, offer })

		handshake := func() tls.ConnectionState {
			client, server := connect(t, d, l)
			roundTrip(t, client, server)
			eventually(t, "a session ticket", func() bool {
				_, ok := d.tls.ClientSessionCache.Get(DefaultServerName)
				return ok
			})
			return client.quic.ConnectionState().TLS
		}
		if s := handshake(); s.DidResume || !s.PeerCertificates[0].Equal(first) {
			t.Fatalf("first handshake: resumed %v", s.DidResume)
		}
		if s := handshake(); !s.DidResume {
			t.Fatal("the second handshake does not resume the session")
		}
		second := n.rotate(t)
		trusted.AddCert(second)
		if err := n.certs.Reload(); err != nil {
			t.Fatal(err)
		}
		if s := handshake(); s.DidResume || !s.PeerCertificates[0].Equal(second) {
			t.Fatalf("after the rotation: resumed %v, serial %v", s.DidResume, s.PeerCertificates[0].SerialNumber)
		}
		if err := n.certs.Reload(); err != nil { // nothing changed
			t.Fatal(err)
		}
		if s := handshake(); !s.DidResume || !s.PeerCertificates[0].Equal(second) {
			t.Fatalf("after a reload of the same files: resumed %v", s.DidResume)
		}
	}
}

// TestReloadOnHandshake: a handshake looks at the files when the last look is 30 seconds old, and keeps what
// it has if they are no good.
func TestReloadOnHandshake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t)
		first := n.certs.current()
		n.rotate(t)
		if n.certs.current() != first {
			t.Fatal("looked before it was due")
		}
		time.Sleep(certificateCheck)
		second := n.certs.current()
		if second == first {
			t.Fatal("not looked though it was due")
		}
		if err := os.WriteFile(n.certs.CAFile(), []byte("half a certifi"), 0o600); err != nil {
			t.Fatal(err)
		}
		time.Sleep(certificateCheck)
		if n.certs.current() != second {
			t.Fatal("a broken file replaced the certificate")
		}
		if n.certs.Reload() == nil {
			t.Fatal("Reload takes a broken file")
		}
		n.rotate(t)
		time.Sleep(certificateCheck)
		if n.certs.current() == second {
			t.Fatal("not looked again after a failure")
		}
	})
}

// TestMismatchedKey keeps the pair in force while only one of the two files is replaced yet.
func TestMismatchedKey(t *testing.T) {
	n, other := newNode(t), newNode(t)
	before := n.certs.current()
	key, err := os.ReadFile(other.certs.keyFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(n.certs.keyFile, key, 0o600); err != nil {
		t.Fatal(err)
	}
	if n.certs.Reload() == nil || n.certs.current() != before {
		t.Fatal("a key of another certificate is taken")
	}
}

func TestSelfSigned(t *testing.T) {
	n := newNode(t)
	leaf := leafOf(t, n.certs.CAFile())
	if leaf.IsCA || leaf.BasicConstraintsValid {
		t.Error("the leaf has basic constraints")
	}
	for _, name := range []string{"localhost", "127.0.0.1", "::1"} {
		pool := x509.NewCertPool()
		pool.AddCert(leaf)
		if _, err := leaf.Verify(x509.VerifyOptions{DNSName: name, Roots: pool}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if age := time.Since(leaf.NotBefore); age < 23*time.Hour || age > 25*time.Hour {
		t.Errorf("valid since %s", leaf.NotBefore)
	}
	if left := time.Until(leaf.NotAfter); left < 9*365*24*time.Hour {
		t.Errorf("valid until %s", leaf.NotAfter)
	}
	checkMode(t, n.certs.keyFile)

	again, err := SelfSigned(n.stateDir)
	if err != nil {
		t.Fatal(err)
	}
	if !leafOf(t, again.CAFile()).Equal(leaf) {
		t.Error("the second start has another certificate")
	}
}

// TestSelfSignedRenewal covers the files that a start may find.
func TestSelfSignedRenewal(t *testing.T) {
	start := func(t *testing.T, prepare func(certFile, keyFile string)) (renewed bool, err error) {
		n := newNode(t)
		leaf := leafOf(t, n.certs.certFile)
		prepare(n.certs.certFile, n.certs.keyFile)
		again, err := SelfSigned(n.stateDir)
		if err != nil {
			return false, err
		}
		return !leafOf(t, again.CAFile()).Equal(leaf), nil
	}
	t.Run("about to expire", func(t *testing.T) {
		renewed, err := start(t, func(certFile, keyFile string) {
			made := time.Now().AddDate(-selfSignedYears, 0, 10)
			if err := writeSelfSigned(certFile, keyFile, made); err != nil {
				t.Fatal(err)
			}
		})
		if err != nil || !renewed {
			t.Fatalf("renewed %v, error %v", renewed, err)
		}
	})
	t.Run("key gone", func(t *testing.T) {
		renewed, err := start(t, func(_, keyFile string) { os.Remove(keyFile) })
		if err != nil || !renewed {
			t.Fatalf("renewed %v, error %v", renewed, err)
		}
	})
	t.Run("certificate gone after its key was written", func(t *testing.T) {
		renewed, err := start(t, func(certFile, _ string) { os.Remove(certFile) })
		if err != nil || !renewed {
			t.Fatalf("renewed %v, error %v", renewed, err)
		}
	})
	t.Run("garbage", func(t *testing.T) {
		_, err := start(t, func(certFile, _ string) { os.WriteFile(certFile, []byte("garbage"), 0o600) })
		if err == nil {
			t.Fatal("garbage is replaced silently")
		}
	})
}

func TestUntrustedCertificate(t *testing.T) {
	n, stranger := newNode(t), newNode(t)
	l := n.listen(t, nil)
	_, err := stranger.dialer(t, nil).Dial(within(t), l.Addr().String())
	if info := refusal(t, err); info.Kind != CloseHandshake {
		t.Fatalf("got %+v", info)
	}
	wrongName := n.dialer(t, func(c *DialConfig) { c.ServerName = "broker.example" })
	if _, err := wrongName.Dial(within(t), l.Addr().String()); err == nil {
		t.Fatal("the name is not checked")
	}
	byAddress := n.dialer(t, func(c *DialConfig) { c.ServerName = "127.0.0.1" })
	client, server := connect(t, byAddress, l)
	roundTrip(t, client, server)
}

func TestResetKey(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "by the call")
	first, err := LoadResetKey(dir)
	if err != nil {
		t.Fatal(err)
	}
	second, err := LoadResetKey(dir)
	if err != nil {
		t.Fatal(err)
	}
	if first != second || first == [32]byte{} {
		t.Fatal("the key is not kept")
	}
	checkMode(t, filepath.Join(dir, resetKeyFile))
	if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) != 1 {
		t.Fatalf("left behind: %v", left)
	}
	if err := os.Truncate(filepath.Join(dir, resetKeyFile), 31); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadResetKey(dir); err == nil {
		t.Fatal("a cut key is taken")
	}
	reset, token, err := deriveKeys(first)
	if err != nil || [32]byte(reset) == [32]byte(token) || [32]byte(reset) == first {
		t.Fatalf("derived keys are not independent: %v", err)
	}
}

func checkMode(t *testing.T, path string) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode != 0o600 {
		t.Errorf("%s has mode %o", path, mode)
	}
}
