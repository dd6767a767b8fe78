// Package knob is the one table of every setting of the broker: name, type, default, range, unit and text.
// YAML keys, FELIX_ variables, flags and the reference page come from it.
package knob
