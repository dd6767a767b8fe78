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

// deletion is one run of a delete verb.
type deletion struct {
	kind, name  string
	yes, dryRun bool
}

// flags adds the flags of deletions to a verb.
func (d *deletion) flags(c *cobra.Command) {
	c.Flags().BoolVar(&d.yes, "yes", false, "do not ask")
	c.Flags().BoolVar(&d.dryRun, "dry-run", false, "only say what would be deleted")
}

// calls returns the object's full name, the call that finds it and the call that deletes it.
func (d *deletion) calls(a *client.Client, to target) (scope string, find, del func(context.Context) error) {
	within := to.Tenant + "/" + to.Namespace + "/" + d.name
	switch d.kind {
	case "namespace":
		return to.Tenant + "/" + d.name,
			func(ctx context.Context) error { _, err := a.Namespace(ctx, to.Tenant, d.name); return err },
			func(ctx context.Context) error { return a.DeleteNamespace(ctx, to.Tenant, d.name) }
	case "stream":
		return within,
			func(ctx context.Context) error { _, err := a.Stream(ctx, to.Tenant, to.Namespace, d.name); return err },
			func(ctx context.Context) error { return a.DeleteStream(ctx, to.Tenant, to.Namespace, d.name) }
	case "cache":
		return within,
			func(ctx context.Context) error { _, err := a.Cache(ctx, to.Tenant, to.Namespace, d.name); return err },
			func(ctx context.Context) error { return a.DeleteCache(ctx, to.Tenant, to.Namespace, d.name) }
	}
	return d.name,
		func(ctx context.Context) error { _, err := a.Tenant(ctx, d.name); return err },
		func(ctx context.Context) error { return a.DeleteTenant(ctx, d.name) }
}

// run deletes a tenant, namespace, stream or cache, after asking on a terminal; elsewhere it needs --yes.
func (d *deletion) run(g *globals, c *cobra.Command, t *targetFlags) error {
	out, err := g.format("table", "json")
	if err != nil {
		return err
	}
	return t.admin(g, c, func(ctx context.Context, a *client.Client, to target) error {
		if err := needScope(to, d.kind); err != nil {
			return err
		}
		scope, find, del := d.calls(a, to)
		done := "deleted"
		if d.dryRun {
			done = "would delete"
			if err := find(ctx); err != nil {
				return err
			}
		} else {
			if err := confirm(c, fmt.Sprintf("delete %s %s and everything in it", d.kind, scope), d.yes); err != nil {
				return err
			}
			ctx, cancel := g.withTimeout(c.Context()) // the time it took to answer is not the request's
			defer cancel()
			if err := del(ctx); err != nil {
				return err
			}
		}
		if out == "json" {
			return printJSON(c.OutOrStdout(), map[string]any{"kind": d.kind, "name": scope, "deleted": !d.dryRun})
		}
		fmt.Fprintf(c.OutOrStdout(), "%s %s %s\n", done, d.kind, scope)
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
	d := &deletion{kind: kind}
	c := &cobra.Command{
		Use:   "delete NAME",
		Short: "Delete a " + kind + " and everything in it",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			d.name = args[0]
			return d.run(g, c, t)
		},
	}
	d.flags(c)
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
