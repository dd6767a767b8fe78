package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// binary is the program under test, built once.
var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "felix-cmd-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	binary = filepath.Join(dir, "felix")
	build := exec.Command("go", "build", "-o", binary, ".")
	build.Stdout, build.Stderr = os.Stdout, os.Stderr
	code := 1
	if err := build.Run(); err == nil {
		code = m.Run()
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

// process is a running felix.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	done   chan struct{} // closed when it ended
	err    error         // valid after done
	mu     sync.Mutex    // guards the following
	stderr bytes.Buffer
}

// start runs felix with args until the end of the test at most. The lines of its standard output go to the channel.
func start(t *testing.T, args ...string) (*process, <-chan string) {
	t.Helper()
	p := &process{t: t, cmd: exec.Command(binary, args...), done: make(chan struct{})}
	p.cmd.Env = cleanEnvironment()
	p.cmd.Stderr = p
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := make(chan string, 1024)
	go func() {
		for s := bufio.NewScanner(out); s.Scan(); {
			lines <- s.Text()
		}
		close(lines)
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	t.Cleanup(func() {
		p.cmd.Process.Kill()
		<-p.done
		if t.Failed() {
			t.Logf("standard error of felix %s:\n%s", args[0], p.log())
		}
	})
	return p, lines
}

// Write collects standard error.
func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stderr.Write(b)
}

func (p *process) log() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stderr.String()
}

// stop sends a signal and returns how long the process took to end, and its exit code.
func (p *process) stop(s os.Signal) (time.Duration, int) {
	p.t.Helper()
	at := time.Now()
	p.cmd.Process.Signal(s)
	select {
	case <-p.done:
	case <-time.After(60 * time.Second):
		p.t.Fatalf("felix did not end after %v", s)
	}
	return time.Since(at), p.cmd.ProcessState.ExitCode()
}

// cleanEnvironment is this process's without settings of felix.
func cleanEnvironment() (env []string) {
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "FELIX_") {
			env = append(env, e)
		}
	}
	return env
}

// startDev starts felix dev on free ports and returns what it announces.
func startDev(t *testing.T, stateDir string, extra ...string) (*process, announcement) {
	t.Helper()
	args := append([]string{"dev", "-o", "json", "--state-dir", stateDir, "--quic-bind", "127.0.0.1:0",
		"--metrics-bind", "127.0.0.1:0", "--controlplane-bind", "127.0.0.1:0"}, extra...)
	p, lines := start(t, args...)
	var doc strings.Builder
	timeout := time.After(60 * time.Second)
	for {
		select {
		case line, ok := <-lines:
			if !ok {
				<-p.done
				t.Fatalf("felix dev ended: %v\n%s", p.err, p.log())
			}
			doc.WriteString(line)
			if line == "}" {
				var a announcement
				if err := json.Unmarshal([]byte(doc.String()), &a); err != nil {
					t.Fatal(err)
				}
				return p, a
			}
		case <-timeout:
			t.Fatalf("felix dev announced nothing\n%s", p.log())
		}
	}
}

// felixRun runs a verb to its end.
func felixRun(t *testing.T, stdin string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env = cleanEnvironment()
	cmd.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// get asks the admin listener; code 0 means that nobody answers.
func get(url string) (code int, body string) {
	c := http.Client{Timeout: 5 * time.Second}
	r, err := c.Get(url)
	if err != nil {
		return 0, err.Error()
	}
	defer r.Body.Close()
	b, _ := io.ReadAll(r.Body)
	return r.StatusCode, string(b)
}

var terminate = os.Signal(syscall.SIGTERM)
