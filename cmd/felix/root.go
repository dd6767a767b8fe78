package main

import (
	"context"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
)

// globals are the flags that every verb has.
type globals struct {
	output  string
	timeout time.Duration
}

func newRoot() *cobra.Command {
	g := &globals{}
	root := &cobra.Command{
		Use:   "felix",
		Short: "Publish, subscribe and cache over one encrypted protocol",
		Long: `felix runs a broker, a control plane, or both, and speaks to them.

Exit codes: 0 done, 1 other failure, 2 wrong usage, 3 not found, 4 condition not met, 5 not allowed,
6 unavailable (try again), 7 outcome unknown (the request may have been applied).

Every flag can be set by its environment variable: --ca-file by FELIX_CA_FILE.`,
		SilenceErrors:     true,
		SilenceUsage:      true,
		Version:           version(),
		PersistentPreRunE: fromEnvironment,
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return usage("%w; see %s --help", err, c.CommandPath()) })
	root.PersistentFlags().StringVarP(&g.output, "output", "o", "", "table, json, jsonl or raw; the default depends on the verb")
	root.PersistentFlags().DurationVar(&g.timeout, "timeout", 10*time.Second, "how long one request may take, connecting included")
	root.AddGroup(&cobra.Group{ID: "run", Title: "Run:"}, &cobra.Group{ID: "data", Title: "Data:"},
		&cobra.Group{ID: "admin", Title: "Administration:"})
	for _, c := range []*cobra.Command{newDev(g), newBroker(), newControlPlane()} {
		c.GroupID = "run"
		root.AddCommand(c)
	}
	for _, c := range []*cobra.Command{newPub(g), newSub(g), newCache(g)} {
		c.GroupID = "data"
		root.AddCommand(c)
	}
	for _, c := range []*cobra.Command{newTenant(g), newNamespace(g), newStream(g), newToken(g)} {
		c.GroupID = "admin"
		root.AddCommand(c)
	}
	checkArguments(root)
	return root
}

// version is the module's version, or the commit the binary was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return "devel-" + s.Value[:min(12, len(s.Value))]
		}
	}
	return "devel"
}

// withTimeout bounds one request.
func (g *globals) withTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, g.timeout)
}

// onTerminal reports whether somebody looks at f.
func onTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
