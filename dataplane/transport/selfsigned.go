package transport

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

const (
	selfSignedCertFile = "tls-self-signed.pem"
	selfSignedKeyFile  = "tls-self-signed.key"

	selfSignedBackdate = 24 * time.Hour // a client's clock may be behind
	selfSignedYears    = 10
	selfSignedRenew    = 30 * 24 * time.Hour // made anew when less than this is left
)

// SelfSigned returns the certificate that a broker without a configured one uses: made at the first start,
// kept in stateDir, so that clients that trust its file (CAFile) go on doing so after a restart. It is for
// localhost, 127.0.0.1 and ::1, no CA (the real clients refuse a CA as a server's leaf), valid for ten years
// from the day before, and made anew when it is about to expire or its key file is gone. A file that cannot
// be parsed is an error.
func SelfSigned(stateDir string) (*Certificates, error) {
	certFile := filepath.Join(stateDir, selfSignedCertFile)
	keyFile := filepath.Join(stateDir, selfSignedKeyFile)
	now := time.Now()
	usable, err := selfSignedUsable(certFile, keyFile, now)
	if err != nil {
		return nil, err
	}
	if !usable {
		if err := writeSelfSigned(certFile, keyFile, now); err != nil {
			return nil, fmt.Errorf("transport: cannot make a self-signed certificate: %w", err)
		}
	}
	return LoadCertificates(certFile, keyFile)
}

// selfSignedUsable reports whether the files hold a certificate with enough time left. They are written key
// first, so a certificate whose key does not fit comes from a crash between the two and is replaced too.
func selfSignedUsable(certFile, keyFile string, now time.Time) (bool, error) {
	certPEM, err := os.ReadFile(certFile)
	if err == nil {
		_, err = os.Stat(keyFile)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("transport: cannot read the self-signed certificate: %w", err)
	}
	block, _ := pem.Decode(certPEM)
	if block == nil {
		return false, fmt.Errorf("transport: %q holds no certificate; delete it to have one made", certFile)
	}
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return false, fmt.Errorf("transport: cannot parse %q, delete it to have one made: %w", certFile, err)
	}
	return now.Before(leaf.NotAfter.Add(-selfSignedRenew)) && keyFits(leaf, keyFile), nil
}

func keyFits(leaf *x509.Certificate, keyFile string) bool {
	keyPEM, err := os.ReadFile(keyFile)
	if err != nil {
		return false
	}
	block, _ := pem.Decode(keyPEM)
	if block == nil {
		return false
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return false
	}
	private, ok := key.(*ecdsa.PrivateKey)
	return ok && private.PublicKey.Equal(leaf.PublicKey)
}

func writeSelfSigned(certFile, keyFile string, now time.Time) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return err
	}
	notBefore := now.Add(-selfSignedBackdate)
	// No basic constraints: neither they nor IsCA are set.
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: "localhost", Organization: []string{"felix self-signed"}},
		NotBefore:    notBefore,
		NotAfter:     notBefore.AddDate(selfSignedYears, 0, 0),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:     []string{"localhost"},
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})
	if err := writeStateFile(keyFile, keyPEM); err != nil {
		return err
	}
	return writeStateFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}
