package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/felix-go/felix/controlplane/api"
	"github.com/felix-go/felix/controlplane/client"
)

// admin runs f with a client of the control plane.
func (t *targetFlags) admin(g *globals, c *cobra.Command, f func(ctx context.Context, a *client.Client, to target) error) error {
	a, to, err := t.controlPlane()
	if err != nil {
		return err
	}
	defer a.Close()
	ctx, cancel := g.withTimeout(c.Context())
	defer cancel()
	return f(ctx, a, to)
}

// created prints an object that was made.
func created[T any](g *globals, c *cobra.Command, kind, name string, v T) error {
	out, err := g.format("table", "json")
	if err != nil {
		return err
	}
	if out == "json" {
		return printJSON(c.OutOrStdout(), v)
	}
	fmt.Fprintf(c.OutOrStdout(), "created %s %s\n", kind, name)
	return nil
}

// listAll walks the pages of a listing and prints it.
func listAll[T any](g *globals, c *cobra.Command, head []string, row func(T) []string,
	page func(client.ListOptions) (api.List[T], error)) error {
	out, err := g.format("table", "json", "jsonl")
	if err != nil {
		return err
	}
	all := []T{}
	for o := (client.ListOptions{}); ; {
		l, err := page(o)
		if err != nil {
			return err
		}
		all = append(all, l.Items...)
		if o.Cursor = l.NextCursor; o.Cursor == "" {
			break
		}
	}
	switch out {
	case "json":
		return printJSON(c.OutOrStdout(), all)
	case "jsonl":
		for _, v := range all {
			if err := printLine(c.OutOrStdout(), v); err != nil {
				return err
			}
		}
		return nil
	}
	rows := make([][]string, 0, len(all))
	for _, v := range all {
		rows = append(rows, row(v))
	}
	return printTable(c.OutOrStdout(), head, rows)
}

// deleteObject deletes a tenant, namespace, stream or cache, after asking on a terminal; elsewhere it needs --yes.
func (t *targetFlags) deleteObject(g *globals, c *cobra.Command, kind, name string, yes bool) error {
	return t.admin(g, c, func(_ context.Context, a *client.Client, to target) error {
		scope, del := name, func(ctx context.Context) error { return a.DeleteTenant(ctx, name) }
		switch kind {
		case "namespace":
			scope = to.Tenant + "/" + name
			del = func(ctx context.Context) error { return a.DeleteNamespace(ctx, to.Tenant, name) }
		case "stream":
			scope = to.Tenant + "/" + to.Namespace + "/" + name
			del = func(ctx context.Context) error { return a.DeleteStream(ctx, to.Tenant, to.Namespace, name) }
		case "cache":
			scope = to.Tenant + "/" + to.Namespace + "/" + name
			del = func(ctx context.Context) error { return a.DeleteCache(ctx, to.Tenant, to.Namespace, name) }
		}
		if err := needScope(to, kind); err != nil {
			return err
		}
		if err := confirm(c, fmt.Sprintf("delete %s %s and everything in it", kind, scope), yes); err != nil {
			return err
		}
		ctx, cancel := g.withTimeout(c.Context()) // the time to answer is not the request's
		defer cancel()
		if err := del(ctx); err != nil {
			return err
		}
		out, err := g.format("table", "json")
		if err != nil {
			return err
		}
		if out == "json" {
			return printJSON(c.OutOrStdout(), map[string]string{"deleted": kind, "name": scope})
		}
		fmt.Fprintf(c.OutOrStdout(), "deleted %s %s\n", kind, scope)
		return nil
	})
}

// needScope checks that the names around an object of that kind are known.
func needScope(to target, kind string) error {
	if kind == "tenant" {
		return nil
	}
	if err := need(to.Tenant, "tenant"); err != nil || kind == "namespace" {
		return err
	}
	return need(to.Namespace, "namespace")
}

func confirm(c *cobra.Command, what string, yes bool) error {
	if yes {
		return nil
	}
	if !onTerminal(os.Stdin) {
		return usage("to %s without being asked, give --yes", what)
	}
	fmt.Fprintf(c.ErrOrStderr(), "%s? [y/N] ", what)
	answer, _ := bufio.NewReader(os.Stdin).ReadString('\n')
	if a := strings.ToLower(strings.TrimSpace(answer)); a != "y" && a != "yes" {
		return &exitError{code: exitCondition, err: errNotConfirmed}
	}
	return nil
}

// deleteVerb is the delete command of a kind.
func (t *targetFlags) deleteVerb(g *globals, kind string) *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use:   "delete NAME",
		Short: "Delete a " + kind + " and everything in it",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return t.deleteObject(g, c, kind, args[0], yes)
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return c
}

func newTenant(g *globals) *cobra.Command {
	t := &targetFlags{}
	c := &cobra.Command{Use: "tenant", Short: "Create, list and delete tenants"}
	t.adminFlags(c)
	var display string
	create := &cobra.Command{
		Use: "create NAME", Short: "Create a tenant with a signing key of its own", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return t.admin(g, c, func(ctx context.Context, a *client.Client, _ target) error {
				v, err := a.CreateTenant(ctx, api.CreateTenant{TenantID: args[0], DisplayName: display})
				if err != nil {
					return err
				}
				return created(g, c, "tenant", args[0], v)
			})
		},
	}
	create.Flags().StringVar(&display, "display-name", "", "name for people")
	list := &cobra.Command{
		Use: "list", Short: "List tenants", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return t.admin(g, c, func(ctx context.Context, a *client.Client, _ target) error {
				return listAll(g, c, []string{"TENANT", "DISPLAY NAME"},
					func(v api.Tenant) []string { return []string{v.TenantID, v.DisplayName} },
					func(o client.ListOptions) (api.List[api.Tenant], error) { return a.ListTenants(ctx, o) })
			})
		},
	}
	c.AddCommand(create, list, t.deleteVerb(g, "tenant"))
	return c
}

func newNamespace(g *globals) *cobra.Command {
	t := &targetFlags{}
	c := &cobra.Command{Use: "namespace", Short: "Create, list and delete the namespaces of a tenant"}
	t.adminFlags(c)
	var display string
	create := &cobra.Command{
		Use: "create NAME", Short: "Create a namespace", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return t.admin(g, c, func(ctx context.Context, a *client.Client, to target) error {
				if err := needScope(to, "namespace"); err != nil {
					return err
				}
				v, err := a.CreateNamespace(ctx, to.Tenant, api.CreateNamespace{Namespace: args[0], DisplayName: display})
				if err != nil {
					return err
				}
				return created(g, c, "namespace", to.Tenant+"/"+args[0], v)
			})
		},
	}
	create.Flags().StringVar(&display, "display-name", "", "name for people")
	list := &cobra.Command{
		Use: "list", Short: "List the namespaces of a tenant", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return t.admin(g, c, func(ctx context.Context, a *client.Client, to target) error {
				if err := needScope(to, "namespace"); err != nil {
					return err
				}
				return listAll(g, c, []string{"TENANT", "NAMESPACE", "DISPLAY NAME"},
					func(v api.Namespace) []string { return []string{v.TenantID, v.Namespace, v.DisplayName} },
					func(o client.ListOptions) (api.List[api.Namespace], error) {
						return a.ListNamespaces(ctx, to.Tenant, o)
					})
			})
		},
	}
	c.AddCommand(create, list, t.deleteVerb(g, "namespace"))
	return c
}

// number prints a count.
func number[T uint32 | int64](n T) string { return strconv.FormatInt(int64(n), 10) }
