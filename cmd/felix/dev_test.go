package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The commands that felix dev prints work exactly as printed, in a shell, from another process.
func TestDevPrintsCommandsThatWork(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state dir with a space")
	_, lines := start(t, "dev", "--state-dir", dir, "--quic-bind", "127.0.0.1:0", "--metrics-bind", "127.0.0.1:0",
		"--controlplane-bind", "127.0.0.1:0")
	var printed, commands []string
	for line := range lines {
		printed = append(printed, line)
		if strings.HasPrefix(line, "  ") && strings.Contains(line, " --context ") {
			commands = append(commands, strings.TrimSpace(line))
		}
		if strings.HasPrefix(line, "Interrupt") {
			break
		}
	}
	all := strings.Join(printed, "\n")
	for _, want := range []string{"address", "CA file", "token file", "tenant"} {
		if !strings.Contains(all, want) {
			t.Errorf("felix dev does not print its %s:\n%s", want, all)
		}
	}
	if len(commands) != 3 {
		t.Fatalf("felix dev prints %d commands:\n%s", len(commands), all)
	}
	wants := []string{"published 1 to demo", "hello, felix", "stored greeting\nhello"}
	for i, c := range commands {
		cmd := exec.Command("sh", "-c", c)
		cmd.Env = cleanEnvironment()
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil || strings.TrimSpace(string(out)) != wants[i] {
			t.Errorf("%s\nprinted %q, %v; want %q", c, out, err, wants[i])
		}
	}
	// What dev writes is for its user only.
	for _, name := range []string{"token", "context.yaml", "operator-token"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, mode %v", name, err, info.Mode())
		}
	}
}

// A second start on the same state finds its objects, and an address that is taken names the flag to turn.
func TestDevStartsAgainAndNamesTakenPorts(t *testing.T) {
	dir := t.TempDir()
	p, a := startDev(t, dir)
	_, errs, code := felixRun(t, "", "dev", "--state-dir", t.TempDir(), "--quic-bind", a.Addr, "--metrics-bind", "127.0.0.1:0", "--controlplane-bind", "127.0.0.1:0")
	if code == 0 || !strings.Contains(errs, "quic-bind") {
		t.Errorf("taken port: exit %d: %s", code, errs)
	}
	if _, code := p.stop(terminate); code != 0 {
		t.Errorf("exit %d", code)
	}
	_, b := startDev(t, dir)
	if out, errs, code := felixRun(t, "", "stream", "list", "--context", b.ContextFile); code != 0 || !strings.Contains(out, "demo") {
		t.Errorf("after a restart: exit %d, %s%s", code, out, errs)
	}
}
