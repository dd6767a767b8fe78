package knob

import (
	"slices"
	"strings"
)

// Type is what a setting's value is.
type Type string

// The types. Bytes take 65536 or 64KiB, durations 250us, 2s, or a plain number of milliseconds.
const (
	TypeInt      Type = "int"
	TypeBytes    Type = "bytes"
	TypeDuration Type = "duration"
	TypeBool     Type = "bool"
	TypeString   Type = "string"
	TypeEnum     Type = "enum"
)

// Knob describes one setting.
type Knob struct {
	// Name is the YAML key; the flag is the same with dashes.
	Name string
	// Env is the environment variable, Alias an older name of it or "". When both are set, Env counts.
	Env, Alias string
	// Type says how values are read.
	Type Type
	// Default is the value without any source.
	Default string
	// Min and Max bound numbers, in units, bytes or nanoseconds; both 0 means no bound but what the type has.
	Min, Max int64
	// Allowed lists the values of an enum, and the words a number may be replaced by.
	Allowed []string
	// Unit is what a plain number counts; "" for what is not a number.
	Unit string
	// Reloadable says that the value can be changed while the broker runs.
	Reloadable bool
	// Text says what it does, in one sentence.
	Text string
}

// Flag is the flag's name.
func (k Knob) Flag() string { return strings.ReplaceAll(k.Name, "_", "-") }

// Range describes the legal values for people.
func (k Knob) Range() string {
	switch {
	case k.Type == TypeBool:
		return "true, false"
	case k.Type == TypeEnum:
		return strings.Join(k.Allowed, ", ")
	case k.Min == 0 && k.Max == 0:
		return ""
	}
	r := k.format(k.Min) + " to " + k.format(k.Max)
	if len(k.Allowed) > 0 {
		r = strings.Join(k.Allowed, ", ") + ", or " + r
	}
	return r
}

// All returns every setting in the order of the reference page.
func All() []Knob {
	all := slices.Clone(table)
	for i := range all {
		all[i].Allowed = slices.Clone(all[i].Allowed)
	}
	return all
}

// find returns the setting of that name.
func find(name string) (Knob, bool) {
	for _, k := range table {
		if k.Name == name {
			return k, true
		}
	}
	return Knob{}, false
}
