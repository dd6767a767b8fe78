package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/felix-go/felix/controlplane/server"
	"github.com/felix-go/felix/controlplane/store"
	"github.com/felix-go/felix/dataplane/broker"
)

// controlPlane is a running control plane.
type controlPlane struct {
	store  *store.Store
	server *server.Server
	token  string
}

// controlPlaneConfig says how to run one.
type controlPlaneConfig struct {
	stateDir, dataDir string
	etcd              []string
	bind              string
	cert, key         string
	log               *slog.Logger
}

func startControlPlane(ctx context.Context, cfg controlPlaneConfig) (*controlPlane, error) {
	token, err := server.LoadOperatorToken(cfg.stateDir)
	if err != nil {
		return nil, err
	}
	sc := store.Config{Endpoints: cfg.etcd, Logger: cfg.log}
	if len(cfg.etcd) == 0 {
		sc.DataDir = cfg.dataDir
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	p := &controlPlane{token: token}
	if p.store, err = store.Open(ctx, sc); err != nil {
		return nil, err
	}
	p.server, err = server.Start(server.Config{Store: p.store, OperatorToken: token, Bind: cfg.bind, CertFile: cfg.cert,
		KeyFile: cfg.key, Logger: cfg.log})
	if err != nil {
		p.store.Close()
		return nil, err
	}
	return p, nil
}

func (p *controlPlane) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), serverGrace)
	defer cancel()
	err := p.server.Close(ctx)
	p.store.Close()
	return err
}

func newControlPlane() *cobra.Command {
	cfg := controlPlaneConfig{}
	c := &cobra.Command{
		Use:   "controlplane",
		Short: "Run the control plane: metadata, signing keys and tokens",
		Long: `Run the control plane until SIGTERM or SIGINT. It keeps its state in an embedded etcd member under
--data-dir, or in the cluster of --etcd-endpoints. The operator credential is the file operator-token
in --state-dir; it is made at the first start.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if cfg.stateDir == "" {
				return need("", "state-dir")
			}
			if cfg.dataDir == "" {
				cfg.dataDir = filepath.Join(cfg.stateDir, "etcd")
			}
			cfg.log = slog.New(slog.NewTextHandler(os.Stderr, nil))
			signals := newSignals()
			defer signals.close()
			p, err := startControlPlane(c.Context(), cfg)
			if err != nil {
				return &exitError{code: startFailure(err), err: fmt.Errorf("controlplane: %w", err)}
			}
			signals.wait()
			return p.close()
		},
	}
	f := c.Flags()
	f.StringVar(&cfg.stateDir, "state-dir", "", "directory of the operator credential")
	f.StringVar(&cfg.dataDir, "data-dir", "", "directory of the embedded etcd member (default etcd in --state-dir)")
	f.StringSliceVar(&cfg.etcd, "etcd-endpoints", nil, "client addresses of an existing etcd cluster instead of the embedded member")
	f.StringVar(&cfg.bind, "bind", "127.0.0.1:8443", "address of the API; tokens are minted on loopback addresses only")
	f.StringVar(&cfg.cert, "tls-cert", "", "PEM certificate; with --tls-key the API is served over TLS")
	f.StringVar(&cfg.key, "tls-key", "", "PEM key of --tls-cert")
	return c
}

// isConfig reports whether a start failed because of a setting.
func isConfig(err error) bool {
	return errors.Is(err, broker.ErrConfig) || errors.Is(err, server.ErrConfig) || errors.Is(err, store.ErrConfig)
}
