package lint

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the list of permitted escapes")

// hotPackages are the rooms whose hot functions are compiled with escape analysis.
var hotPackages = []string{"wire", "ring", "arena", "stat", "admission", "auth", "catalog", "route", "shard", "stream", "fanout",
	"cache", "ingress"}

const (
	escapeList = "testdata/escapes.txt"
	hotMark    = "//felix:hot"
)

var escapeLine = regexp.MustCompile(`^(?:\./)?([^:]+\.go):(\d+):\d+: (.*(?:escapes to heap|moved to heap).*)$`)

// TestEscape compares the heap escapes inside functions marked //felix:hot with the list of permitted ones. Each entry says
// package, function and what escapes; line numbers would change with every edit.
func TestEscape(t *testing.T) {
	found := map[string]string{} // where each was seen
	marked := 0
	for _, pkg := range hotPackages {
		dir := filepath.Join(root(t), "dataplane", pkg)
		spans := hotSpans(t, dir)
		marked += len(spans)
		maps.Copy(found, escapesOf(t, dir, pkg, spans))
	}
	if marked < 50 {
		t.Fatalf("only %d functions are marked %s: the marks got lost", marked, hotMark)
	}
	got := slices.Sorted(maps.Keys(found))
	if *update {
		if err := os.WriteFile(escapeList, []byte(strings.Join(got, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	b, err := os.ReadFile(escapeList)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSpace(string(b)), "\n")
	for _, e := range got {
		if !slices.Contains(want, e) {
			t.Errorf("%s: new escape in a hot function: %s\n(if it is meant, and the comment beside it says why: make escape UPDATE=1)",
				found[e], e)
		}
	}
	for _, e := range want {
		if e != "" && found[e] == "" {
			t.Errorf("an escape is gone, take it off the list with make escape UPDATE=1: %s", e)
		}
	}
}

// span is one hot function of a file.
type span struct {
	file       string
	name       string
	first, end int
}

func hotSpans(t *testing.T, dir string) (spans []span) {
	t.Helper()
	fset := token.NewFileSet()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Doc == nil || !hot(fn.Doc) {
				continue
			}
			spans = append(spans, span{file: filepath.Base(path), name: nameOf(fn),
				first: fset.Position(fn.Pos()).Line, end: fset.Position(fn.End()).Line})
		}
	}
	return spans
}

func hot(doc *ast.CommentGroup) bool {
	for _, c := range doc.List {
		if c.Text == hotMark {
			return true
		}
	}
	return false
}

func nameOf(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	var b bytes.Buffer
	switch e := fn.Recv.List[0].Type.(type) {
	case *ast.StarExpr:
		writeType(&b, e.X)
	default:
		writeType(&b, e)
	}
	return b.String() + "." + fn.Name.Name
}

func writeType(b *bytes.Buffer, e ast.Expr) {
	switch e := e.(type) {
	case *ast.Ident:
		b.WriteString(e.Name)
	case *ast.IndexExpr:
		writeType(b, e.X)
	case *ast.IndexListExpr:
		writeType(b, e.X)
	}
}

// escapesOf compiles one package and returns the escapes inside its hot functions, each with the file:line of one place.
func escapesOf(t *testing.T, dir, pkg string, spans []span) map[string]string {
	t.Helper()
	out := make(map[string]string)
	cmd := exec.Command("go", "build", "-gcflags=-m=1", ".")
	cmd.Dir = dir
	b, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", pkg, err, b)
	}
	if len(b) == 0 {
		t.Fatalf("%s: the compiler said nothing; escape analysis did not run", pkg)
	}
	for line := range strings.Lines(string(b)) {
		m := escapeLine.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil || strings.HasPrefix(m[3], `"`) { // a constant string, of a panic: static data, no allocation
			continue
		}
		n, err := strconv.Atoi(m[2])
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range spans {
			if s.file == filepath.Base(m[1]) && n >= s.first && n <= s.end {
				out[fmt.Sprintf("%s %s: %s", pkg, s.name, m[3])] = fmt.Sprintf("dataplane/%s/%s:%d", pkg, s.file, n)
			}
		}
	}
	return out
}
