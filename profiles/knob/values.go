package knob

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Values are the merged settings. The accessors panic on a name that is not in the table or has another
// type: that is a mistake in the program, not in a setting.
type Values struct {
	values   map[string]value
	warnings []string
}

type value struct{ text, origin string }

// Warnings are settings that were understood and have no effect.
func (v *Values) Warnings() []string { return slices.Clone(v.warnings) }

// Setting is one value for printing.
type Setting struct{ Name, Value, Origin string }

// String is name=value (origin).
func (s Setting) String() string { return fmt.Sprintf("%s=%s (%s)", s.Name, s.Value, s.Origin) }

// Redacted lists every setting in the order of the table, fit for a screen, a log or a report: secrets are in
// files of which only the path is a setting, and what a URL says in front of its host is left out.
func (v *Values) Redacted() []Setting {
	out := make([]Setting, 0, len(table))
	for _, k := range table {
		val := v.values[k.Name]
		out = append(out, Setting{Name: k.Name, Value: withoutUserinfo(val.text), Origin: val.origin})
	}
	return out
}

// withoutUserinfo cuts user:password@ out of a URL.
func withoutUserinfo(s string) string {
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok {
		return s
	}
	authority, path := rest, ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority, path = rest[:i], rest[i:]
	}
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		authority = "<redacted>" + authority[i:]
	}
	return scheme + "://" + authority + path
}

// Changed lists what Redacted does of the settings that are not at their default, as name=value (origin).
func (v *Values) Changed() []string {
	var out []string
	for _, s := range v.Redacted() {
		if s.Origin != originDefault {
			out = append(out, s.String())
		}
	}
	return out
}

// Origin says where a value came from: "default", file:line, a variable or a flag.
func (v *Values) Origin(name string) string { return v.get(name).origin }

func (v *Values) get(name string) value {
	val, ok := v.values[name]
	if !ok {
		panic("knob: there is no setting " + name)
	}
	return val
}

func (v *Values) text(name string) string { return v.get(name).text }

// typed returns the text of a setting of one of the types.
func (v *Values) typed(name string, types ...Type) string {
	k, ok := find(name)
	if !ok || !slices.Contains(types, k.Type) {
		panic(fmt.Sprintf("knob: %s is not of type %v", name, types))
	}
	return v.text(name)
}

// String returns a string, an enum, or any other value as it was written.
func (v *Values) String(name string) string { return v.text(name) }

// Bool returns a boolean.
func (v *Values) Bool(name string) bool { return v.typed(name, TypeBool) == "true" }

// Int returns a whole number.
func (v *Values) Int(name string) int {
	v.typed(name, TypeInt)
	return int(v.numeric(name))
}

// Bytes returns a size, 0 for a word such as auto.
func (v *Values) Bytes(name string) int64 {
	v.typed(name, TypeBytes)
	return v.numeric(name)
}

// Duration returns a duration.
func (v *Values) Duration(name string) time.Duration {
	v.typed(name, TypeDuration)
	return time.Duration(v.numeric(name))
}

// numeric is the number behind a value that Load has checked.
func (v *Values) numeric(name string) int64 {
	k, _ := find(name)
	if slices.Contains(k.Allowed, v.text(name)) {
		return 0
	}
	n, err := k.number(v.text(name))
	if err != nil {
		panic("knob: " + name + " was not checked: " + err.Error())
	}
	return n
}
