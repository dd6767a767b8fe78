package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/felix-go/felix/controlplane/api"
	"github.com/felix-go/felix/controlplane/client"
	"github.com/felix-go/felix/dataplane/broker"
)

// What felix dev makes at its first start.
const (
	devTenant    = "dev"
	devNamespace = "default"
	devStream    = "demo"
	devCache     = "demo"
	devTokenLife = 30 * 24 * time.Hour
)

var devPermissions = []string{"stream.publish:stream:" + devTenant + "/*/*", "stream.subscribe:stream:" + devTenant + "/*/*",
	"cache.read:cache:" + devTenant + "/*/*", "cache.write:cache:" + devTenant + "/*/*"}

func newDev(g *globals) *cobra.Command {
	s := &settings{}
	var stateDir, dataDir, cpBind string
	c := &cobra.Command{
		Use:   "dev",
		Short: "Run a broker and a control plane in one process, ready to use",
		Long: `Run a broker and a control plane in one process with nothing to configure: a tenant, a stream and a
cache are there, and the commands to use them are printed. Metadata, certificate, keys and the token
are kept in --state-dir; messages and cache entries are in memory.

Everything listens on loopback. For anything else run felix controlplane and felix broker.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			stateDir, err := absolute(stateDir)
			if err != nil {
				return err
			}
			if dataDir == "" {
				dataDir = filepath.Join(stateDir, "etcd")
			}
			d := &development{g: g, cmd: c, s: s, stateDir: stateDir, dataDir: dataDir, cpBind: cpBind}
			return d.run()
		},
	}
	f := c.Flags()
	f.StringVar(&stateDir, "state-dir", defaultStateDir(), "directory of certificate, keys, token and metadata")
	f.StringVar(&dataDir, "data-dir", "", "directory of the embedded etcd member (default etcd in --state-dir)")
	f.StringVar(&cpBind, "controlplane-bind", "127.0.0.1:8443", "address of the control plane API, loopback only")
	s.addFlags(c, "state_dir", "controlplane_url", "controlplane_ca", "controlplane_token_file")
	return c
}

// defaultStateDir is where the state of felix dev lives without --state-dir.
func defaultStateDir() string {
	if dir := os.Getenv("XDG_STATE_HOME"); dir != "" {
		return filepath.Join(dir, "felix-dev")
	}
	if home, err := os.UserHomeDir(); err == nil {
		return filepath.Join(home, ".local", "state", "felix-dev")
	}
	return filepath.Join(os.TempDir(), "felix-dev")
}

func absolute(dir string) (string, error) {
	if dir == "" {
		return "", usage("--state-dir is empty")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("--state-dir: %w", err)
	}
	return dir, nil
}

// development is one run of felix dev.
type development struct {
	g                         *globals
	cmd                       *cobra.Command
	s                         *settings
	stateDir, dataDir, cpBind string
}

func (d *development) run() error {
	v, err := d.s.load(d.cmd, map[string]string{"quic_bind": "127.0.0.1:5000", "metrics_bind": "127.0.0.1:8080", "log_level": "error"},
		map[string]string{"state_dir": d.stateDir, "controlplane_url": "", "controlplane_ca": "", "controlplane_token_file": ""})
	if err != nil {
		return err
	}
	cfg, err := brokerConfig(v)
	if err != nil {
		return err
	}
	signals := newSignals()
	defer signals.close()
	p, err := startControlPlane(d.cmd.Context(), controlPlaneConfig{stateDir: d.stateDir, dataDir: d.dataDir, bind: d.cpBind, log: cfg.Logger})
	if err != nil {
		return &exitError{code: startFailure(err), err: hint(err, "controlplane-bind")}
	}
	defer p.close()
	cfg.ControlPlaneURL, cfg.ControlPlaneToken = p.server.URL(), p.token
	b, err := broker.Start(d.cmd.Context(), cfg)
	if err != nil {
		return &exitError{code: startFailure(err), err: hint(err, "quic-bind or --metrics-bind")}
	}
	to, token, err := d.prepare(p, b)
	if err == nil {
		err = d.announce(d.cmd.OutOrStdout(), b, to, token)
	}
	if err != nil {
		b.Close(context.Background())
		return err
	}
	signals.wait()
	fmt.Fprintln(d.cmd.ErrOrStderr(), "felix: draining; another interrupt ends at once")
	return closeBroker(b, cfg.Logger, signals)
}

// hint names the flag to turn when an address is taken.
func hint(err error, flag string) error {
	if strings.Contains(err.Error(), "address already in use") {
		return fmt.Errorf("%w; choose another with --%s, port 0 takes a free one", err, flag)
	}
	return err
}

// prepare makes the tenant, its stream and cache, mints a token and writes the context file.
func (d *development) prepare(p *controlPlane, b *broker.Broker) (target, string, error) {
	ctx, cancel := context.WithTimeout(d.cmd.Context(), 30*time.Second)
	defer cancel()
	a, err := client.New(client.Config{BaseURL: p.server.URL(), Token: p.token})
	if err != nil {
		return target{}, "", err
	}
	defer a.Close()
	_, e1 := a.CreateTenant(ctx, api.CreateTenant{TenantID: devTenant})
	_, e2 := a.CreateNamespace(ctx, devTenant, api.CreateNamespace{Namespace: devNamespace})
	_, e3 := a.CreateStream(ctx, devTenant, devNamespace, api.CreateStream{Stream: devStream})
	_, e4 := a.CreateCache(ctx, devTenant, devNamespace, api.CreateCache{Cache: devCache})
	for _, err := range []error{e1, e2, e3, e4} {
		if err != nil && !client.IsConflict(err) { // a conflict means that an earlier run made it
			return target{}, "", err
		}
	}
	r, err := a.Mint(ctx, devTenant, api.MintRequest{Principal: "developer", Permissions: devPermissions, TTLSeconds: int64(devTokenLife / time.Second)})
	if err != nil {
		return target{}, "", err
	}
	to := target{Addr: b.DialAddr(), Tenant: devTenant, Namespace: devNamespace, CAFile: b.CAFile(),
		TokenFile: filepath.Join(d.stateDir, "token"), ControlPlaneURL: p.server.URL(),
		ControlPlaneTokenFile: filepath.Join(d.stateDir, "operator-token")}
	if err := writeSecret(to.TokenFile, r.FelixToken); err != nil {
		return to, "", fmt.Errorf("cannot write the token: %w", err)
	}
	if err := to.write(d.contextFile()); err != nil {
		return to, "", err
	}
	if err := b.Ready(ctx); err != nil {
		return to, "", fmt.Errorf("the broker did not load its metadata: %w", err)
	}
	return to, r.FelixToken, waitFor(ctx, func() bool {
		return b.Catalog().Stream([]byte(devTenant), []byte(devNamespace), []byte(devStream)) != nil &&
			b.Catalog().Cache([]byte(devTenant), []byte(devNamespace), []byte(devCache)) != nil
	})
}

// waitFor looks every few milliseconds until ok or ctx ends.
func waitFor(ctx context.Context, ok func() bool) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return errors.New("the broker did not learn of the demo stream and cache in time")
		}
	}
	return nil
}

func (d *development) contextFile() string { return filepath.Join(d.stateDir, "context.yaml") }

// announcement is what felix dev prints with -o json.
type announcement struct {
	Addr         string   `json:"addr"`
	Admin        string   `json:"admin"`
	ControlPlane string   `json:"controlplane"`
	CAFile       string   `json:"ca_file"`
	TokenFile    string   `json:"token_file"`
	ContextFile  string   `json:"context_file"`
	Token        string   `json:"token"`
	Tenant       string   `json:"tenant"`
	Namespace    string   `json:"namespace"`
	Commands     []string `json:"commands"`
}

func (d *development) announce(w io.Writer, b *broker.Broker, to target, token string) error {
	self, err := os.Executable()
	if err != nil {
		self = "felix"
	}
	run := func(args string) string { return quote(self) + " " + args + " --context " + quote(d.contextFile()) }
	a := announcement{Addr: to.Addr, Admin: b.AdminAddr(), ControlPlane: to.ControlPlaneURL, CAFile: to.CAFile,
		TokenFile: to.TokenFile, ContextFile: d.contextFile(), Token: token, Tenant: to.Tenant, Namespace: to.Namespace,
		Commands: []string{
			run("pub " + devStream + " 'hello, felix'"),
			run("sub " + devStream + " --from earliest --count 1"),
			run("cache put "+devCache+" greeting hello") + " && " + run("cache get "+devCache+" greeting"),
		}}
	out, err := d.g.format("table", "json")
	if err != nil {
		return err
	}
	if out == "json" {
		return printJSON(w, a)
	}
	fmt.Fprintf(w, `felix is up: one broker and its control plane, everything in memory.

  address       %s
  CA file       %s
  token file    %s
  token         %s
  tenant        %s, namespace %s, stream %s, cache %s
  health        http://%s/ready   metrics http://%s/metrics

Paste into another terminal:

`, a.Addr, a.CAFile, a.TokenFile, a.Token, a.Tenant, a.Namespace, devStream, devCache, a.Admin, a.Admin)
	for _, c := range a.Commands {
		fmt.Fprintf(w, "  %s\n", c)
	}
	_, err = fmt.Fprintf(w, "\nInterrupt (Ctrl-C) to stop. State is kept in %s\n", d.stateDir)
	return err
}

// quote makes a path one word of a shell.
func quote(s string) string {
	if strings.ContainsAny(s, " \t\n\"'`$&|;<>()*?[]#~\\") {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return s
}
