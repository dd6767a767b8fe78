package knob

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite the reference page")

func load(t *testing.T, s Sources) *Values {
	t.Helper()
	v, err := Load(s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "felix.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTableIsComplete(t *testing.T) {
	names, envs := map[string]bool{}, map[string]bool{}
	for _, k := range All() {
		if names[k.Name] || envs[k.Env] {
			t.Errorf("%s or %s is there twice", k.Name, k.Env)
		}
		names[k.Name], envs[k.Env] = true, true
		if len(k.Text) < 10 || !strings.HasPrefix(k.Env, "FELIX_") {
			t.Errorf("%s has no text or a strange variable %q", k.Name, k.Env)
		}
		if k.Type != TypeString {
			if err := k.check(k.Default); err != nil {
				t.Errorf("the default of %s is not legal: %v", k.Name, err)
			}
			if k.Range() == "" {
				t.Errorf("%s has no range", k.Name)
			}
		}
	}
	load(t, Sources{})
}

// Each setting takes a value from every source, later ones win, and says where it came from.
func TestSourcesOverrideInOrder(t *testing.T) {
	for _, k := range All() {
		a, b, c := k.Default, k.Default, k.Default
		switch k.Type {
		case TypeString:
			a, b, c = "x", "y", "z"
		case TypeBool:
			a, b, c = "true", "false", "true"
		}
		path := file(t, k.Name+": "+a+"\n")
		pair := map[string]string{"tls_cert": "c", "tls_key": "k"} // these two only go together
		if _, ok := pair[k.Name]; !ok {
			pair = nil
		}
		s := Sources{Preset: pair, File: path}
		if got := load(t, s); got.String(k.Name) != a || got.Origin(k.Name) != path+":1" {
			t.Errorf("%s from the file: %q from %s", k.Name, got.String(k.Name), got.Origin(k.Name))
		}
		s.Env = []string{k.Env + "=" + b}
		if got := load(t, s); got.String(k.Name) != b || got.Origin(k.Name) != k.Env {
			t.Errorf("%s from the environment: %q from %s", k.Name, got.String(k.Name), got.Origin(k.Name))
		}
		s.Flags = map[string]string{k.Name: c}
		if got := load(t, s); got.String(k.Name) != c || got.Origin(k.Name) != "--"+k.Flag() {
			t.Errorf("%s from a flag: %q from %s", k.Name, got.String(k.Name), got.Origin(k.Name))
		}
	}
}

func TestBadValuesNameTheirOrigin(t *testing.T) {
	for _, c := range []struct {
		s    Sources
		want []string
	}{
		{Sources{File: file(t, "\npub_queue_depth: 0\n")}, []string{"felix.yaml:2", "pub_queue_depth", "0", "1 to"}},
		{Sources{File: file(t, "pub_queue_dept: 1\n")}, []string{"felix.yaml:1", "did you mean pub_queue_depth"}},
		{Sources{File: file(t, "log_level: {a: 1}\n")}, []string{"felix.yaml:1", "one value"}},
		{Sources{File: file(t, "log_level: info\nlog_level: warn\n")}, []string{"felix.yaml:2", "twice"}},
		{Sources{File: file(t, "ack_on_commit: yes\n")}, []string{"felix.yaml:1", "neither true nor false"}},
		{Sources{File: file(t, "- a\n")}, []string{"felix.yaml:1"}},
		{Sources{File: filepath.Join(t.TempDir(), "absent")}, []string{"absent"}},
		{Sources{Env: []string{"FELIX_LOG_LEVEL=loud"}}, []string{"FELIX_LOG_LEVEL", "loud", "debug, info"}},
		{Sources{Env: []string{"FELIX_EGRESS_BYTES=1GB"}}, []string{"FELIX_EGRESS_BYTES", "1GB", "64KiB"}},
		{Sources{Flags: map[string]string{"auth_timeout_ms": "5 parsecs"}}, []string{"--auth-timeout-ms", "5 parsecs", "250us"}},
		{Sources{Flags: map[string]string{"auth_timeout_ms": "1ms"}}, []string{"--auth-timeout-ms", "100ms to"}},
		{Sources{Flags: map[string]string{"pub_conn_inflight_bytes": "128MiB"}}, []string{"pub_conn_inflight_bytes", "pub_inflight_bytes", "default"}},
		{Sources{Flags: map[string]string{"tls_cert": "x"}}, []string{"tls_key", "together"}},
	} {
		_, err := Load(c.s)
		if !errors.Is(err, ErrInvalid) {
			t.Errorf("%+v: %v", c.s, err)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%q does not say %q", err, w)
			}
		}
	}
}

