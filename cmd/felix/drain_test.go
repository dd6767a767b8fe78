package main

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/felix-go/felix/dataplane/transport"
	felix "github.com/felix-go/felix/sdk"
)

func dialDev(t *testing.T, a announcement) *felix.Client {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	c, err := felix.Dial(ctx, "felix://"+a.Addr+"/"+a.Tenant+"/"+a.Namespace, felix.WithTokenFile(a.TokenFile), felix.WithCAFile(a.CAFile))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// SIGTERM under load: readiness goes first while everything is still served, work in flight finishes, the close says that it was
// deliberate, the process ends within its budget with code 0, and a second broker on the same state serves the same clients.
func TestSIGTERMUnderLoad(t *testing.T) {
	dir := t.TempDir()
	const predrain, budget = 1500 * time.Millisecond, 10 * time.Second
	p, a := startDev(t, dir, "--shutdown-predrain-ms", predrain.String(), "--shutdown-drain-timeout-ms", budget.String())
	if code, body := get("http://" + a.Admin + "/ready"); code != 200 {
		t.Fatalf("/ready before: %d %s", code, body)
	}
	subscriber := dialDev(t, a)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	sub, err := subscriber.Subscribe(ctx, "demo")
	if err != nil {
		t.Fatal(err)
	}
	var received atomic.Int64
	subEnded := make(chan error, 1)
	go func() {
		for _, err := range sub.Events(ctx) {
			if err != nil {
				subEnded <- err
				return
			}
			received.Add(1)
		}
	}()
	var acked, unknown, refused atomic.Int64
	var afterUnready atomic.Int64 // acknowledged while /ready said no
	var unready atomic.Bool
	var wg sync.WaitGroup
	for range 8 {
		c := dialDev(t, a)
		wg.Add(1)
		go func() {
			defer wg.Done()
			for {
				_, err := c.Publish(ctx, "demo", []byte("under load"))
				switch {
				case err == nil:
					acked.Add(1)
					if unready.Load() {
						afterUnready.Add(1)
					}
				case errors.Is(err, felix.ErrOverloaded):
					refused.Add(1)
				default:
					if felix.IsOutcomeUnknown(err) {
						unknown.Add(1)
					}
					if info, ok := transport.Closed(errors.Unwrap(err)); ok && (info.Code != transport.CloseShutdown || info.Kind == transport.CloseApplication && info.Reason != "broker shutting down") {
						t.Errorf("closed with %+v", info)
					}
					return
				}
			}
		}()
	}
	waitUntil(t, "load", func() bool { return acked.Load() > 500 })
	p.cmd.Process.Signal(terminate)
	began := time.Now()
	waitUntil(t, "readiness to go", func() bool { code, _ := get("http://" + a.Admin + "/ready"); return code == 503 })
	unready.Store(true)
	if code, _ := get("http://" + a.Admin + "/live"); code != 200 {
		t.Errorf("/live while draining: %d", code)
	}
	select {
	case <-p.done:
	case <-time.After(predrain + budget + 30*time.Second):
		t.Fatal("felix did not end")
	}
	took := time.Since(began)
	wg.Wait()
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit %d\n%s", code, p.log())
	}
	if took > predrain+budget {
		t.Errorf("the drain took %s of %s", took, predrain+budget)
	}
	if afterUnready.Load() == 0 {
		t.Error("nothing was served between readiness off and the drain")
	}
	// Everything acknowledged was delivered: the subscriber's connection was closed after its queue had left.
	select {
	case err := <-subEnded:
		var lost *felix.LostError
		if !errors.As(err, &lost) || !strings.Contains(err.Error(), "broker shutting down") {
			t.Errorf("the subscription ended with %v: a deliberate close must be told from an end of the stream", err)
		}
	case <-time.After(30 * time.Second):
		t.Error("the subscription did not end")
	}
	if received.Load() < acked.Load() {
		t.Errorf("%d acknowledged, %d delivered before the close", acked.Load(), received.Load())
	}
	t.Logf("acknowledged %d (%d after readiness went), outcome unknown %d, refused %d, delivered %d, ended %s after SIGTERM",
		acked.Load(), afterUnready.Load(), unknown.Load(), refused.Load(), received.Load(), took.Round(time.Millisecond))

	_, b := startDev(t, dir, "--quic-bind", a.Addr)
	if b.CAFile != a.CAFile {
		t.Errorf("another certificate: %s", b.CAFile)
	}
	end, stop := context.WithTimeout(ctx, 30*time.Second)
	defer stop()
	if _, err := subscriber.Publish(end, "demo", []byte("again")); err != nil {
		t.Errorf("the second broker on the same state: %v", err)
	}
}

