package felix_test

import (
	"fmt"
	"os"
	"testing"
)

// exampleT is the part of testing.TB that brokertest uses, for examples, which have none.
type exampleT struct {
	testing.TB
	cleanups []func()
	dirs     []string
}

func (t *exampleT) Helper()          {}
func (t *exampleT) Cleanup(f func()) { t.cleanups = append(t.cleanups, f) }

func (t *exampleT) TempDir() string {
	dir, err := os.MkdirTemp("", "felix-example-")
	if err != nil {
		t.Fatalf("%v", err)
	}
	t.dirs = append(t.dirs, dir)
	return dir
}

func (t *exampleT) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }
func (t *exampleT) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

func (t *exampleT) cleanup() {
	for i := len(t.cleanups) - 1; i >= 0; i-- {
		t.cleanups[i]()
	}
	for _, dir := range t.dirs {
		os.RemoveAll(dir)
	}
}
