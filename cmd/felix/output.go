package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
)

// format checks -o against what a verb can print; the first is the default.
func (g *globals) format(can ...string) (string, error) {
	if g.output == "" {
		return can[0], nil
	}
	if !slices.Contains(can, g.output) {
		return "", usage("-o %s: this verb prints %s", g.output, strings.Join(can, ", "))
	}
	return g.output, nil
}

// printJSON writes v as one indented document.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// printLine writes v as one line.
func printLine(w io.Writer, v any) error { return json.NewEncoder(w).Encode(v) }

// printTable writes rows under a head, in columns.
func printTable(w io.Writer, head []string, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, strings.Join(head, "\t"))
	for _, r := range rows {
		fmt.Fprintln(t, strings.Join(r, "\t"))
	}
	return t.Flush()
}

// blob is a byte string in JSON: text where it is text, base64 otherwise.
type blob struct {
	Data     string `json:"data"`
	Encoding string `json:"encoding"`
}

func newBlob(b []byte) blob {
	if utf8.Valid(b) {
		return blob{Data: string(b), Encoding: "text"}
	}
	return blob{Data: base64.StdEncoding.EncodeToString(b), Encoding: "base64"}
}
