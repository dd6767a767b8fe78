package knob

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"

	"go.yaml.in/yaml/v3"
)

// yamlLine finds the line in an error of the YAML reader.
var yamlLine = regexp.MustCompile(`^yaml: line (\d+): `)

// syntax turns an error of the YAML reader into file:line and what is wrong.
func syntax(path string, err error) error {
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		return invalid("%s:%s: %s", path, m[1], err.Error()[len(m[0]):])
	}
	return invalid("%s: %v", path, err)
}

// readFile sets what a YAML file says: one mapping of names to plain values.
func (v *Values) readFile(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return invalid("settings file: %v", err)
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	var doc, more yaml.Node
	if err := d.Decode(&doc); errors.Is(err, io.EOF) {
		return nil // nothing but comments sets nothing
	} else if err != nil {
		return syntax(path, err)
	}
	if err := d.Decode(&more); err == nil {
		return invalid("%s:%d: want one YAML document", path, more.Line)
	} else if !errors.Is(err, io.EOF) {
		return syntax(path, err)
	}
	root := doc.Content[0]
	if root.Tag == "!!null" {
		return nil
	}
	if root.Kind != yaml.MappingNode {
		return invalid("%s:%d: want settings as `name: value`", path, root.Line)
	}
	seen := make(map[string]bool)
	for i := 0; i < len(root.Content); i += 2 {
		key, val := root.Content[i], root.Content[i+1]
		origin := fmt.Sprintf("%s:%d", path, key.Line)
		if _, ok := find(key.Value); !ok {
			return unknown(key.Value, origin)
		}
		if seen[key.Value] {
			return invalid("%s: %s is set twice", origin, key.Value)
		}
		seen[key.Value] = true
		if val.Kind != yaml.ScalarNode || val.Tag == "!!null" {
			return invalid("%s: %s: want one value, \"\" for none", origin, key.Value)
		}
		if err := v.set(key.Value, val.Value, origin); err != nil {
			return err
		}
	}
	return nil
}
