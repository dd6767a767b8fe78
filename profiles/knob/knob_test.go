package knob

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func load(t *testing.T, s Sources) *Values {
	t.Helper()
	v, err := Load(s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// refused wants an error that is ErrInvalid and says all of want.
func refused(t *testing.T, s Sources, want ...string) {
	t.Helper()
	v, err := Load(s)
	if !errors.Is(err, ErrInvalid) || v != nil {
		t.Errorf("%+v: got %v, %v", s, v, err)
		return
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%q does not say %q", err, w)
		}
	}
}

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "felix.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func flags(pairs ...string) Sources {
	m := make(map[string]string)
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return Sources{Flags: m}
}

func TestTableIsComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range All() {
		for _, n := range []string{k.Name, k.Env, k.Alias} {
			if seen[n] && n != "" {
				t.Errorf("%s is there twice", n)
			}
			if seen[n] = true; whyNot(n) != "" || dishonoured[n] != "" {
				t.Errorf("%s is in the table and not available", n)
			}
		}
		if len(k.Text) < 10 || !strings.HasPrefix(k.Env, "FELIX_") {
			t.Errorf("%s has no text or a strange variable %q", k.Name, k.Env)
		}
		if strings.Contains(k.Name, "-") || strings.Contains(k.Flag(), "_") || k.Name != strings.ToLower(k.Name) {
			t.Errorf("%s, --%s: strange name", k.Name, k.Flag())
		}
		numeric := slices.Contains([]Type{TypeInt, TypeBytes, TypeDuration}, k.Type)
		if numeric != (k.Unit != "") {
			t.Errorf("%s is of type %s and has unit %q", k.Name, k.Type, k.Unit)
		} else if numeric && k.Max <= k.Min {
			t.Errorf("%s has bounds %d and %d", k.Name, k.Min, k.Max)
		}
		if (k.Type == TypeDuration) != strings.HasSuffix(k.Name, "_ms") {
			t.Errorf("%s is of type %s", k.Name, k.Type)
		}
		if k.Type == TypeString {
			continue
		}
		if err := k.check(k.Default); err != nil {
			t.Errorf("the default of %s is not legal: %v", k.Name, err)
		}
		if k.Range() == "" {
			t.Errorf("%s has no range", k.Name)
		}
	}
	All()[0].Name = "changed"
	if All()[0].Name != "quic_bind" {
		t.Error("the table can be changed from outside")
	}
}

// The defaults, in the words of the specification.
func TestDefaults(t *testing.T) {
	want := map[string]string{
		"quic_bind": "0.0.0.0:5000", "tls_cert": "", "tls_key": "", "tls_require_cert": "false",
		"tls_require_alpn": "false", "metrics_bind": "0.0.0.0:8080", "admin_token_file": "",
		"controlplane_url": "", "controlplane_ca": "", "controlplane_token_file": "", "state_dir": "",
		"max_idle_timeout_ms": "6s", "handshakes_per_second": "500", "udp_socket_buffer": "8MiB", "udp_gro": "true",
		"max_frame_bytes": "16MiB", "preauth_max_frame_bytes": "64KiB", "preauth_max_streams_per_conn": "16",
		"auth_timeout_ms": "10s", "answer_stall_timeout_ms": "30s", "max_client_connections": "8192",
		"max_connections_per_ip": "512", "max_subscriptions_per_conn": "4096", "pub_workers_per_conn": "4",
		"pub_queue_depth": "64", "publish_queue_wait_timeout_ms": "2s", "pub_inflight_bytes": "64MiB",
		"pub_conn_inflight_bytes": "16MiB", "pub_conn_recv_window": "64MiB", "pub_stream_recv_window": "16MiB",
		"ingress_window_bytes": "256MiB", "publish_window": "256", "pub_ingress_wait": "false",
		"ack_on_commit": "false", "subscriber_queue_capacity": "512", "subscriber_queue_capacity_max": "4096",
		"subscriber_queue_bytes": "4MiB", "subscriber_queue_policy": "drop_new",
		"subscriber_max_bytes_per_write": "64KiB", "egress_bytes": "256MiB", "replay_ring_records": "65536",
		"replay_ring_bytes": "4MiB", "replay_total_bytes": "256MiB", "cache_max_bytes": "auto",
		"cache_eviction": "s3-fifo", "shutdown_predrain_ms": "0s", "shutdown_drain_timeout_ms": "25s",
		"log_level": "info", "log_format": "auto",
	}
	v := load(t, Sources{})
	if len(want) != len(table) {
		t.Errorf("the table has %d settings, want %d", len(table), len(want))
	}
	for name, w := range want {
		if v.String(name) != w || v.Origin(name) != "default" {
			t.Errorf("%s is %q from %s, want %q", name, v.String(name), v.Origin(name), w)
		}
	}
	if len(v.Changed()) != 0 || len(v.Warnings()) != 0 || len(v.Redacted()) != len(table) {
		t.Error(v.Changed(), v.Warnings(), v.Redacted())
	}
}

