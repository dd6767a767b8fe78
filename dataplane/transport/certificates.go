package transport

import (
	"crypto/sha256"
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// certificateCheck is how often the files are looked at again, at most: on the first handshake after it.
const certificateCheck = 30 * time.Second

// Certificates is the server certificate of a broker and what follows from it for handshakes.
//
// The files are read again when they changed. Nothing runs for that: a handshake that comes 30 seconds after
// the last look takes another one, so a rotation is in force for the first handshake after it plus 30 seconds
// at most, and Reload makes it so at once. Files that cannot be used (half written, key of another
// certificate) leave the certificate in force and are reported.
//
// Each certificate has one pair of TLS configurations that all its handshakes share, because clients resume
// sessions: a configuration made per handshake could not read their tickets, and the one of an earlier
// certificate must not, or a resumed client would never see the new one. So the pair changes when, and only
// when, the certificate does.
type Certificates struct {
	certFile string
	keyFile  string
	caFile   string
	pair     atomic.Pointer[configPair]
	logger   atomic.Pointer[slog.Logger]

	mu       sync.Mutex        // guards the following; held while files are read
	checksum [sha256.Size]byte // of the files that pair was made of
	lastErr  string            // of the last look, so that it is reported once

	nextCheck atomic.Int64 // time.Since(start) in nanoseconds
	start     time.Time
}

// LoadCertificates reads a PEM certificate chain, leaf first, and its PEM key.
func LoadCertificates(certFile, keyFile string) (*Certificates, error) {
	c := &Certificates{certFile: certFile, keyFile: keyFile, caFile: certFile, start: time.Now()}
	if err := c.Reload(); err != nil {
		return nil, err
	}
	return c, nil
}

// CAFile returns the path of the PEM file that a client has to trust. For a self-signed certificate that is
// the certificate itself; for one of a CA it is only right if the client trusts the chain's file, which real
// clients do not: there it is the CA's own file that they need.
func (c *Certificates) CAFile() string { return c.caFile }

// Reload reads the files now. On error the certificate in force stays.
func (c *Certificates) Reload() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reloadLocked()
}

func (c *Certificates) reloadLocked() error {
	c.nextCheck.Store(int64(time.Since(c.start) + certificateCheck))
	certPEM, err := os.ReadFile(c.certFile)
	if err != nil {
		return fmt.Errorf("transport: cannot read the certificate: %w", err)
	}
	keyPEM, err := os.ReadFile(c.keyFile)
	if err != nil {
		return fmt.Errorf("transport: cannot read the key: %w", err)
	}
	hash := sha256.New()
	fmt.Fprintf(hash, "%d\n", len(certPEM))
	hash.Write(certPEM)
	hash.Write(keyPEM)
	checksum := [sha256.Size]byte(hash.Sum(nil))
	if checksum == c.checksum {
		return nil
	}
	certificate, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		return fmt.Errorf("transport: cannot use certificate %q with key %q: %w", c.certFile, c.keyFile, err)
	}
	c.checksum = checksum
	c.pair.Store(newConfigPair(certificate))
	return nil
}

// current returns the configurations in force, after a look at the files if one is due.
func (c *Certificates) current() *configPair {
	due := int64(time.Since(c.start)) >= c.nextCheck.Load()
	if due && c.mu.TryLock() { // one handshake looks, the others go on
		c.lookLocked()
		c.mu.Unlock()
	}
	return c.pair.Load()
}

func (c *Certificates) lookLocked() {
	before, text := c.pair.Load(), ""
	if err := c.reloadLocked(); err != nil {
		text = err.Error()
	}
	if logger := c.logger.Load(); logger != nil {
		switch {
		case text != "" && text != c.lastErr:
			logger.Warn("certificate not reloaded, the one in force stays", "error", text)
		case c.pair.Load() != before:
			logger.Info("certificate reloaded", "file", c.certFile)
		}
	}
	c.lastErr = text
}
