package knob

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the reference page")

const pageHead = `# Broker settings

Generated from ` + "`profiles/knob` by `go test ./profiles/knob -update`" + `.

Default < YAML file (` + "`--config`" + `) < environment < flag. Sizes are plain numbers or ` + "`64KiB`, `1MiB`" + `; durations
` + "`250us`, `2s`" + `, or a plain number of milliseconds; booleans ` + "`true` and `false`" + `, in variables and flags also 1, yes, 0
and no. ` + "`felix broker` and `felix dev`" + ` take each setting as a flag with dashes. A setting marked live can be changed while
the broker runs; the others need a restart.

| setting | variable | default | legal values | a number counts | live | meaning |
|---|---|---|---|---|---|---|
`

const pageUnavailable = `
## Not available

Settings of the reference broker that are accepted with a warning and have no effect:

| variable | why |
|---|---|
`

const pageDishonoured = `
## Refused

Settings of the reference broker that promise what this one does not give. The broker does not start while one of them is set:

| variable | why |
|---|---|
`

func page() string {
	var b strings.Builder
	b.WriteString(pageHead)
	for _, k := range table {
		env, live := "`"+k.Env+"`", ""
		if k.Alias != "" {
			env += " or `" + k.Alias + "`"
		}
		if k.Reloadable {
			live = "yes"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s | %s |\n",
			k.Name, env, cmp.Or(k.Default, "none"), cmp.Or(k.Range(), "any text"), k.Unit, live, k.Text)
	}
	b.WriteString(pageUnavailable)
	writeReasons(&b, unavailable)
	for _, f := range families {
		fmt.Fprintf(&b, "| all other `%s...` | %s |\n", f.prefix, f.why)
	}
	b.WriteString(pageDishonoured)
	writeReasons(&b, dishonoured)
	return b.String()
}

func writeReasons(b *strings.Builder, why map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(why)) {
		fmt.Fprintf(b, "| `%s` | %s |\n", name, why[name])
	}
}

// The reference page is what the table says.
func TestReferencePage(t *testing.T) {
	const path = "../../docs/reference/settings.md"
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(page()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != page() {
		t.Errorf("%s is not what the table says (%v); run go test ./profiles/knob -update", path, err)
	}
}
