package server

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/felix-go/felix/internal/clock"
)

// certificateCheck is how often the files are looked at, at most: by the next handshake after it.
const certificateCheck = 5 * time.Second

// certificates serves the newest usable pair of two PEM files. Files are compared by content, because
// secrets are often swapped through links that keep their times.
type certificates struct {
	certFile, keyFile string
	clock             clock.Clock
	log               *slog.Logger

	mu        sync.Mutex    // guards the following
	checked   time.Duration // monotonic time of the last look
	certPEM   []byte
	keyPEM    []byte
	current   *tls.Certificate
	lastFault string
}

func loadCertificates(cfg Config) (*certificates, error) {
	c := &certificates{certFile: cfg.CertFile, keyFile: cfg.KeyFile, clock: cfg.Clock, log: cfg.Logger}
	if err := c.reload(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	c.checked = c.clock.Monotonic()
	return c, nil
}

// certificate is tls.Config.GetCertificate. A pair that cannot be read leaves the previous one in use.
func (c *certificates) certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.clock.Monotonic(); now-c.checked >= certificateCheck {
		c.checked = now
		c.recheck()
	}
	return c.current, nil
}

func (c *certificates) recheck() {
	fault := ""
	if err := c.reload(); err != nil {
		fault = err.Error()
	}
	if fault != "" && fault != c.lastFault {
		c.log.Warn("cannot take over the new TLS certificate, keeping the old one", "err", fault)
	}
	c.lastFault = fault
}

func (c *certificates) reload() error {
	certPEM, err := os.ReadFile(c.certFile)
	if err != nil {
		return fmt.Errorf("cannot read the TLS certificate: %w", err)
	}
	keyPEM, err := os.ReadFile(c.keyFile)
	if err != nil {
		return fmt.Errorf("cannot read the TLS key: %w", err)
	}
	if c.current != nil && bytes.Equal(certPEM, c.certPEM) && bytes.Equal(keyPEM, c.keyPEM) {
		return nil
	}
	pair, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		return fmt.Errorf("cannot use %q with %q: %w", c.certFile, c.keyFile, err)
	}
	c.certPEM, c.keyPEM, c.current = certPEM, keyPEM, &pair
	return nil
}
