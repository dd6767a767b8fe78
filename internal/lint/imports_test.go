// Package lint holds the checks of the repository's structure.
package lint

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/felix-go/felix/"

// allowed says which packages of the module each package may import. A package that is not named may not exist. A trailing
// "*" allows everything below. The rooms stand in the order of the storeys.
var allowed = map[string][]string{
	// 0 ground
	"internal/invariants": {},
	"internal/clock":      {},
	"internal/lint":       {},
	"controlplane/api":    {},
	"profiles/knob":       {},
	"dataplane/wire":      {},
	"dataplane/stat":      {},
	"dataplane/ring":      {},
	// 1 material
	"dataplane/arena":     {"internal/invariants", "dataplane/stat"},
	"dataplane/admission": {"dataplane/stat"},
	"dataplane/auth":      {"dataplane/wire", "dataplane/stat", "internal/clock"},
	// 2 edges
	"dataplane/transport/udp": {"dataplane/stat"},
	"dataplane/transport":     {"dataplane/transport/udp", "dataplane/stat"},
	// 3 knowledge
	"dataplane/catalog": {"dataplane/wire", "dataplane/stat"},
	"dataplane/route":   {"dataplane/catalog", "dataplane/wire"},
	// 4 motion
	"dataplane/shard": {"dataplane/admission", "dataplane/arena", "dataplane/ring", "dataplane/stat", "dataplane/wire"},
	"dataplane/fanout": {"dataplane/arena", "dataplane/ring", "dataplane/stat", "dataplane/transport", "dataplane/wire",
		"internal/invariants"},
	// 5 state
	"dataplane/stream": {"dataplane/arena", "dataplane/fanout", "dataplane/ring", "dataplane/stat", "dataplane/wire"},
	"dataplane/cache": {"dataplane/arena", "dataplane/ring", "dataplane/stat", "dataplane/wire", "internal/clock",
		"internal/invariants"},
	// 7 front
	"dataplane/ingress": {"dataplane/admission", "dataplane/arena", "dataplane/auth", "dataplane/cache", "dataplane/catalog",
		"dataplane/fanout", "dataplane/ring", "dataplane/route", "dataplane/shard", "dataplane/stat", "dataplane/stream",
		"dataplane/transport", "dataplane/wire", "internal/clock", "internal/invariants"},
	// 8 node
	"dataplane/cluster": {"controlplane/api", "controlplane/client", "dataplane/auth", "dataplane/catalog", "dataplane/stat",
		"dataplane/wire", "internal/clock"},
	"dataplane/admin": {"dataplane/stat", "internal/clock"},
	// 9 wiring
	"dataplane":        {},
	"dataplane/broker": {"dataplane/*", "controlplane/client", "internal/clock"},
	"dataplane/brokertest": {"dataplane/broker", "dataplane/transport", "dataplane/wire", "controlplane/api",
		"controlplane/client", "controlplane/server", "controlplane/store"},
	// control plane
	"controlplane":        {},
	"controlplane/token":  {"controlplane/api", "dataplane/auth"},
	"controlplane/store":  {"controlplane/api", "controlplane/token", "internal/clock"},
	"controlplane/client": {"controlplane/api"},
	"controlplane/server": {"controlplane/api", "controlplane/store", "controlplane/token", "dataplane/auth",
		"dataplane/stat", "internal/clock"},
	// outside
	"sdk":       {"dataplane/wire", "dataplane/ring", "dataplane/arena", "dataplane/transport"},
	"cmd/felix": {"*"},
}

// rooms says which packages may import each external module: one module, one room.
var rooms = map[string][]string{
	"github.com/quic-go/quic-go":         {"dataplane/transport", "dataplane/transport/udp"},
	"github.com/golang-jwt/jwt":          {"dataplane/auth", "controlplane/token"},
	"github.com/VictoriaMetrics/metrics": {"dataplane/admin"},
	"go.etcd.io/etcd":                    {"controlplane/store"},
	"go.uber.org/zap":                    {"controlplane/store"},
	"go.uber.org/goleak":                 {"dataplane/brokertest"},
	"github.com/spf13":                   {"cmd/felix"},
	"github.com/valyala/bytebufferpool":  {"dataplane/admin"},
	"go.yaml.in/yaml":                    {"cmd/felix", "profiles/knob"},
	"golang.org/x/net":                   {"dataplane/transport/udp"},
	"golang.org/x/sys":                   {"cmd/felix", "dataplane/transport/udp", "internal/clock"},
	"golang.org/x/sync":                  {"dataplane/auth", "sdk"},
	"golang.org/x/time":                  {"dataplane/transport", "dataplane/cluster"},
	"github.com/cespare/xxhash":          {"dataplane/cache"},
}

// Package is what go list says of one package.
type Package struct {
	ImportPath string
	Imports    []string
	Standard   bool
	DepOnly    bool
	Deps       []string
}

