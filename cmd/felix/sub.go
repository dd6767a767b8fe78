package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/spf13/cobra"

	felix "github.com/felix-go/felix/sdk"
)

func newSub(g *globals) *cobra.Command {
	t := &targetFlags{}
	var from string
	var shard uint32
	var count int
	c := &cobra.Command{
		Use:   "sub STREAM",
		Short: "Print the messages of a stream as they come",
		Long: `Print the messages of a stream as they come, one per line.

An interrupt ends it with exit code 0 and a summary. With -o raw messages are written byte for byte
with nothing between them.`,
		Example: `  felix sub orders --context dev.yaml
  felix sub orders --from earliest --count 10 -o jsonl --context dev.yaml`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			out, err := g.format("table", "jsonl", "raw")
			if err != nil {
				return err
			}
			start, err := startOption(from)
			if err != nil {
				return err
			}
			if count < 0 {
				return usage("--count must not be negative")
			}
			dctx, cancel := g.withTimeout(c.Context())
			defer cancel()
			client, err := t.dial(dctx)
			if err != nil {
				return err
			}
			defer client.Close()
			sub, err := client.Subscribe(dctx, args[0], start, felix.Shard(shard))
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			n, err := printEvents(ctx, c.OutOrStdout(), sub, out, count)
			if ctx.Err() != nil {
				err = nil
			}
			fmt.Fprintf(c.ErrOrStderr(), "received %d from %s\n", n, args[0])
			if errors.Is(err, syscall.EPIPE) {
				return nil // whoever read our output has seen enough
			}
			return err
		},
	}
	t.brokerFlags(c)
	f := c.Flags()
	f.StringVar(&from, "from", "latest", "latest, earliest or an offset")
	f.Uint32Var(&shard, "shard", 0, "shard of the stream")
	f.IntVar(&count, "count", 0, "end after that many messages; 0 goes on")
	return c
}

func startOption(from string) (felix.SubscribeOption, error) {
	switch from {
	case "latest":
		return felix.FromLatest(), nil
	case "earliest":
		return felix.FromEarliest(), nil
	}
	n, err := strconv.ParseUint(from, 10, 64)
	if err != nil {
		return nil, usage("--from %q: want latest, earliest or an offset", from)
	}
	return felix.FromOffset(n), nil
}

func printEvents(ctx context.Context, w io.Writer, sub *felix.Subscription, format string, count int) (n int, err error) {
	for ev, err := range sub.Events(ctx) {
		if err != nil {
			return n, err
		}
		switch format {
		case "raw":
			_, err = w.Write(ev.Payload)
		case "jsonl":
			line := map[string]any{"stream": ev.Stream, "payload": newBlob(ev.Payload)}
			if ev.HasOffset {
				line["offset"] = ev.Offset
			}
			err = printLine(w, line)
		default:
			_, err = fmt.Fprintf(w, "%s\n", ev.Payload)
		}
		if err != nil {
			return n, err
		}
		if n++; n == count {
			return n, nil
		}
	}
	return n, nil
}