// An idle broker ends at once, and a second signal cuts a drain short.
func TestSIGTERMIdle(t *testing.T) {
	p, a := startDev(t, t.TempDir())
	c := dialDev(t, a)
	if _, err := c.Subscribe(context.Background(), "demo"); err != nil {
		t.Fatal(err)
	}
	took, code := p.stop(terminate)
	if code != 0 {
		t.Errorf("exit %d", code)
	}
	t.Logf("an idle broker with one subscriber ended %s after SIGTERM", took.Round(time.Millisecond))
	if took > 12*time.Second { // half of the default budget: it must not wait for peers to hang up
		t.Errorf("an idle broker took %s to end", took)
	}
}

func TestBrokerAndControlPlaneProcesses(t *testing.T) {
	cpDir, dir := t.TempDir(), t.TempDir()
	cp, _ := start(t, "controlplane", "--state-dir", cpDir, "--bind", "127.0.0.1:0")
	url := awaitLog(t, cp, `url=`)
	b, _ := start(t, "broker", "--state-dir", dir, "--controlplane-url", url, "--controlplane-token-file",
		filepath.Join(cpDir, "operator-token"), "--quic-bind", "127.0.0.1:0", "--metrics-bind", "127.0.0.1:0", "--log-format", "text")
	addr := awaitLog(t, b, `msg="broker is up" addr=`)
	admin := []string{"--controlplane-url", url, "--controlplane-token-file", filepath.Join(cpDir, "operator-token"), "--tenant", "acme", "--namespace", "prod"}
	for _, args := range [][]string{{"tenant", "create", "acme"}, {"namespace", "create", "prod"}, {"stream", "create", "orders"}} {
		if out, errs, code := felixRun(t, "", append(args, admin...)...); code != 0 {
			t.Fatalf("%v: %s%s", args, out, errs)
		}
	}
	token, errs, code := felixRun(t, "", append([]string{"token", "mint", "--principal", "p", "--permission", "stream.publish:stream:acme/prod/orders"}, admin...)...)
	if code != 0 {
		t.Fatal(errs)
	}
	tokenFile := filepath.Join(dir, "client-token")
	if err := writeSecret(tokenFile, strings.TrimSpace(token)); err != nil {
		t.Fatal(err)
	}
	waitUntil(t, "a publish through both processes", func() bool {
		_, _, code := felixRun(t, "", "pub", "orders", "hello", "--addr", addr, "--tenant", "acme", "--namespace", "prod",
			"--ca-file", filepath.Join(dir, "tls-self-signed.pem"), "--token-file", tokenFile)
		return code == 0
	})
	if _, code := b.stop(terminate); code != 0 {
		t.Errorf("broker: exit %d", code)
	}
	if _, code := cp.stop(terminate); code != 0 {
		t.Errorf("controlplane: exit %d", code)
	}
}

// awaitLog returns the word after mark in the process's standard error.
func awaitLog(t *testing.T, p *process, mark string) (word string) {
	t.Helper()
	waitUntil(t, "log line with "+mark, func() bool {
		_, after, found := strings.Cut(p.log(), mark)
		if !found {
			return false
		}
		word, _, found = strings.Cut(after, "\n")
		word, _, _ = strings.Cut(word, " ")
		return found
	})
	return word
}

func waitUntil(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(60 * time.Second); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}
