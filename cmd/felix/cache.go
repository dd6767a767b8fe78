package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	felix "github.com/felix-go/felix/sdk"
)

func newCache(g *globals) *cobra.Command {
	t := &targetFlags{}
	c := &cobra.Command{
		Use:   "cache",
		Short: "Put, get and delete keys; create, list and delete caches",
	}
	t.brokerFlags(c)
	t.adminFlags(c)
	c.AddCommand(cachePut(g, t), cacheGet(g, t), cacheDelete(g, t), cacheKeys(g, t), cacheCreate(g, t), cacheList(g, t))
	return c
}

// on runs f with a connected cache.
func (t *targetFlags) on(g *globals, c *cobra.Command, name string, f func(ctx context.Context, k *felix.Cache) error) error {
	ctx, cancel := g.withTimeout(c.Context())
	defer cancel()
	client, err := t.dial(ctx)
	if err != nil {
		return err
	}
	defer client.Close()
	return f(ctx, client.Cache(name))
}

func cachePut(g *globals, t *targetFlags) *cobra.Command {
	var ttl time.Duration
	var ifAbsent bool
	var ifVersion uint64
	c := &cobra.Command{
		Use:   "put CACHE KEY [VALUE]",
		Short: "Store a value; without VALUE, or with -, from standard input",
		Long:  "Store a value. With --if-absent or --if-version a condition that does not hold ends with exit code 4.",
		Args:  cobra.RangeArgs(2, 3),
		RunE: func(c *cobra.Command, args []string) error {
			out, err := g.format("table", "json")
			if err != nil {
				return err
			}
			value, err := argumentOrStdin(args, 2)
			if err != nil {
				return err
			}
			var opts []felix.PutOption
			if c.Flags().Changed("ttl") {
				opts = append(opts, felix.TTL(ttl))
			}
			conditional := ifAbsent || c.Flags().Changed("if-version")
			if ifAbsent && c.Flags().Changed("if-version") {
				return usage("--if-absent and --if-version exclude each other")
			}
			return t.on(g, c, args[0], func(ctx context.Context, k *felix.Cache) error {
				r := felix.PutResult{Applied: true}
				var err error
				switch {
				case ifAbsent:
					r, err = k.PutIf(ctx, args[1], value, felix.IfAbsent(), opts...)
				case conditional:
					r, err = k.PutIf(ctx, args[1], value, felix.IfVersion(ifVersion), opts...)
				default:
					err = k.Put(ctx, args[1], value, opts...)
				}
				if err != nil {
					return err
				}
				return reportPut(c, out, args[1], r, conditional)
			})
		},
	}
	f := c.Flags()
	f.DurationVar(&ttl, "ttl", 0, "let the entry expire after this long, such as 30s")
	f.BoolVar(&ifAbsent, "if-absent", false, "only if the key has no entry")
	f.Uint64Var(&ifVersion, "if-version", 0, "only if the entry still has this version")
	return c
}

func reportPut(c *cobra.Command, format, key string, r felix.PutResult, conditional bool) error {
	w := c.OutOrStdout()
	switch {
	case format == "json":
		v := map[string]any{"key": key, "applied": r.Applied}
		if r.Version != 0 {
			v["version"] = r.Version
		}
		if err := printJSON(w, v); err != nil {
			return err
		}
	case !r.Applied:
		fmt.Fprintf(w, "not stored: %s has version %d\n", key, r.Version)
	case conditional:
		fmt.Fprintf(w, "stored %s, version %d\n", key, r.Version)
	default:
		fmt.Fprintf(w, "stored %s\n", key)
	}
	if !r.Applied {
		return errQuiet
	}
	return nil
}

// argumentOrStdin is args[i], or standard input when it is absent or "-".
func argumentOrStdin(args []string, i int) ([]byte, error) {
	if len(args) > i && args[i] != "-" {
		return []byte(args[i]), nil
	}
	return io.ReadAll(os.Stdin)
}

func cacheGet(g *globals, t *targetFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "get CACHE KEY",
		Short: "Print a value; exit code 3 when there is none",
		Args:  cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			out, err := g.format("table", "json", "raw")
			if err != nil {
				return err
			}
			return t.on(g, c, args[0], func(ctx context.Context, k *felix.Cache) error {
				e, err := k.GetVersioned(ctx, args[1])
				if err != nil {
					return err
				}
				switch out {
				case "json":
					return printJSON(c.OutOrStdout(), map[string]any{"key": args[1], "value": newBlob(e.Value), "version": e.Version})
				case "raw":
					_, err = c.OutOrStdout().Write(e.Value)
				default:
					_, err = fmt.Fprintf(c.OutOrStdout(), "%s\n", e.Value)
				}
				return err
			})
		},
	}
}

func cacheDelete(g *globals, t *targetFlags) *cobra.Command {
	d := &deletion{kind: "cache"}
	c := &cobra.Command{
		Use:   "delete CACHE [KEY]",
		Short: "Delete a key and print the value it had; without KEY, delete the cache itself",
		Args:  cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				d.name = args[0]
				return d.run(g, c, t)
			}
			out, err := g.format("table", "json", "raw")
			if err != nil {
				return err
			}
			return t.on(g, c, args[0], func(ctx context.Context, k *felix.Cache) error {
				value, existed, err := k.Delete(ctx, args[1])
				if err != nil {
					return err
				}
				switch {
				case out == "json":
					v := map[string]any{"key": args[1], "existed": existed}
					if existed {
						v["value"] = newBlob(value)
					}
					return printJSON(c.OutOrStdout(), v)
				case out == "raw":
					_, err = c.OutOrStdout().Write(value)
				case existed:
					_, err = fmt.Fprintf(c.OutOrStdout(), "deleted %s: %s\n", args[1], value)
				default:
					_, err = fmt.Fprintf(c.OutOrStdout(), "%s had no value\n", args[1])
				}
				return err
			})
		},
	}
	d.flags(c)
	return c
}

func cacheKeys(g *globals, t *targetFlags) *cobra.Command {
	var prefix string
	var limit int
	c := &cobra.Command{
		Use:   "keys CACHE",
		Short: "List the keys of a cache in order",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			out, err := g.format("table", "json", "jsonl")
			if err != nil {
				return err
			}
			if limit < 0 {
				return usage("--limit must not be negative")
			}
			return t.on(g, c, args[0], func(ctx context.Context, k *felix.Cache) error {
				keys := []string{}
				n := 0
				for key, err := range k.Keys(ctx, prefix) {
					if err != nil {
						return err
					}
					switch out {
					case "json":
						keys = append(keys, key)
					case "jsonl":
						err = printLine(c.OutOrStdout(), map[string]string{"key": key})
					default:
						_, err = fmt.Fprintln(c.OutOrStdout(), printable(key))
					}
					if err != nil {
						return err
					}
					if n++; n == limit {
						break
					}
				}
				if out == "json" {
					return printJSON(c.OutOrStdout(), keys)
				}
				return nil
			})
		},
	}
	c.Flags().StringVar(&prefix, "prefix", "", "only keys that start with this")
	c.Flags().IntVar(&limit, "limit", 0, "at most that many; 0 lists all")
	return c
}

// printable quotes a key that would disturb a line of its own.
func printable(key string) string {
	if q := strconv.Quote(key); q[1:len(q)-1] != key || key == "" {
		return q
	}
	return key
}

var errNotConfirmed = errors.New("not confirmed")