func TestPairsMayBeEqual(t *testing.T) {
	load(t, Sources{Flags: map[string]string{"pub_conn_inflight_bytes": "64MiB", "subscriber_queue_capacity": "4096"}})
}

func TestUnknownVariablesAreWarnings(t *testing.T) {
	v := load(t, Sources{Env: []string{"FELIX_QUIC_BNID=x", "FELIX_INITIAL_CWND=1", "FELIX_TOKEN=secret", "HOME=/"}, Ignore: []string{"FELIX_TOKEN"}})
	all := strings.Join(v.Warnings(), "\n")
	if len(v.Warnings()) != 2 || !strings.Contains(all, "did you mean FELIX_QUIC_BIND") || !strings.Contains(all, "FELIX_INITIAL_CWND has no effect") ||
		strings.Contains(all, "secret") {
		t.Errorf("warnings: %s", all)
	}
}

func TestUnits(t *testing.T) {
	v := load(t, Sources{Flags: map[string]string{"egress_bytes": "1GiB", "auth_timeout_ms": "1500", "answer_stall_timeout_ms": "2m", "cache_max_bytes": "auto", "udp_gro": "false"}})
	if v.Bytes("egress_bytes") != 1<<30 || v.Duration("auth_timeout_ms") != 1500*time.Millisecond ||
		v.Duration("answer_stall_timeout_ms") != 2*time.Minute || v.Bytes("cache_max_bytes") != 0 || v.Bool("udp_gro") || v.Int("publish_window") != 256 {
		t.Error(v.Changed())
	}
	if len(v.Changed()) != 5 {
		t.Error(v.Changed())
	}
}

func FuzzValues(f *testing.F) {
	for _, s := range []string{"64KiB", "1", "250us", "9223372036854775807TiB", "-1", "", "1e9", "18446744073709551615"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if n, err := parseBytes(s); err == nil && n < 0 {
			t.Errorf("%q is %d bytes", s, n)
		}
		if d, err := parseDuration(s); err == nil && d < 0 {
			t.Errorf("%q is %s", s, d)
		}
	})
}

// The reference page is what the table says.
func TestReferencePage(t *testing.T) {
	const path = "../../docs/reference/settings.md"
	var b strings.Builder
	b.WriteString("# Broker settings\n\nGenerated from `profiles/knob` by `go test ./profiles/knob -update`.\n\n" +
		"Default < YAML file (`--config`) < environment < flag. Sizes are plain numbers or `64KiB`, `1MiB`; durations `250us`, `2s`, or a\n" +
		"plain number of milliseconds. `felix broker` and `felix dev` take each setting as a flag with dashes.\n\n" +
		"| setting | variable | default | legal values | meaning |\n|---|---|---|---|---|\n")
	for _, k := range table {
		fmt.Fprintf(&b, "| `%s` | `%s` | %s | %s | %s |\n", k.Name, k.Env, k.Default, k.Range(), k.Text)
	}
	b.WriteString("\n## Not available\n\nSettings of the reference broker that are accepted with a warning and have no effect:\n\n| variable | why |\n|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(unavailable)) {
		fmt.Fprintf(&b, "| `%s` | %s |\n", name, unavailable[name])
	}
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != b.String() {
		t.Errorf("%s is not what the table says (%v); run go test ./profiles/knob -update", path, err)
	}
}
