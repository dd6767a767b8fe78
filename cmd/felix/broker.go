package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/felix-go/felix/dataplane/broker"
)

func newBroker() *cobra.Command {
	s := &settings{}
	c := &cobra.Command{
		Use:   "broker",
		Short: "Run a broker",
		Long: `Run a broker until SIGTERM or SIGINT. Then it drains: readiness goes first, work in flight finishes,
clients are told that the close is deliberate, and the process ends within the drain budget. A second
signal ends the drain at once.

Settings: default < --config file < environment < flag.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			v, err := s.load(c, nil, nil)
			if err != nil {
				return err
			}
			cfg, err := brokerConfig(v)
			if err != nil {
				return err
			}
			cfg.Logger.Info("effective settings", "changed", v.Changed())
			signals := newSignals()
			defer signals.close()
			b, err := broker.Start(c.Context(), cfg)
			if err != nil {
				return &exitError{code: startFailure(err), err: err}
			}
			signals.wait()
			return closeBroker(b, cfg.Logger, signals)
		},
	}
	s.addFlags(c)
	return c
}

// signals delivers the first stop signal and then the second.
type signals struct{ c chan os.Signal }

func newSignals() *signals {
	s := &signals{c: make(chan os.Signal, 2)}
	signal.Notify(s.c, syscall.SIGTERM, os.Interrupt)
	return s
}

func (s *signals) wait()  { <-s.c }
func (s *signals) close() { signal.Stop(s.c) }

// closeBroker drains; a second signal cuts it short.
func closeBroker(b *broker.Broker, log *slog.Logger, s *signals) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-s.c:
			log.Warn("second signal: the drain is cut short")
			cancel()
		case <-ctx.Done():
		}
	}()
	return b.Close(ctx)
}

// startFailure tells a wrong setting from a machine that does not play along.
func startFailure(err error) int {
	if isConfig(err) {
		return exitUsage
	}
	return exitOther
}

// serverGrace is how long the control plane's listener gets to finish requests.
const serverGrace = 5 * time.Second
