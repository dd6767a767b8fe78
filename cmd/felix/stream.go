package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/felix-go/felix/controlplane/api"
	"github.com/felix-go/felix/controlplane/client"
)

func newStream(g *globals) *cobra.Command {
	t := &targetFlags{}
	c := &cobra.Command{Use: "stream", Short: "Create, list and delete streams"}
	t.adminFlags(c)
	var shards uint32
	create := &cobra.Command{
		Use: "create NAME", Short: "Create an in-memory stream", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return t.admin(g, c, func(ctx context.Context, a *client.Client, to target) error {
				if err := needScope(to, "stream"); err != nil {
					return err
				}
				v, err := a.CreateStream(ctx, to.Tenant, to.Namespace, api.CreateStream{Stream: args[0], Shards: shards})
				if err != nil {
					return err
				}
				return created(g, c, "stream", to.Tenant+"/"+to.Namespace+"/"+args[0], v)
			})
		},
	}
	create.Flags().Uint32Var(&shards, "shards", 1, "shards; fixed for the stream's life")
	list := &cobra.Command{
		Use: "list", Short: "List the streams of a namespace", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return t.admin(g, c, func(ctx context.Context, a *client.Client, to target) error {
				if err := needScope(to, "stream"); err != nil {
					return err
				}
				return listAll(g, c, []string{"TENANT", "NAMESPACE", "STREAM", "SHARDS", "ROUTING"},
					func(v api.Stream) []string {
						return []string{v.TenantID, v.Namespace, v.Stream, number(v.Shards), string(v.Routing)}
					},
					func(o client.ListOptions) (api.List[api.Stream], error) {
						return a.ListStreams(ctx, to.Tenant, to.Namespace, o)
					})
			})
		},
	}
	c.AddCommand(create, list, t.deleteVerb(g, "stream"))
	return c
}

func cacheCreate(g *globals, t *targetFlags) *cobra.Command {
	var shards uint32
	c := &cobra.Command{
		Use: "create NAME", Short: "Create an in-memory cache", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return t.admin(g, c, func(ctx context.Context, a *client.Client, to target) error {
				if err := needScope(to, "cache"); err != nil {
					return err
				}
				v, err := a.CreateCache(ctx, to.Tenant, to.Namespace, api.CreateCache{Cache: args[0], Shards: shards})
				if err != nil {
					return err
				}
				return created(g, c, "cache", to.Tenant+"/"+to.Namespace+"/"+args[0], v)
			})
		},
	}
	c.Flags().Uint32Var(&shards, "shards", 1, "shards; fixed for the cache's life")
	return c
}

func cacheList(g *globals, t *targetFlags) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the caches of a namespace", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return t.admin(g, c, func(ctx context.Context, a *client.Client, to target) error {
				if err := needScope(to, "cache"); err != nil {
					return err
				}
				return listAll(g, c, []string{"TENANT", "NAMESPACE", "CACHE", "SHARDS"},
					func(v api.Cache) []string {
						return []string{v.TenantID, v.Namespace, v.Cache, number(v.Shards)}
					},
					func(o client.ListOptions) (api.List[api.Cache], error) {
						return a.ListCaches(ctx, to.Tenant, to.Namespace, o)
					})
			})
		},
	}
}
