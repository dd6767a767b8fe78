package knob

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// readCall finds where a program asks for a setting, and how.
var readCall = regexp.MustCompile(`\.(String|Bool|Int|Bytes|Duration)\("([a-z0-9_]+)"\)`)

// readers maps each setting that a program under dir reads to the accessors it is read with. Only files that
// import this package count.
func readers(t *testing.T, dir string) map[string][]string {
	t.Helper()
	out := make(map[string][]string)
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(text), `/profiles/knob"`) {
			return err
		}
		for _, m := range readCall.FindAllStringSubmatch(string(text), -1) {
			out[m[2]] = append(out[m[2]], m[1])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Every setting is read by the program, what is read is a setting, and the accessor fits its type: the
// accessors find a wrong name or type only when they run.
func TestEverySettingIsRead(t *testing.T) {
	fits := map[Type]string{TypeInt: "Int", TypeBytes: "Bytes", TypeDuration: "Duration", TypeBool: "Bool",
		TypeString: "String", TypeEnum: "String"}
	read := readers(t, "../../cmd")
	for _, k := range All() {
		if len(read[k.Name]) == 0 {
			t.Errorf("nobody reads %s", k.Name)
		}
		for _, accessor := range read[k.Name] {
			word := accessor == "String" && len(k.Allowed) > 0 // the word instead of the number
			if accessor != fits[k.Type] && !word {
				t.Errorf("%s is of type %s and read as %s", k.Name, k.Type, accessor)
			}
		}
		delete(read, k.Name)
	}
	for name := range read {
		t.Errorf("%s is read and no setting", name)
	}
}