// others are four legal values of a setting that are not all the same, and fit the defaults of the rest.
func others(k Knob) []string {
	switch k.Type {
	case TypeString:
		return []string{"w", "x", "y", "z"}
	case TypeBool:
		return []string{"true", "false", "true", "false"}
	case TypeEnum:
		return []string{k.Allowed[0], k.Allowed[1], k.Allowed[0], k.Allowed[1]}
	}
	base, step := int64(0), int64(1)
	if !slices.Contains(k.Allowed, k.Default) {
		base, _ = k.number(k.Default)
	}
	if base+4 > k.Max {
		step = -1
	}
	var out []string
	for i := range int64(4) {
		out = append(out, k.format(base+(i+1)*step))
	}
	return out
}

// Each setting takes a value from every source, later ones win, and says where it came from.
func TestSourcesOverrideInOrder(t *testing.T) {
	for _, k := range All() {
		vals := others(k)
		var s Sources
		wants := func(value, origin string) {
			t.Helper()
			v := load(t, s)
			if got, from := v.String(k.Name), v.Origin(k.Name); got != value || from != origin {
				t.Errorf("%s is %q from %s, want %q from %s", k.Name, got, from, value, origin)
			}
		}
		s.Preset = map[string]string{}
		if k.Name == "tls_cert" || k.Name == "tls_key" { // these two only go together
			s.Preset["tls_cert"], s.Preset["tls_key"] = "c", "k"
		}
		s.Preset[k.Name] = vals[0]
		wants(vals[0], "default of this verb")
		s.File = file(t, "# settings\n\n"+k.Name+": "+vals[1]+"\n")
		wants(vals[1], s.File+":3")
		if k.Alias != "" {
			s.Env = []string{k.Alias + "=" + vals[3]}
			wants(vals[3], k.Alias)
		}
		s.Env = append(s.Env, k.Env+"="+vals[2])
		wants(vals[2], k.Env)
		s.Flags = map[string]string{k.Name: vals[3]}
		wants(vals[3], "--"+k.Flag())
		s.Flags = map[string]string{k.Flag(): vals[2]}
		wants(vals[2], "--"+k.Flag())
	}
}

// Each setting that can be wrong is refused from every source, with that source, the value and what is legal.
func TestBadValuesOfEverySetting(t *testing.T) {
	for _, k := range All() {
		bad := []string{"maybe"}
		switch k.Type {
		case TypeString:
			continue
		case TypeInt, TypeBytes, TypeDuration:
			bad = append(bad, k.format(k.Max+1), "-1", "9223372036854775808", "")
			if k.Min > 0 {
				bad = append(bad, k.format(k.Min-1))
			}
		}
		for _, b := range bad {
			says := []string{k.Name}
			if k.Type == TypeBool || k.Type == TypeEnum {
				says = append(says, "maybe", strings.Split(k.Range(), ", ")[0])
			} else if b == k.format(k.Max+1) {
				says = append(says, b, k.Range())
			}
			refused(t, Sources{File: file(t, "\n"+k.Name+": '"+b+"'\n")}, append(says, "felix.yaml:2")...)
			refused(t, Sources{Env: []string{k.Env + "=" + b}}, append(says, k.Env)...)
			refused(t, flags(k.Name, b), append(says, "--"+k.Flag())...)
		}
	}
}

