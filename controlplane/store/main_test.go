package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/felix-go/felix/controlplane/api"
	"github.com/felix-go/felix/controlplane/token"
)

// childEnv names the role of a child process that a test starts from its own binary.
const childEnv = "FELIX_STORE_TEST_CHILD"

func TestMain(m *testing.M) {
	if role := os.Getenv(childEnv); role != "" {
		os.Exit(children[role](os.Args[1]))
	}
	goleak.VerifyTestMain(m)
}

// testContext ends with the test, or when something hangs.
func testContext(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// shortContext is for calls that are expected to run into their deadline.
func shortContext(t *testing.T) (context.Context, context.CancelFunc) {
	return context.WithTimeout(t.Context(), 100*time.Millisecond)
}

func testLogger(t *testing.T) *slog.Logger {
	return slog.New(slog.NewTextHandler(t.Output(), nil))
}

func open(t *testing.T, cfg Config) *Store {
	t.Helper()
	cfg.Logger = testLogger(t)
	s, err := Open(testContext(t), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// openEmbedded returns a store of its own, closed with the test.
func openEmbedded(t *testing.T, cfg Config) *Store {
	t.Helper()
	cfg.DataDir = t.TempDir()
	s := open(t, cfg)
	t.Cleanup(s.Close)
	return s
}

func want(t *testing.T, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Fatalf("got error %v, want %v", err, target)
	}
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newKey(t *testing.T) token.Key {
	t.Helper()
	k, err := token.NewKey(time.Now())
	ok(t, err)
	return k
}

func addTenant(t *testing.T, s *Store, tenant string) api.Tenant {
	t.Helper()
	made, err := s.CreateTenant(testContext(t), api.Tenant{TenantID: tenant}, newKey(t))
	ok(t, err)
	return made
}

func addNamespace(t *testing.T, s *Store, tenant, namespace string) api.Namespace {
	t.Helper()
	made, err := s.CreateNamespace(testContext(t), api.Namespace{TenantID: tenant, Namespace: namespace})
	ok(t, err)
	return made
}

func addStream(t *testing.T, s *Store, tenant, namespace, stream string) api.Stream {
	t.Helper()
	item := api.Stream{TenantID: tenant, Namespace: namespace, Stream: stream, Shards: 1}
	made, err := s.CreateStream(testContext(t), item)
	ok(t, err)
	return made
}

func addCache(t *testing.T, s *Store, tenant, namespace, cache string) api.Cache {
	t.Helper()
	item := api.Cache{TenantID: tenant, Namespace: namespace, Cache: cache, Shards: 1}
	made, err := s.CreateCache(testContext(t), item)
	ok(t, err)
	return made
}

// allChanges reads a whole feed and checks that it is dense from 0 on.
func allChanges[T any](t *testing.T, table *Table[T]) []api.Change[T] {
	t.Helper()
	var all []api.Change[T]
	for since := uint64(0); ; {
		page, err := table.Changes(testContext(t), since)
		ok(t, err)
		for _, c := range page.Items {
			if c.Seq != since {
				t.Fatalf("sequence %d follows %d", c.Seq, since)
			}
			since++
		}
		all = append(all, page.Items...)
		if page.NextSeq != since {
			t.Fatalf("next_seq %d after row %d", page.NextSeq, since)
		}
		if len(page.Items) == 0 {
			return all
		}
	}
}

func brief[T any](c api.Change[T], path func(*T) string) string {
	return fmt.Sprintf("%d %s %s", c.Seq, c.Op, path(&c.Item))
}
