package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	felix "github.com/felix-go/felix/sdk"
)

func newPub(g *globals) *cobra.Command {
	t := &targetFlags{}
	var key, ack, file string
	var count int
	c := &cobra.Command{
		Use:   "pub STREAM [MESSAGE]",
		Short: "Publish a message, a file, or the lines of standard input",
		Example: `  felix pub orders 'hello' --context dev.yaml
  tail -f app.log | felix pub logs --ack none --context dev.yaml`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			out, err := g.format("table", "json")
			if err != nil {
				return err
			}
			mode, ok := map[string]felix.AckMode{"per_message": felix.AckPerMessage, "per_batch": felix.AckPerBatch, "none": felix.AckNone}[ack]
			if !ok {
				return usage("--ack %q: want per_message, per_batch or none", ack)
			}
			if count < 1 || len(args) == 2 && file != "" {
				return usage("--count must be positive, and a message comes from the argument or from --file, not both")
			}
			opts := []felix.PublishOption{felix.WithAck(mode)}
			if c.Flags().Changed("key") {
				opts = append(opts, felix.Key(key))
			}
			ctx, cancel := g.withTimeout(c.Context())
			defer cancel()
			client, err := t.dial(ctx)
			if err != nil {
				return err
			}
			defer client.Close()
			p := publication{g: g, client: client, stream: args[0], opts: opts}
			switch {
			case file != "":
				b, err := os.ReadFile(file)
				if err != nil {
					return usage("--file: %w", err)
				}
				err = p.repeat(c, b, count)
				if err != nil {
					return err
				}
			case len(args) == 2 && args[1] != "-":
				if err := p.repeat(c, []byte(args[1]), count); err != nil {
					return err
				}
			default:
				if err := p.lines(c, os.Stdin); err != nil {
					return err
				}
			}
			if out == "json" {
				return printJSON(c.OutOrStdout(), map[string]any{"stream": args[0], "published": p.n, "ack": ack})
			}
			fmt.Fprintf(c.OutOrStdout(), "published %d to %s\n", p.n, args[0])
			return nil
		},
	}
	t.brokerFlags(c)
	f := c.Flags()
	f.StringVar(&key, "key", "", "routing key: messages of one key keep their order and share a shard")
	f.StringVar(&ack, "ack", "per_message", "per_message, per_batch or none")
	f.IntVar(&count, "count", 1, "send the message that many times")
	f.StringVar(&file, "file", "", "send the whole file as one message")
	return c
}

// publication sends the messages of one run.
type publication struct {
	g      *globals
	client *felix.Client
	stream string
	opts   []felix.PublishOption
	n      int
}

func (p *publication) send(c *cobra.Command, message []byte) error {
	ctx, cancel := p.g.withTimeout(c.Context())
	defer cancel()
	if _, err := p.client.Publish(ctx, p.stream, message, p.opts...); err != nil {
		return err
	}
	p.n++
	return nil
}

func (p *publication) repeat(c *cobra.Command, message []byte, count int) error {
	for range count {
		if err := p.send(c, message); err != nil {
			return err
		}
	}
	return nil
}

// maxLine is the longest line of standard input taken as a message; a message fits a frame of 16 MiB.
const maxLine = 15 << 20

func (p *publication) lines(c *cobra.Command, in io.Reader) error {
	s := bufio.NewScanner(in)
	s.Buffer(nil, maxLine)
	for s.Scan() {
		if err := p.send(c, s.Bytes()); err != nil {
			return err
		}
	}
	if errors.Is(s.Err(), bufio.ErrTooLong) {
		return usage("a line is longer than %d bytes; send files with --file", maxLine)
	}
	return s.Err()
}
