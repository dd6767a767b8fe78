package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/felix-go/felix/controlplane/api"
	"github.com/felix-go/felix/controlplane/client"
)

func newToken(g *globals) *cobra.Command {
	t := &targetFlags{}
	c := &cobra.Command{Use: "token", Short: "Mint tokens"}
	t.adminFlags(c)
	var principal string
	var permissions []string
	var ttl time.Duration
	mint := &cobra.Command{
		Use:   "mint",
		Short: "Print a broker token for a principal of the tenant",
		Example: `  felix token mint --tenant acme --principal app \
    --permission stream.publish:stream:acme/prod/orders \
    --permission 'cache.read:cache:acme/prod/sessions/user:*' --context dev.yaml`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			out, err := g.format("raw", "json")
			if err != nil {
				return err
			}
			if principal == "" || len(permissions) == 0 {
				return usage("a token needs --principal and at least one --permission action:object")
			}
			return t.admin(g, c, func(ctx context.Context, a *client.Client, to target) error {
				if err := need(to.Tenant, "tenant"); err != nil {
					return err
				}
				r, err := a.Mint(ctx, to.Tenant, api.MintRequest{Principal: principal, Permissions: permissions,
					TTLSeconds: int64(ttl / time.Second)})
				if err != nil {
					return err
				}
				if out == "json" {
					return printJSON(c.OutOrStdout(), r)
				}
				fmt.Fprintln(c.OutOrStdout(), r.FelixToken)
				return nil
			})
		},
	}
	f := mint.Flags()
	f.StringVar(&principal, "principal", "", "who the token is for")
	f.StringArrayVar(&permissions, "permission", nil, "action:object; repeat for more")
	f.DurationVar(&ttl, "ttl", 15*time.Minute, "life of the token")
	c.AddCommand(mint)
	return c
}