func TestRefusedSources(t *testing.T) {
	absent := filepath.Join(t.TempDir(), "absent")
	for _, c := range []struct {
		s    Sources
		want []string
	}{
		{Sources{File: file(t, "pub_queue_dept: 1\n")}, []string{"felix.yaml:1", "did you mean pub_queue_depth?"}},
		{Sources{File: file(t, "\nquic-bind: x\n")}, []string{"felix.yaml:2", "did you mean quic_bind?"}},
		{Sources{File: file(t, "FELIX_QUIC_BIND: x\n")}, []string{"felix.yaml:1", "did you mean quic_bind?"}},
		{Sources{File: file(t, "conn_inflight_bytes: 1\n")}, []string{"did you mean pub_conn_inflight_bytes?"}},
		{Sources{File: file(t, "storage:\n  dir: x\n")}, []string{"felix.yaml:1", `no setting "storage"`}},
		{Sources{File: file(t, "? [a]\n: 1\n")}, []string{"felix.yaml:1", "no setting"}},
		{Sources{File: file(t, "log_level: {a: 1}\n")}, []string{"felix.yaml:1", "one value"}},
		{Sources{File: file(t, "tls_cert: null\n")}, []string{"felix.yaml:1", "one value"}},
		{Sources{File: file(t, "tls_cert:\n")}, []string{"felix.yaml:1", "one value"}},
		{Sources{File: file(t, "log_level: &a info\nlog_format: *a\n")}, []string{"felix.yaml:2", "one value"}},
		{Sources{File: file(t, "log_level: info\nlog_level: warn\n")}, []string{"felix.yaml:2", "twice"}},
		{Sources{File: file(t, "log_level: info\n---\nlog_level: warn\n")},
			[]string{"felix.yaml:2", "one YAML document"}},
		{Sources{File: file(t, "log_level: info\n\tlog_format: text\n")}, []string{"felix.yaml:2"}},
		{Sources{File: file(t, "ack_on_commit: yes\n")}, []string{"felix.yaml:1", `"yes"`, "neither"}},
		{Sources{File: file(t, "ack_on_commit: on\n")}, []string{"felix.yaml:1", "neither true nor false"}},
		{Sources{File: file(t, "ack_on_commit: 1\n")}, []string{"felix.yaml:1", "neither true nor false"}},
		{Sources{File: file(t, "- a\n")}, []string{"felix.yaml:1"}},
		{Sources{File: absent}, []string{absent}},
		{Sources{File: t.TempDir()}, []string{"settings file"}},
		{Sources{Env: []string{"FELIX_EGRESS_BYTES=1GB"}}, []string{"FELIX_EGRESS_BYTES", `"1GB"`, "64KiB"}},
		{flags("auth_timeout_ms", "5 parsecs"), []string{"--auth-timeout-ms", "5 parsecs", "250us"}},
		{flags("auth_timeout_ms", "1ms"), []string{"--auth-timeout-ms", "1ms", "100ms to 1h"}},
		{flags("log-levl", "info"), []string{"--log-levl", "did you mean log_level?"}},
		{Sources{Preset: map[string]string{"nothing": "1"}}, []string{"no setting"}},
		// An overridden value is checked all the same.
		{Sources{Env: []string{"FELIX_LOG_LEVEL=loud"}, Flags: map[string]string{"log_level": "info"}},
			[]string{"FELIX_LOG_LEVEL", "loud", "debug, info"}},
	} {
		refused(t, c.s, c.want...)
	}
}

func TestFilesThatSetNothing(t *testing.T) {
	for _, text := range []string{"", "\n", "# nothing\n", "---\n", "{}\n"} {
		if v := load(t, Sources{File: file(t, text)}); len(v.Changed()) != 0 {
			t.Errorf("%q: %v", text, v.Changed())
		}
	}
}

// Each pair alone is refused, with both settings and their origins; equal sizes and counts are legal.
func TestRefusedPairs(t *testing.T) {
	for _, c := range []struct{ change, equal, beyond, small, large string }{
		{"max_frame_bytes", "64KiB", "65535", "preauth_max_frame_bytes", "max_frame_bytes"},
		{"pub_stream_recv_window", "16MiB", "15MiB", "max_frame_bytes", "pub_stream_recv_window"},
		{"pub_conn_recv_window", "16MiB", "15MiB", "max_frame_bytes", "pub_conn_recv_window"},
		{"pub_conn_inflight_bytes", "16MiB", "15MiB", "max_frame_bytes", "pub_conn_inflight_bytes"},
		{"pub_stream_recv_window", "64MiB", "65MiB", "pub_stream_recv_window", "pub_conn_recv_window"},
		{"pub_conn_inflight_bytes", "64MiB", "65MiB", "pub_conn_inflight_bytes", "pub_inflight_bytes"},
		{"subscriber_queue_capacity", "4096", "4097", "subscriber_queue_capacity", "subscriber_queue_capacity_max"},
		{"subscriber_queue_bytes", "256MiB", "257MiB", "subscriber_queue_bytes", "egress_bytes"},
		{"replay_ring_bytes", "256MiB", "257MiB", "replay_ring_bytes", "replay_total_bytes"},
	} {
		load(t, flags(c.change, c.equal))
		refused(t, flags(c.change, c.beyond), c.small+" (", " is larger than "+c.large+" (",
			c.beyond+", from --"+strings.ReplaceAll(c.change, "_", "-"), "from default")
	}
}

