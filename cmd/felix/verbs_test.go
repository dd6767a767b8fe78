package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// Every data and administration verb, with success and refusal, and its exit code.
func TestAdminVerbs(t *testing.T) {
	_, a := startDev(t, t.TempDir())
	ctx := []string{"--context", a.ContextFile}
	run := func(code int, want string, args ...string) string {
		t.Helper()
		out, errs, got := felixRun(t, "", append(args, ctx...)...)
		if got != code || !strings.Contains(out+errs, want) {
			t.Errorf("felix %s: exit %d, %q %q; want exit %d and %q", strings.Join(args, " "), got, out, errs, code, want)
		}
		return out
	}
	run(0, "created tenant acme", "tenant", "create", "acme", "--display-name", "Acme Inc")
	run(4, "", "tenant", "create", "acme")
	run(2, "", "tenant", "create", "a/b")
	run(0, "Acme Inc", "tenant", "list")
	run(0, "created namespace acme/prod", "namespace", "create", "prod", "--tenant", "acme")
	run(3, "", "namespace", "create", "prod", "--tenant", "nobody")
	run(0, "prod", "namespace", "list", "--tenant", "acme", "-o", "jsonl")
	run(0, "created stream acme/prod/orders", "stream", "create", "orders", "--tenant", "acme", "--namespace", "prod", "--shards", "4")
	run(0, "created cache acme/prod/sessions", "cache", "create", "sessions", "--tenant", "acme", "--namespace", "prod")
	run(0, "sessions", "cache", "list", "--tenant", "acme", "--namespace", "prod")
	var streams []struct {
		Stream string `json:"stream"`
		Shards int    `json:"shards"`
	}
	if err := json.Unmarshal([]byte(run(0, "orders", "stream", "list", "--tenant", "acme", "--namespace", "prod", "-o", "json")), &streams); err != nil ||
		len(streams) != 1 || streams[0].Shards != 4 {
		t.Errorf("stream list -o json: %v %v", streams, err)
	}
	token := run(0, "ey", "token", "mint", "--tenant", "acme", "--principal", "shop", "--permission", "stream.publish:stream:acme/prod/orders",
		"--permission", "cache.read:cache:acme/prod/sessions/user:*")
	if strings.Count(token, ".") != 2 {
		t.Errorf("token mint printed %q", token)
	}
	run(2, "", "token", "mint", "--tenant", "acme", "--principal", "shop")
	run(2, "", "token", "mint", "--tenant", "acme", "--principal", "shop", "--permission", "stream.publish:stream:other/prod/orders")
	run(2, "--yes", "stream", "delete", "orders", "--tenant", "acme", "--namespace", "prod")
	run(0, "would delete stream acme/prod/orders", "stream", "delete", "orders", "--tenant", "acme", "--namespace", "prod", "--dry-run")
	run(3, "", "stream", "delete", "absent", "--tenant", "acme", "--namespace", "prod", "--dry-run")
	run(0, "deleted stream acme/prod/orders", "stream", "delete", "orders", "--tenant", "acme", "--namespace", "prod", "--yes")
	run(3, "", "stream", "delete", "orders", "--tenant", "acme", "--namespace", "prod", "--yes")
	run(0, "deleted cache acme/prod/sessions", "cache", "delete", "sessions", "--tenant", "acme", "--namespace", "prod", "--yes")
	run(0, "deleted namespace acme/prod", "namespace", "delete", "prod", "--tenant", "acme", "--yes")
	run(0, "deleted tenant acme", "tenant", "delete", "acme", "--yes")
	run(2, "unknown flag", "tenant", "list", "--nosuchflag")
	run(2, "-o yaml", "tenant", "list", "-o", "yaml")
}

