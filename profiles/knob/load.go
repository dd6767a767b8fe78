package knob

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ErrInvalid marks a setting that cannot be used; the text names where it came from, the value and what is
// legal.
var ErrInvalid = errors.New("invalid setting")

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrInvalid, fmt.Sprintf(format, args...))
}

// originDefault is where a value comes from that nobody set.
const originDefault = "default"

// Sources are where values come from, each overriding the ones before: built-in default, Preset, File, Env,
// Flags.
type Sources struct {
	// Preset are defaults of the verb, by name.
	Preset map[string]string
	// File is a YAML file; empty means none.
	File string
	// Env is the environment in the form of os.Environ.
	Env []string
	// Flags are the flags that were given, by setting or flag name.
	Flags map[string]string
	// Ignore lists FELIX_ variables that somebody else reads. A variable of the table is read all the same.
	Ignore []string
}

// Load merges the sources and checks every value, overridden ones included, and the pairs that must fit.
func Load(s Sources) (*Values, error) {
	v := &Values{values: make(map[string]value)}
	for _, k := range table {
		v.values[k.Name] = value{text: k.Default, origin: originDefault}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Preset)) {
		if err := v.set(name, s.Preset[name], "default of this verb"); err != nil {
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
	for _, flag := range slices.Sorted(maps.Keys(s.Flags)) {
		name := strings.ReplaceAll(flag, "-", "_")
		origin := "--" + strings.ReplaceAll(flag, "_", "-")
		if err := v.setSpelled(name, s.Flags[flag], origin); err != nil {
			return nil, err
		}
	}
	if err := v.checkPairs(); err != nil {
		return nil, err
	}
	return v, nil
}

// set checks and stores one value.
func (v *Values) set(name, text, origin string) error {
	k, ok := find(name)
	if !ok {
		return unknown(name, origin)
	}
	if err := k.check(text); err != nil {
		return invalid("%s: %s: %v", origin, name, err)
	}
	v.values[name] = value{text: text, origin: origin}
	return nil
}

// setSpelled is set for variables and flags, where booleans have more spellings than in YAML.
func (v *Values) setSpelled(name, text, origin string) error {
	if k, ok := find(name); ok && k.Type == TypeBool {
		text = spelledBool(text)
	}
	return v.set(name, text, origin)
}

func unknown(name, origin string) error {
	return invalid("%s: there is no setting %q%s", origin, name, suggest(name, names()))
}

func (v *Values) readEnv(env, ignore []string) error {
	byVariable := make(map[string]Knob, len(table))
	for _, k := range table {
		byVariable[k.Env] = k
		if k.Alias != "" {
			byVariable[k.Alias] = k
		}
	}
	for _, e := range env {
		variable, text, _ := strings.Cut(e, "=")
		if !strings.HasPrefix(variable, "FELIX_") {
			continue
		}
		k, ok := byVariable[variable]
		switch why := whyNot(variable); {
		case ok && variable == k.Alias && isSet(env, k.Env):
			v.warn("%s has no effect: %s is set too", variable, k.Env)
		case ok:
			if err := v.setSpelled(k.Name, text, variable); err != nil {
				return err
			}
		case dishonoured[variable] != "":
			return invalid("%s cannot be honoured: %s; unset it to start without", variable, dishonoured[variable])
		case slices.Contains(ignore, variable):
		case why != "":
			v.warn("%s has no effect: %s", variable, why)
		default:
			known := slices.Concat(slices.Collect(maps.Keys(byVariable)), ignore)
			slices.Sort(known)
			v.warn("nobody reads %s%s", variable, suggest(variable, known))
		}
	}
	return nil
}

func isSet(env []string, variable string) bool {
	return slices.ContainsFunc(env, func(e string) bool { return strings.HasPrefix(e, variable+"=") })
}

func (v *Values) warn(format string, args ...any) {
	v.warnings = append(v.warnings, fmt.Sprintf(format, args...))
}

// notLarger lists pairs of which the first may not exceed the second.
var notLarger = []struct{ small, large string }{
	{"preauth_max_frame_bytes", "max_frame_bytes"},
	{"max_frame_bytes", "pub_stream_recv_window"}, // a larger frame would never arrive whole
	{"max_frame_bytes", "pub_conn_recv_window"},
	{"max_frame_bytes", "pub_conn_inflight_bytes"}, // a larger frame would never be admitted
	{"pub_stream_recv_window", "pub_conn_recv_window"},
	{"pub_conn_inflight_bytes", "pub_inflight_bytes"},
	{"subscriber_queue_capacity", "subscriber_queue_capacity_max"},
	{"subscriber_queue_bytes", "egress_bytes"},
	{"replay_ring_bytes", "replay_total_bytes"},
}

// checkPairs refuses values that cannot work together.
func (v *Values) checkPairs() error {
	for _, p := range notLarger {
		if v.numeric(p.small) > v.numeric(p.large) {
			return invalid("%s (%s, from %s) is larger than %s (%s, from %s)",
				p.small, v.text(p.small), v.Origin(p.small), p.large, v.text(p.large), v.Origin(p.large))
		}
	}
	if (v.text("tls_cert") == "") != (v.text("tls_key") == "") {
		return invalid("tls_cert (from %s) and tls_key (from %s) must be set together",
			v.Origin("tls_cert"), v.Origin("tls_key"))
	}
	plainHTTP := strings.HasPrefix(strings.ToLower(v.text("controlplane_url")), "http://")
	if plainHTTP && v.text("controlplane_ca") != "" {
		return invalid("controlplane_ca (from %s) has no use with an http controlplane_url (from %s)",
			v.Origin("controlplane_ca"), v.Origin("controlplane_url"))
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