func TestRefusedCombinations(t *testing.T) {
	load(t, flags("tls_cert", "c", "tls_key", "k"))
	refused(t, flags("tls_cert", "c"), "tls_cert (from --tls-cert)", "tls_key (from default)", "together")
	refused(t, flags("tls_key", "k"), "tls_cert (from default)", "tls_key (from --tls-key)", "together")
	load(t, flags("controlplane_ca", "c"))
	load(t, flags("controlplane_ca", "c", "controlplane_url", "https://h"))
	s := flags("controlplane_ca", "c", "controlplane_url", "HTTP://u:hidden@h")
	refused(t, s, "controlplane_ca (from --controlplane-ca)", "http controlplane_url (from --controlplane-url)")
	if _, err := Load(s); strings.Contains(err.Error(), "hidden") {
		t.Errorf("%v shows a password", err)
	}
}

func TestVariablesWithoutSetting(t *testing.T) {
	v := load(t, Sources{
		Env: []string{"FELIX_QUIC_BNID=x", "FELIX_PUB_QUEUE_DEPTH=secret", "FELIX_INITIAL_CWND=1",
			"FELIX_TOKEN=secret", "FELIX_TOKNE=secret", "FELIX_SOMETHING_ELSE_ALTOGETHER=1",
			"FELIX_SUB_QUEUE_CAPACITY=7",
			"FELIX_SUBSCRIBER_QUEUE_CAPACITY=8", "HOME=/", "NOTFELIX_X=1", "FELIX_CONTROLPLANE_TOKEN_FILE=f"},
		Ignore: []string{"FELIX_TOKEN", "FELIX_CONTROLPLANE_TOKEN_FILE"},
	})
	want := []string{
		"nobody reads FELIX_QUIC_BNID; did you mean FELIX_QUIC_BIND?",
		"nobody reads FELIX_PUB_QUEUE_DEPTH; did you mean FELIX_BROKER_PUB_QUEUE_DEPTH?",
		"FELIX_INITIAL_CWND has no effect: this transport sets its own initial congestion window",
		"nobody reads FELIX_TOKNE; did you mean FELIX_TOKEN?",
		"nobody reads FELIX_SOMETHING_ELSE_ALTOGETHER",
		"FELIX_SUB_QUEUE_CAPACITY has no effect: FELIX_SUBSCRIBER_QUEUE_CAPACITY is set too",
	}
	if !slices.Equal(v.Warnings(), want) {
		t.Errorf("warnings:\n%s", strings.Join(v.Warnings(), "\n"))
	}
	// What other verbs read too is still read here.
	if v.String("controlplane_token_file") != "f" || v.Int("subscriber_queue_capacity") != 8 {
		t.Error(v.Changed())
	}
	absent := slices.Collect(maps.Keys(unavailable))
	for _, f := range families {
		absent = append(absent, f.prefix+"ANYTHING")
	}
	for _, name := range absent {
		if v := load(t, Sources{Env: []string{name + "=1"}}); len(v.Warnings()) != 1 ||
			!strings.HasPrefix(v.Warnings()[0], name+" has no effect: ") || len(v.Changed()) != 0 {
			t.Errorf("%s: %v", name, v.Warnings())
		}
	}
}

