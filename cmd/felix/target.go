package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/felix-go/felix/controlplane/client"
	felix "github.com/felix-go/felix/sdk"
)

// target is where a client verb goes and as whom. `felix dev` writes one as a file; --context reads it.
type target struct {
	Addr                  string `yaml:"addr"`
	Tenant                string `yaml:"tenant"`
	Namespace             string `yaml:"namespace"`
	TokenFile             string `yaml:"token_file"`
	CAFile                string `yaml:"ca_file"`
	ServerName            string `yaml:"server_name,omitempty"`
	ControlPlaneURL       string `yaml:"controlplane_url,omitempty"`
	ControlPlaneTokenFile string `yaml:"controlplane_token_file,omitempty"`
	ControlPlaneCAFile    string `yaml:"controlplane_ca_file,omitempty"`
}

// targetFlags are the flags that set a target; each wins over the context file.
type targetFlags struct {
	flags target
	file  string
}

func (t *targetFlags) brokerFlags(c *cobra.Command) {
	f := c.PersistentFlags()
	f.StringVar(&t.file, "context", "", "YAML file with the settings below; felix dev writes one")
	f.StringVar(&t.flags.Addr, "addr", "", "broker address, host:port[,host:port]")
	f.StringVar(&t.flags.Tenant, "tenant", "", "tenant")
	f.StringVarP(&t.flags.Namespace, "namespace", "n", "", "namespace")
	f.StringVar(&t.flags.TokenFile, "token-file", "", "file with the broker token; FELIX_TOKEN holds a token itself")
	f.StringVar(&t.flags.CAFile, "ca-file", "", "PEM file with the certificates to trust")
	f.StringVar(&t.flags.ServerName, "server-name", "", "name in the broker's certificate (default localhost)")
}

func (t *targetFlags) adminFlags(c *cobra.Command) {
	f := c.PersistentFlags()
	if f.Lookup("context") == nil {
		f.StringVar(&t.file, "context", "", "YAML file with the settings below; felix dev writes one")
	}
	if f.Lookup("tenant") == nil {
		f.StringVar(&t.flags.Tenant, "tenant", "", "tenant")
		f.StringVarP(&t.flags.Namespace, "namespace", "n", "", "namespace")
	}
	f.StringVar(&t.flags.ControlPlaneURL, "controlplane-url", "", "control plane, http(s)://host:port")
	f.StringVar(&t.flags.ControlPlaneTokenFile, "controlplane-token-file", "", "file with the operator credential")
	f.StringVar(&t.flags.ControlPlaneCAFile, "controlplane-ca-file", "", "PEM file with the certificates to trust for https")
}

// resolve merges the context file with the flags.
func (t *targetFlags) resolve() (target, error) {
	var out target
	if t.file != "" {
		f, err := os.Open(t.file)
		if err != nil {
			return out, usage("--context: %w", err)
		}
		defer f.Close()
		d := yaml.NewDecoder(f)
		d.KnownFields(true)
		if err := d.Decode(&out); err != nil {
			return out, usage("--context %s: %w", t.file, err)
		}
	}
	for _, p := range []struct {
		to   *string
		from string
	}{{&out.Addr, t.flags.Addr}, {&out.Tenant, t.flags.Tenant}, {&out.Namespace, t.flags.Namespace},
		{&out.TokenFile, t.flags.TokenFile}, {&out.CAFile, t.flags.CAFile}, {&out.ServerName, t.flags.ServerName},
		{&out.ControlPlaneURL, t.flags.ControlPlaneURL}, {&out.ControlPlaneTokenFile, t.flags.ControlPlaneTokenFile},
		{&out.ControlPlaneCAFile, t.flags.ControlPlaneCAFile}} {
		if p.from != "" {
			*p.to = p.from
		}
	}
	return out, nil
}

// need says which setting is missing and how to give it.
func need(value, flag string) error {
	if value == "" {
		return usage("no %s: set --%s, %s or --context", flag, flag, variable(flag))
	}
	return nil
}

// dial connects to the broker.
func (t *targetFlags) dial(ctx context.Context) (*felix.Client, error) {
	to, err := t.resolve()
	if err != nil {
		return nil, err
	}
	for _, n := range [][2]string{{to.Addr, "addr"}, {to.Tenant, "tenant"}, {to.Namespace, "namespace"}} {
		if err := need(n[0], n[1]); err != nil {
			return nil, err
		}
	}
	var opts []felix.Option
	switch token := os.Getenv("FELIX_TOKEN"); {
	case token != "" && t.flags.TokenFile == "":
		opts = append(opts, felix.WithToken(token))
	case to.TokenFile != "":
		opts = append(opts, felix.WithTokenFile(to.TokenFile))
	default:
		return nil, need("", "token-file")
	}
	if to.CAFile != "" {
		opts = append(opts, felix.WithCAFile(to.CAFile))
	}
	if to.ServerName != "" {
		opts = append(opts, felix.WithServerName(to.ServerName))
	}
	return felix.Dial(ctx, "felix://"+to.Addr+"/"+to.Tenant+"/"+to.Namespace, opts...)
}

// controlPlane returns a client of the control plane.
func (t *targetFlags) controlPlane() (*client.Client, target, error) {
	to, err := t.resolve()
	if err != nil {
		return nil, to, err
	}
	if err := need(to.ControlPlaneURL, "controlplane-url"); err != nil {
		return nil, to, err
	}
	if err := need(to.ControlPlaneTokenFile, "controlplane-token-file"); err != nil {
		return nil, to, err
	}
	token, err := readSecret(to.ControlPlaneTokenFile)
	if err != nil {
		return nil, to, err
	}
	c, err := client.New(client.Config{BaseURL: to.ControlPlaneURL, Token: token, CAFile: to.ControlPlaneCAFile})
	return c, to, err
}

// write stores the target for --context, readable by its owner only.
func (t target) write(path string) error {
	b, err := yaml.Marshal(t)
	if err != nil {
		return err
	}
	tmp := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".new")
	if err := os.WriteFile(tmp, b, 0o600); err != nil {
		return fmt.Errorf("cannot write the context file: %w", err)
	}
	return os.Rename(tmp, path)
}
