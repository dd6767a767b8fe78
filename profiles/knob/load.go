package knob

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// ErrInvalid marks a setting that cannot be used; the text names where it came from, the value and what is legal.
var ErrInvalid = errors.New("invalid setting")

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrInvalid, fmt.Sprintf(format, args...))
}

// Sources are where values come from, each overriding the ones before: built-in default, Preset, File, Env, Flags.
type Sources struct {
	// Preset are defaults of the verb, by name.
	Preset map[string]string
	// File is a YAML file; empty means none.
	File string
	// Env is the environment in the form of os.Environ.
	Env []string
	// Flags are the flags that were given, by setting name.
	Flags map[string]string
	// Ignore lists FELIX_ variables that somebody else reads.
	Ignore []string
}

// Load merges the sources and checks every value and the pairs that must fit.
func Load(s Sources) (*Values, error) {
	v := &Values{values: make(map[string]value)}
	for _, k := range table {
		v.values[k.Name] = value{text: k.Default, origin: "default"}
	}
	for name, text := range s.Preset {
		if err := v.set(name, text, "default of this verb"); err != nil {
			return nil, err
		}
	}
	if s.File != "" {
		if err := v.readFile(s.File); err != nil {
			return nil, err
		}
	}
	if err := v.readEnv(s.Env, s.Ignore); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(s.Flags)) {
		if err := v.set(name, s.Flags[name], "--"+strings.ReplaceAll(name, "_", "-")); err != nil {
			return nil, err
		}
	}
	return v, v.checkPairs()
}

// set checks and stores one value.
func (v *Values) set(name, text, origin string) error {
	k, ok := find(name)
	if !ok {
		return invalid("%s: there is no setting %q%s", origin, name, suggest(name, names()))
	}
	if err := k.check(text); err != nil {
		return invalid("%s: %s: %v", origin, name, err)
	}
	v.values[name] = value{text: text, origin: origin}
	return nil
}

func (v *Values) readFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return invalid("settings file: %v", err)
	}
	defer f.Close()
	var doc yaml.Node
	if err := yaml.NewDecoder(f).Decode(&doc); errors.Is(err, io.EOF) {
		return nil // an empty file sets nothing
	} else if err != nil {
		return invalid("%s: %v", path, err)
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return invalid("%s:%d: want settings as `name: value`", path, root.Line)
	}
	seen := make(map[string]bool)
	for i := 0; i < len(root.Content); i += 2 {
		key, val := root.Content[i], root.Content[i+1]
		origin := fmt.Sprintf("%s:%d", path, key.Line)
		if val.Kind != yaml.ScalarNode {
			return invalid("%s: %s: want one value", origin, key.Value)
		}
		if seen[key.Value] {
			return invalid("%s: %s is set twice", origin, key.Value)
		}
		seen[key.Value] = true
		if err := v.set(key.Value, val.Value, origin); err != nil {
			return err
		}
	}
	return nil
}

func (v *Values) readEnv(env, ignore []string) error {
	byVariable := make(map[string]string, len(table))
	for _, k := range table {
		byVariable[k.Env] = k.Name
	}
	for _, e := range env {
		variable, text, _ := strings.Cut(e, "=")
		if !strings.HasPrefix(variable, "FELIX_") || slices.Contains(ignore, variable) {
			continue
		}
		if why, ok := unavailable[variable]; ok {
			v.warnings = append(v.warnings, variable+" has no effect: "+why)
			continue
		}
		name, ok := byVariable[variable]
		if !ok {
			v.warnings = append(v.warnings, "nobody reads "+variable+suggest(variable, slices.Sorted(maps.Keys(byVariable))))
			continue
		}
		if err := v.set(name, text, variable); err != nil {
			return err
		}
	}
	return nil
}

// checkPairs refuses values that cannot work together.
func (v *Values) checkPairs() error {
	for _, p := range []struct{ small, large string }{
		{"pub_conn_inflight_bytes", "pub_inflight_bytes"},
		{"max_frame_bytes", "pub_conn_inflight_bytes"},
		{"pub_stream_recv_window", "pub_conn_recv_window"},
		{"subscriber_queue_capacity", "subscriber_queue_capacity_max"},
		{"subscriber_queue_bytes", "egress_bytes"},
		{"replay_ring_bytes", "replay_total_bytes"},
		{"preauth_max_frame_bytes", "max_frame_bytes"},
	} {
		if v.numeric(p.small) > v.numeric(p.large) {
			return invalid("%s (%s, from %s) is larger than %s (%s, from %s)", p.small, v.text(p.small), v.Origin(p.small),
				p.large, v.text(p.large), v.Origin(p.large))
		}
	}
	if (v.String("tls_cert") == "") != (v.String("tls_key") == "") {
		return invalid("tls_cert (from %s) and tls_key (from %s) must be set together", v.Origin("tls_cert"), v.Origin("tls_key"))
	}
	return nil
}

func names() []string {
	out := make([]string, len(table))
	for i, k := range table {
		out[i] = k.Name
	}
	return out
}

// suggest names the nearest known word, if one is near.
func suggest(word string, known []string) string {
	best, at := "", 1+len(word)/3
	for _, k := range known {
		if d := distance(word, k); d < at {
			best, at = k, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", best)
}

// distance is the number of edits between two words (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			above := row[j]
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(above+1, row[j-1]+1, diagonal+cost)
			diagonal = above
		}
	}
	return row[len(b)]
}