func TestUnits(t *testing.T) {
	v := load(t, Sources{
		File: file(t, "egress_bytes: 1GiB\nauth_timeout_ms: 1500\nmetrics_bind: \"\"\npub_queue_depth: '7'\n"),
		Env: []string{"FELIX_ACK_ON_COMMIT=yes", "FELIX_PUB_INGRESS_WAIT=1", "FELIX_UDP_GRO=0",
			"FELIX_CACHE_MAX_BYTES=0"},
		Flags: map[string]string{"answer_stall_timeout_ms": "2m", "shutdown_predrain_ms": "250us",
			"subscriber_queue_bytes": "65536"},
	})
	if v.Bytes("egress_bytes") != 1<<30 || v.Bytes("subscriber_queue_bytes") != 65536 ||
		v.Int("pub_queue_depth") != 7 ||
		v.Duration("auth_timeout_ms") != 1500*time.Millisecond || v.String("metrics_bind") != "" ||
		v.Duration("answer_stall_timeout_ms") != 2*time.Minute ||
		v.Duration("shutdown_predrain_ms") != 250*time.Microsecond ||
		!v.Bool("ack_on_commit") || v.String("ack_on_commit") != "true" || !v.Bool("pub_ingress_wait") ||
		v.Bool("udp_gro") || v.Bytes("cache_max_bytes") != 0 || v.Int("publish_window") != 256 {
		t.Error(v.Changed())
	}
	if len(v.Changed()) != 11 {
		t.Error(len(v.Changed()), v.Changed())
	}
	if v := load(t, Sources{}); v.Bytes("cache_max_bytes") != 0 || v.String("cache_max_bytes") != "auto" {
		t.Error("the word auto is not 0 bytes")
	}
}

// Asking for what is not in the table, or with another type, is a mistake in the program.
func TestAccessorsPanic(t *testing.T) {
	v := load(t, Sources{})
	for what, f := range map[string]func(){
		"String": func() { v.String("nothing") }, "Origin": func() { v.Origin("nothing") },
		"Int": func() { v.Int("nothing") }, "Bytes": func() { v.Bytes("publish_window") },
		"Int of bytes": func() { v.Int("egress_bytes") }, "Bool": func() { v.Bool("quic_bind") },
		"Duration": func() { v.Duration("publish_window") },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s does not panic", what)
				}
			}()
			f()
		}()
	}
}

func TestRedactedHidesUserinfo(t *testing.T) {
	for in, want := range map[string]string{
		"https://u:p@h:1/a?b=c@d": "https://<redacted>@h:1/a?b=c@d",
		"http://p@q@h":            "http://<redacted>@h",
		"https://h:1/x@y":         "https://h:1/x@y",
		"u:p@h":                   "u:p@h", // no URL
	} {
		v := load(t, flags("controlplane_url", in))
		i := slices.IndexFunc(v.Redacted(), func(s Setting) bool { return s.Name == "controlplane_url" })
		if got := v.Redacted()[i]; got.Value != want || got.Origin != "--controlplane-url" {
			t.Errorf("%s is shown as %v", in, got)
		}
		if got := v.Changed(); !slices.Equal(got, []string{"controlplane_url=" + want + " (--controlplane-url)"}) {
			t.Error(got)
		}
		if v.String("controlplane_url") != in {
			t.Error("the value itself changed")
		}
	}
}

// What is read is not negative, and reads the same after it was written.
func FuzzValues(f *testing.F) {
	for _, s := range []string{"64KiB", "1", "250us", "8388608TiB", "8388607TiB", "9223372036854775807TiB",
		"-1", "", "1e9", "KiB", "-0s", "+1", "1h0m0s", "2562047h47m16.854775807s", "9223372036854",
		"9223372036855", "18446744073709551615"} {
		f.Add(s)
	}
	size, duration := Knob{Type: TypeBytes}, Knob{Type: TypeDuration}
	f.Fuzz(func(t *testing.T, s string) {
		for _, k := range []Knob{size, duration} {
			n, err := k.number(s)
			if err != nil {
				continue
			}
			if n < 0 {
				t.Errorf("%q as %s is %d", s, k.Type, n)
			}
			if again, err := k.number(k.format(n)); err != nil || again != n {
				t.Errorf("%q as %s is %d, written %q, read %d (%v)", s, k.Type, n, k.format(n), again, err)
			}
		}
	})
}

// A variable that promises protection or durability stops the start.
func TestPromisesThatAreNotKept(t *testing.T) {
	for variable := range dishonoured {
		_, err := Load(Sources{Env: []string{variable + "=x"}})
		if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), variable) {
			t.Errorf("%s: %v", variable, err)
		}
	}
}
