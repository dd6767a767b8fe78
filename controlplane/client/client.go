package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/felix-go/felix/controlplane/api"
)

// Limits on what the client reads, in bytes. Feeds carry whole snapshots.
const (
	maxAnswerBytes = 32 << 20
	maxFeedBytes   = 1 << 30
	maxJWKSBytes   = 64 << 10
	maxErrorBytes  = 64 << 10
)

// Config says where the control plane is and who asks.
type Config struct {
	// BaseURL is scheme, host and port, for example https://10.0.0.1:8443. Required.
	BaseURL string
	// Token is the bearer credential. Empty sends none, which is enough for JWKS and probes.
	Token string
	// CAFile is a PEM file of the certificates to trust instead of the system's.
	CAFile string
	// HTTP replaces the HTTP client. Its timeout, if any, must exceed the longest wait of a feed.
	HTTP *http.Client
}

// Client talks to one control plane address. It is safe for concurrent use.
type Client struct {
	base  string
	token string
	http  *http.Client
}

// New checks the configuration and returns a client. It connects to nothing.
func New(cfg Config) (*Client, error) {
	base, err := url.Parse(cfg.BaseURL)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" || base.User != nil {
		// The address is not repeated: somebody may have put a password into it.
		return nil, fmt.Errorf("%w: BaseURL must be http(s)://host:port, without a user", ErrConfig)
	}
	if cfg.HTTP != nil && cfg.CAFile != "" {
		return nil, fmt.Errorf("%w: CAFile has no effect on a given HTTP client", ErrConfig)
	}
	hc := cfg.HTTP
	if hc == nil {
		if hc, err = newHTTPClient(cfg.CAFile); err != nil {
			return nil, err
		}
	}
	return &Client{base: strings.TrimSuffix(base.String(), "/"), token: cfg.Token, http: hc}, nil
}

func newHTTPClient(caFile string) (*http.Client, error) {
	conf := &tls.Config{MinVersion: tls.VersionTLS12}
	if caFile != "" {
		pem, err := os.ReadFile(caFile)
		if err != nil {
			return nil, fmt.Errorf("%w: cannot read CAFile: %w", ErrConfig, err)
		}
		conf.RootCAs = x509.NewCertPool()
		if !conf.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%w: CAFile %q holds no certificate", ErrConfig, caFile)
		}
	}
	tr := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		TLSClientConfig:       conf,
		TLSHandshakeTimeout:   5 * time.Second,
		ResponseHeaderTimeout: maxFeedWait + 15*time.Second,
		MaxIdleConnsPerHost:   8,
		IdleConnTimeout:       30 * time.Second,
		ForceAttemptHTTP2:     true,
	}
	// A redirect would carry the credential to another path or host, and the API sends none.
	noRedirect := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &http.Client{Transport: tr, CheckRedirect: noRedirect}, nil
}

// Close drops idle connections. Requests in flight go on.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Ready asks the readiness probe. A nil error means the instance may take traffic.
func (c *Client) Ready(ctx context.Context) error {
	return c.do(ctx, http.MethodGet, "/v1/system/ready", nil, nil, maxErrorBytes)
}

// do sends one request with body as JSON, and decodes a successful answer into out.
func (c *Client) do(ctx context.Context, method, path string, body, out any, limit int64) error {
	var rd io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("cannot encode the body of %s %s: %w", method, path, err)
		}
		rd = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, rd)
	if err != nil {
		return fmt.Errorf("cannot build %s %s: %w", method, path, err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("cannot reach the control plane: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return readError(resp)
	}
	return readAnswer(resp.Body, out, limit)
}

func readAnswer(body io.Reader, out any, limit int64) error {
	b, err := io.ReadAll(io.LimitReader(body, limit+1))
	if err != nil {
		return fmt.Errorf("cannot read the answer: %w", err)
	}
	if int64(len(b)) > limit {
		return fmt.Errorf("%w: more than %d bytes", ErrAnswerTooLarge, limit)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(b, out); err != nil {
		return fmt.Errorf("%w: %w", ErrBadAnswer, err)
	}
	return nil
}

func readError(resp *http.Response) error {
	b, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBytes))
	var e api.Error
	if json.Unmarshal(b, &e) != nil || e.Code == "" {
		return &Error{Status: resp.StatusCode, Message: http.StatusText(resp.StatusCode)}
	}
	return &Error{Status: resp.StatusCode, Code: e.Code, Message: e.Message}
}

// pathOf joins percent-encoded segments under /v1, so that no name can reach another endpoint.
func pathOf(segments ...string) string {
	var b strings.Builder
	b.WriteString("/v1")
	for _, s := range segments {
		b.WriteByte('/')
		b.WriteString(url.PathEscape(s))
	}
	return b.String()
}