func TestDataVerbs(t *testing.T) {
	_, a := startDev(t, t.TempDir())
	run := func(code int, want, stdin string, args ...string) string {
		t.Helper()
		out, errs, got := felixRun(t, stdin, append(args, "--context", a.ContextFile)...)
		if got != code || !strings.Contains(out+errs, want) {
			t.Errorf("felix %s: exit %d, %q %q; want exit %d and %q", strings.Join(args, " "), got, out, errs, code, want)
		}
		return out
	}
	run(0, "published 3 to demo", "one\ntwo\nthree\n", "pub", "demo")
	run(0, "published 2 to demo", "", "pub", "demo", "again", "--count", "2", "--ack", "per_batch", "--key", "k")
	run(0, `"published": 1`, "", "pub", "demo", "quiet", "--ack", "none", "-o", "json")
	if out := run(0, "", "", "sub", "demo", "--from", "earliest", "--count", "5"); out != "one\ntwo\nthree\nagain\nagain\n" {
		t.Errorf("sub printed %q", out)
	}
	if out := run(0, "", "", "sub", "demo", "--from", "1", "--count", "1", "-o", "jsonl"); !strings.Contains(out, `"data":"two"`) {
		t.Errorf("sub -o jsonl printed %q", out)
	}
	if out := run(0, "", "", "sub", "demo", "--from", "2", "--count", "1", "-o", "raw"); out != "three" {
		t.Errorf("sub -o raw printed %q", out)
	}
	run(1, "past the tail", "", "sub", "demo", "--from", "1000")
	run(3, "not found", "", "pub", "nosuchstream", "x")
	run(3, "not found", "", "sub", "nosuchstream", "--count", "1")
	run(2, "--ack", "", "pub", "demo", "x", "--ack", "maybe")
	run(5, "", "", "pub", "demo", "x", "--tenant", "somebody-else")

	run(0, "stored k", "", "cache", "put", "demo", "k", "v")
	run(0, "v", "", "cache", "get", "demo", "k")
	run(0, "stored s", "from standard input", "cache", "put", "demo", "s", "-")
	if out := run(0, "", "", "cache", "get", "demo", "s", "-o", "raw"); out != "from standard input" {
		t.Errorf("cache get -o raw printed %q", out)
	}
	run(3, "no such key", "", "cache", "get", "demo", "absent")
	run(4, "not stored", "", "cache", "put", "demo", "k", "w", "--if-absent")
	run(0, "stored n, version", "", "cache", "put", "demo", "n", "w", "--if-absent")
	var entry struct {
		Version uint64 `json:"version"`
	}
	if err := json.Unmarshal([]byte(run(0, "version", "", "cache", "get", "demo", "n", "-o", "json")), &entry); err != nil || entry.Version == 0 {
		t.Errorf("cache get -o json: %v %v", entry, err)
	}
	run(2, "ttl", "", "cache", "put", "demo", "k", "v", "--ttl", "-1s")
	if out := run(0, "", "", "cache", "keys", "demo"); out != "k\nn\ns\n" {
		t.Errorf("cache keys printed %q", out)
	}
	if out := run(0, "", "", "cache", "keys", "demo", "--prefix", "n"); out != "n\n" {
		t.Errorf("cache keys --prefix printed %q", out)
	}
	run(0, "deleted k: v", "", "cache", "delete", "demo", "k")
	run(0, "had no value", "", "cache", "delete", "demo", "k")
	run(3, "not found", "", "cache", "get", "nosuchcache", "k")
	if _, errs, code := felixRun(t, "", "pub", "demo", "x"); code != 2 || !strings.Contains(errs, "--addr") {
		t.Errorf("without a target: exit %d %s", code, errs)
	}
	bad := filepath.Join(t.TempDir(), "token")
	if err := writeSecret(bad, "not-a-token"); err != nil {
		t.Fatal(err)
	}
	run(5, "auth failed", "", "pub", "demo", "x", "--token-file", bad)
}

// A wrong word is wrong usage (exit code 2), wherever it stands; a group of verbs alone prints its help.
func TestWrongArguments(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"", 0, "felix [command]"},
		{"cache", 0, "Available Commands"},
		{"frob", 2, `unknown verb "frob"; see felix --help`},
		{"pbu", 2, "did you mean pub"},
		{"cache gte", 2, "did you mean get"},
		{"cache frob", 2, `unknown verb "frob"; see felix cache --help`},
		{"pub", 2, "see felix pub --help"},
		{"stream create", 2, "see felix stream create --help"},
		{"stream list extra", 2, "see felix stream list --help"},
		{"token mint extra", 2, "see felix token mint --help"},
		{"dev extra", 2, "see felix dev --help"},
	} {
		out, errs, code := felixRun(t, "", strings.Fields(c.args)...)
		if code != c.code || !strings.Contains(out+errs, c.want) {
			t.Errorf("felix %s: exit %d, %q %q; want exit %d and %q", c.args, code, out, errs, c.code, c.want)
		}
	}
}
