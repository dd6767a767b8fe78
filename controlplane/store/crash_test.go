package store

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/felix-go/felix/controlplane/api"
	"github.com/felix-go/felix/controlplane/token"
)

// children are the roles of a child process: what it does with a data directory, and its exit code.
var children = map[string]func(dir string) int{
	"open":  childOpen,
	"write": childWrite,
}

func child(t *testing.T, role, dir string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(testContext(t), os.Args[0], dir)
	cmd.Env = append(os.Environ(), childEnv+"="+role)
	return cmd
}

func childOpen(dir string) int {
	s, err := Open(context.Background(), Config{DataDir: dir, Logger: slog.Default()})
	if err != nil {
		fmt.Println("refused:", err)
		return 3
	}
	s.Close()
	return 0
}

// childWrite creates streams until it is killed, and prints each one that was acknowledged.
func childWrite(dir string) int {
	ctx := context.Background()
	s, err := Open(ctx, Config{DataDir: dir})
	if err != nil {
		fmt.Println("refused:", err)
		return 3
	}
	key, _ := token.NewKey(time.Now())
	_, _ = s.CreateTenant(ctx, api.Tenant{TenantID: "t"}, key)
	_, _ = s.CreateNamespace(ctx, api.Namespace{TenantID: "t", Namespace: "n"})
	for i := 0; ; i++ {
		name := fmt.Sprintf("s%d", i)
		_, err := s.CreateStream(ctx, api.Stream{TenantID: "t", Namespace: "n", Stream: name})
		if err == nil {
			fmt.Println(name)
		}
	}
}

// A write-ahead log that cannot be read ends in an error that names the directory. The child leaves
// etcd's goroutines of the failed start behind.
func TestOpenReportsUnreadableLog(t *testing.T) {
	dir := t.TempDir()
	open(t, Config{DataDir: dir}).Close()
	logs, err := filepath.Glob(filepath.Join(dir, "etcd", "member", "wal", "*.wal"))
	ok(t, err)
	for _, l := range logs {
		ok(t, os.WriteFile(l, []byte("no log at all, but longer than the header of a frame"), 0o600))
	}
	out, err := child(t, "open", dir).CombinedOutput()
	t.Logf("child: %v\n%s", err, out)
	if err == nil || !strings.Contains(string(out), dir) {
		t.Fatal("a broken write-ahead log was not reported")
	}
}

// What was acknowledged before kill -9 is there afterwards, in a dense feed, and the same directory
// opens at once.
func TestKillKeepsAcknowledgedWrites(t *testing.T) {
	dir := t.TempDir()
	var acked []string
	for round := range 3 {
		cmd := child(t, "write", dir)
		out, err := cmd.StdoutPipe()
		ok(t, err)
		ok(t, cmd.Start())
		lines := bufio.NewScanner(out)
		for n := 0; n < 20 && lines.Scan(); n++ {
			acked = append(acked, lines.Text())
		}
		ok(t, cmd.Process.Kill())
		for lines.Scan() {
			acked = append(acked, lines.Text())
		}
		_ = cmd.Wait() // killed
		if len(acked) < 20*(round+1) {
			t.Fatalf("round %d: the child acknowledged %d writes", round, len(acked))
		}
	}

	started := time.Now()
	s := open(t, Config{DataDir: dir})
	defer s.Close()
	t.Logf("%d acknowledged writes, reopened in %s", len(acked), time.Since(started))
	for _, name := range acked {
		if _, err := s.Streams.Find(testContext(t), "t", "n", name); err != nil {
			t.Errorf("acknowledged stream %s: %v", name, err)
		}
	}
	snap, err := s.Streams.Snapshot(testContext(t))
	ok(t, err)
	if rows := allChanges(t, s.Streams); len(rows) != len(snap.Items) || snap.NextSeq != uint64(len(rows)) {
		t.Fatalf("%d rows, %d streams, next_seq %d", len(rows), len(snap.Items), snap.NextSeq)
	}
}
