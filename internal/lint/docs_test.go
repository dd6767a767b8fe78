package lint

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// codeBlock finds fenced blocks of commands and programs, and what stands in front of them.
var (
	fence  = regexp.MustCompile("^```(sh|go|python|yaml)$")
	tagged = regexp.MustCompile(`^<!-- (test: .+|not run by a test: .+) -->$`)
	named  = regexp.MustCompile(`\b((?:Test|Example)[A-Za-z0-9]+)\b`)
)

func markdown(t *testing.T) (paths []string) {
	t.Helper()
	cmd := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md")
	cmd.Dir = root(t)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	return strings.Fields(string(out))
}

// Every block of the documentation says which test runs it, or why none can, and a test it names exists.
func TestDocsBlocksAreTagged(t *testing.T) {
	tests := map[string]bool{}
	cmd := exec.Command("git", "grep", "-hoE", "--untracked", "^func (Test|Example)[A-Za-z0-9_]+", "--", "*.go")
	cmd.Dir = root(t)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git grep: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		tests[strings.TrimPrefix(strings.TrimSpace(line), "func ")] = true
	}
	blocks := 0
	for _, path := range markdown(t) {
		b, err := os.ReadFile(filepath.Join(root(t), path))
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(b), "\n")
		for i, line := range lines {
			if !fence.MatchString(line) {
				continue
			}
			blocks++
			if i == 0 || !tagged.MatchString(lines[i-1]) {
				t.Errorf("%s:%d: the block does not say which test runs it", path, i+1)
				continue
			}
			for _, m := range named.FindAllString(lines[i-1], -1) {
				if !tests[m] {
					t.Errorf("%s:%d: there is no %s", path, i+1, m)
				}
			}
		}
	}
	if blocks < 6 {
		t.Errorf("only %d blocks found", blocks)
	}
}

var link = regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)

// Links between pages lead somewhere.
func TestDocsLinksResolve(t *testing.T) {
	for _, path := range markdown(t) {
		b, err := os.ReadFile(filepath.Join(root(t), path))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(b), -1) {
			if _, err := os.Stat(filepath.Join(root(t), filepath.Dir(path), m[1])); err != nil {
				t.Errorf("%s links to %s, which does not exist", path, m[1])
			}
		}
	}
}

// symbol is a reference of the form path::Symbol in the data-path documents.
var symbol = regexp.MustCompile("`([a-z_/]+(?:\\.go)?)::([A-Za-z.]+)")

// What the documents point at exists: the file or folder, and a declaration of that name in it.
func TestDocsSymbolsExist(t *testing.T) {
	checked := 0
	for _, path := range []string{"docs/data-path.md", "docs/memory.md", "docs/concurrency.md"} {
		b, err := os.ReadFile(filepath.Join(root(t), path))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range symbol.FindAllStringSubmatch(string(b), -1) {
			checked++
			where := m[1]
			if _, err := os.Stat(filepath.Join(root(t), where)); err != nil {
				where = filepath.Join("dataplane", m[1])
			}
			names := strings.Split(m[2], ".")
			last := names[len(names)-1]
			pattern := `^(func (\([a-z]+ \*?[A-Za-z]+(\[[A-Za-z]+\])?\) )?|type |\t)` + last + `\b`
			cmd := exec.Command("git", "grep", "-qE", "--untracked", pattern, "--", where)
			cmd.Dir = root(t)
			if err := cmd.Run(); err != nil {
				t.Errorf("%s: %s::%s is not there", path, m[1], m[2])
			}
		}
	}
	if checked < 20 {
		t.Errorf("only %d references found", checked)
	}
}
