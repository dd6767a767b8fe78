package knob

import (
	"fmt"
	"slices"
	"time"
)

// Values are the merged settings. The accessors panic on a name that is not in the table or has another type: that is a mistake
// in the program, not in a setting.
type Values struct {
	values   map[string]value
	warnings []string
}

type value struct{ text, origin string }

// Warnings are settings that were understood and have no effect.
func (v *Values) Warnings() []string { return slices.Clone(v.warnings) }

// Changed lists the settings that are not at their default, as name=value (origin), in the order of the table.
func (v *Values) Changed() []string {
	var out []string
	for _, k := range table {
		if val := v.values[k.Name]; val.origin != "default" {
			out = append(out, fmt.Sprintf("%s=%s (%s)", k.Name, val.text, val.origin))
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