func list(t *testing.T, args ...string) []Package {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Imports,Standard,DepOnly,Deps"}, args...)...)
	cmd.Dir = root(t)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []Package
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p Package
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// judge returns what is wrong with the imports of one package.
func judge(p Package) (faults []string) {
	from := strings.TrimPrefix(p.ImportPath, module)
	may, known := allowed[from]
	if !known {
		return []string{fmt.Sprintf("%s is in no storey: name it in the table", from)}
	}
	for _, imp := range p.Imports {
		if to, ok := strings.CutPrefix(imp, module); ok {
			if !matches(may, to) {
				faults = append(faults, fmt.Sprintf("%s must not import %s", from, to))
			}
			continue
		}
		if !strings.Contains(strings.SplitN(imp, "/", 2)[0], ".") {
			continue // standard library
		}
		if in, known := roomOf(imp); !known {
			faults = append(faults, fmt.Sprintf("%s imports %s, which has no room", from, imp))
		} else if !slices.Contains(in, from) {
			faults = append(faults, fmt.Sprintf("%s must not import %s: its rooms are %v", from, imp, in))
		}
	}
	return faults
}

func matches(may []string, to string) bool {
	for _, m := range may {
		if prefix, all := strings.CutSuffix(m, "*"); m == to || all && strings.HasPrefix(to, prefix) {
			return true
		}
	}
	return false
}

func roomOf(imp string) ([]string, bool) {
	for mod, in := range rooms {
		if imp == mod || strings.HasPrefix(imp, mod+"/") {
			return in, true
		}
	}
	return nil, false
}

func TestImports(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range list(t, "./...") {
		seen[strings.TrimPrefix(p.ImportPath, module)] = true
		for _, f := range judge(p) {
			t.Error(f)
		}
	}
	for name := range allowed {
		if !seen[name] {
			t.Errorf("the table names %s, which does not exist", name)
		}
	}
}

// The check can fail: edges that must not exist are found.
func TestImportsFindsForbiddenEdges(t *testing.T) {
	for _, p := range []Package{
		{ImportPath: module + "dataplane/wire", Imports: []string{module + "dataplane/ring"}},
		{ImportPath: module + "dataplane/stream", Imports: []string{module + "dataplane/shard"}},
		{ImportPath: module + "dataplane/ingress", Imports: []string{"github.com/quic-go/quic-go"}},
		{ImportPath: module + "dataplane/fanout", Imports: []string{"example.com/unknown"}},
		{ImportPath: module + "util"},
	} {
		if len(judge(p)) != 1 {
			t.Errorf("%s importing %v: %v", p.ImportPath, p.Imports, judge(p))
		}
	}
}

// sdkClosure is everything of the module that a program with the SDK is built from, and sdkModules all else that is not in the
// standard library: no etcd, metrics, storage, tokens or command line.
var (
	sdkClosure = []string{"sdk", "dataplane/wire", "dataplane/ring", "dataplane/arena", "dataplane/transport",
		"dataplane/transport/udp", "dataplane/stat", "internal/invariants"}
	sdkModules = []string{"github.com/quic-go/quic-go", "golang.org/x"}
)

// inherited returns what of the dependencies of the SDK its users should not get.
func inherited(deps []string) (faults []string) {
	for _, dep := range deps {
		to, ours := strings.CutPrefix(dep, module)
		switch {
		case ours && slices.Contains(sdkClosure, to), !strings.Contains(strings.SplitN(dep, "/", 2)[0], "."):
		case !ours && slices.ContainsFunc(sdkModules, func(m string) bool { return strings.HasPrefix(dep, m+"/") || dep == m }):
		default:
			faults = append(faults, dep)
		}
	}
	return faults
}

// Users of the SDK must not inherit the broker's dependencies.
func TestImportsOfSDKStaySmall(t *testing.T) {
	for _, p := range list(t, "./sdk") {
		for _, dep := range inherited(p.Deps) {
			t.Errorf("the SDK depends on %s", dep)
		}
	}
	for _, dep := range []string{"go.etcd.io/etcd/client/v3", "github.com/VictoriaMetrics/metrics", module + "dataplane/commitlog"} {
		if len(inherited([]string{"fmt", module + "dataplane/wire", dep})) != 1 {
			t.Errorf("the check lets %s pass", dep)
		}
	}
}

// topLevel is every entry that the layout has, or will have.
var topLevel = []string{"go.mod", "go.sum", "Makefile", "README.md", "CHANGELOG.md", "LICENSE", ".gitignore", "dataplane",
	"controlplane", "internal", "sdk", "loadgen", "bench", "profiles", "tuning", "results", "cmd", "docs", "deploy", ".ci"}

// misplaced returns the paths at whose top level the layout has nothing of that name.
func misplaced(paths []string) (faults []string) {
	for _, path := range paths {
		if top, _, _ := strings.Cut(path, "/"); !slices.Contains(topLevel, top) {
			faults = append(faults, path)
		}
	}
	return faults
}

func TestTopLevel(t *testing.T) {
	cmd := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard")
	cmd.Dir = root(t)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	for _, path := range misplaced(strings.Split(strings.TrimSpace(string(out)), "\n")) {
		t.Errorf("the top level of %s is not part of the layout", path)
	}
	if len(misplaced([]string{"pkg/util/x.go", "setup.sh", "sdk/client.go"})) != 2 {
		t.Error("the check lets strange folders pass")
	}
}
