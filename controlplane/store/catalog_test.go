package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/felix-go/felix/controlplane/api"
)

func TestCreateNeedsParentsAndFreeName(t *testing.T) {
	s, ctx := openEmbedded(t, Config{}), testContext(t)

	_, err := s.CreateNamespace(ctx, api.Namespace{TenantID: "t", Namespace: "n"})
	want(t, err, ErrNotFound)
	addTenant(t, s, "t")
	_, err = s.CreateTenant(ctx, api.Tenant{TenantID: "t"}, newKey(t))
	want(t, err, ErrExists)

	_, err = s.CreateStream(ctx, api.Stream{TenantID: "t", Namespace: "n", Stream: "s"})
	want(t, err, ErrNotFound)
	_, err = s.CreateCache(ctx, api.Cache{TenantID: "t", Namespace: "n", Cache: "c"})
	want(t, err, ErrNotFound)
	addNamespace(t, s, "t", "n")
	_, err = s.CreateNamespace(ctx, api.Namespace{TenantID: "t", Namespace: "n"})
	want(t, err, ErrExists)

	addStream(t, s, "t", "n", "s")
	_, err = s.CreateStream(ctx, api.Stream{TenantID: "t", Namespace: "n", Stream: "s"})
	want(t, err, ErrExists)
	addCache(t, s, "t", "n", "c")
	_, err = s.CreateCache(ctx, api.Cache{TenantID: "t", Namespace: "n", Cache: "c"})
	want(t, err, ErrExists)

	// Refused writes leave no row.
	for name, n := range map[string]int{
		"tenants": len(allChanges(t, s.Tenants)), "namespaces": len(allChanges(t, s.Namespaces)),
		"streams": len(allChanges(t, s.Streams)), "caches": len(allChanges(t, s.Caches)),
	} {
		if n != 1 {
			t.Errorf("%d change rows of %s, want 1", n, name)
		}
	}
}

func TestDeleteOfNothing(t *testing.T) {
	s, ctx := openEmbedded(t, Config{}), testContext(t)
	want(t, s.DeleteTenant(ctx, "t"), ErrNotFound)
	want(t, s.DeleteNamespace(ctx, "t", "n"), ErrNotFound)
	want(t, s.DeleteStream(ctx, "t", "n", "s"), ErrNotFound)
	want(t, s.DeleteCache(ctx, "t", "n", "c"), ErrNotFound)
}

func TestIncarnationGrowsOnRecreation(t *testing.T) {
	s, ctx := openEmbedded(t, Config{}), testContext(t)
	addTenant(t, s, "t")
	addNamespace(t, s, "t", "n")
	var last uint64
	for range 3 {
		made := addStream(t, s, "t", "n", "s")
		if made.Incarnation <= last {
			t.Fatalf("incarnation %d after %d", made.Incarnation, last)
		}
		last = made.Incarnation

		// A change keeps it, everywhere it can be seen.
		durable := func(st *api.Stream) error { st.Durable = true; return nil }
		changed, err := s.Streams.Update(ctx, durable, "t", "n", "s")
		ok(t, err)
		found, err := s.Streams.Find(ctx, "t", "n", "s")
		ok(t, err)
		listed, _, err := s.Streams.List(ctx, "", 10, "t", "n")
		ok(t, err)
		if changed.Incarnation != last || found != changed || listed[0] != changed || !found.Durable {
			t.Fatalf("changed %+v, found %+v, listed %+v, want incarnation %d", changed, found, listed[0], last)
		}
		ok(t, s.DeleteStream(ctx, "t", "n", "s"))
	}
	rows := allChanges(t, s.Streams)
	for i := 0; i < len(rows); i += 3 {
		life := rows[i : i+3]
		if life[0].Op != api.OpCreated || life[1].Op != api.OpUpdated || life[2].Op != api.OpDeleted {
			t.Fatalf("operations %v", life)
		}
		inc := life[0].Item.Incarnation
		if inc == 0 || life[1].Item.Incarnation != inc || life[2].Item.Incarnation != inc {
			t.Fatalf("incarnations of one life differ: %+v", life)
		}
		if i > 0 && inc <= rows[i-1].Item.Incarnation {
			t.Fatalf("incarnation %d does not grow", inc)
		}
	}
	if rows[len(rows)-1].Item.Incarnation != last {
		t.Fatalf("the feed says incarnation %d, creation said %d", rows[len(rows)-1].Item.Incarnation, last)
	}
}

func TestUpdateThatChangesNothingWritesNothing(t *testing.T) {
	s, ctx := openEmbedded(t, Config{}), testContext(t)
	addTenant(t, s, "t")
	addNamespace(t, s, "t", "n")
	addStream(t, s, "t", "n", "s")
	_, err := s.Streams.Update(ctx, func(*api.Stream) error { return nil }, "t", "n", "s")
	ok(t, err)
	no := errors.New("no")
	_, err = s.Streams.Update(ctx, func(st *api.Stream) error { st.Shards = 9; return no }, "t", "n", "s")
	want(t, err, no)
	if rows := allChanges(t, s.Streams); len(rows) != 1 {
		t.Fatalf("%d change rows, want 1", len(rows))
	}
}

// Twenty updates of one object at once all count: an update that lost the race reads again.
func TestConcurrentUpdatesAllApply(t *testing.T) {
	s, ctx := openEmbedded(t, Config{}), testContext(t)
	addTenant(t, s, "t")
	addNamespace(t, s, "t", "n")
	addStream(t, s, "t", "n", "s")
	const writers = 20
	together(t, writers, func(int) error {
		_, err := s.Streams.Update(ctx, func(st *api.Stream) error { st.Shards++; return nil }, "t", "n", "s")
		return err
	})
	found, err := s.Streams.Find(ctx, "t", "n", "s")
	ok(t, err)
	if found.Shards != 1+writers {
		t.Fatalf("%d of %d updates applied", found.Shards-1, writers)
	}
}

// together runs f n times at once and fails on any error.
func together(t *testing.T, n int, f func(i int) error) {
	t.Helper()
	var wg sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		wg.Go(func() { errs[i] = f(i) })
	}
	wg.Wait()
	ok(t, errors.Join(errs...))
}

// Twenty creators get twenty streams and a dense sequence; of twenty that want one name, one gets it.
func TestConcurrentCreators(t *testing.T) {
	s, ctx := openEmbedded(t, Config{}), testContext(t)
	addTenant(t, s, "t")
	addNamespace(t, s, "t", "n")
	const writers, each = 20, 5
	together(t, writers, func(i int) error {
		for j := range each {
			name := fmt.Sprintf("s-%d-%d", i, j)
			if _, err := s.CreateStream(ctx, api.Stream{TenantID: "t", Namespace: "n", Stream: name}); err != nil {
				return err
			}
		}
		return nil
	})
	rows := allChanges(t, s.Streams)
	if len(rows) != writers*each {
		t.Fatalf("%d change rows, want %d", len(rows), writers*each)
	}
	seen := map[string]bool{}
	for _, r := range rows {
		if r.Op != api.OpCreated || seen[r.Item.Stream] {
			t.Fatalf("row %+v", r)
		}
		seen[r.Item.Stream] = true
	}

	var mu sync.Mutex
	won := 0
	together(t, writers, func(int) error {
		_, err := s.CreateCache(ctx, api.Cache{TenantID: "t", Namespace: "n", Cache: "one"})
		mu.Lock()
		defer mu.Unlock()
		if err == nil {
			won++
			return nil
		}
		if !errors.Is(err, ErrExists) {
			return err
		}
		return nil
	})
	if won != 1 || len(allChanges(t, s.Caches)) != 1 {
		t.Fatalf("%d creators of one name won", won)
	}
}

func TestDeleteNamespaceTakesItsContents(t *testing.T) {
	s, ctx := openEmbedded(t, Config{}), testContext(t)
	addTenant(t, s, "t")
	addNamespace(t, s, "t", "n")
	addNamespace(t, s, "t", "nn") // shares a name prefix
	kept := addStream(t, s, "t", "nn", "kept")
	const n = 2*maxRowsPerWrite + 7
	for i := range n {
		addStream(t, s, "t", "n", fmt.Sprintf("s%03d", i))
	}
	addCache(t, s, "t", "n", "c")
	ok(t, s.DeleteNamespace(ctx, "t", "n"))

	snap, err := s.Streams.Snapshot(ctx)
	ok(t, err)
	if !slices.Equal(snap.Items, []api.Stream{kept}) {
		t.Fatalf("streams left: %+v", snap.Items)
	}
	cs, err := s.Caches.Snapshot(ctx)
	ok(t, err)
	if len(cs.Items) != 0 {
		t.Fatalf("caches left: %+v", cs.Items)
	}
	gone := 0
	for _, r := range allChanges(t, s.Streams) {
		if r.Op == api.OpDeleted && r.Item.Incarnation != 0 {
			gone++
		}
	}
	if gone != n {
		t.Fatalf("%d deletion rows, want %d", gone, n)
	}
	noMarkers(t, s)
	want(t, s.DeleteNamespace(ctx, "t", "n"), ErrNotFound)
	addNamespace(t, s, "t", "n")
}

func noMarkers(t *testing.T, s *Store) {
	t.Helper()
	resp, err := s.etcd.client.Get(testContext(t), s.keys.deletings(), clientv3.WithPrefix())
	ok(t, err)
	if len(resp.Kvs) != 0 {
		t.Fatalf("marker %s left", resp.Kvs[0].Key)
	}
}

func TestDeleteTenantTakesItsContentsAndKeys(t *testing.T) {
	s, ctx := openEmbedded(t, Config{}), testContext(t)
	for _, tenant := range []string{"t", "tt"} {
		addTenant(t, s, tenant)
		for _, ns := range []string{"a", "b"} {
			addNamespace(t, s, tenant, ns)
			addStream(t, s, tenant, ns, "s")
			addCache(t, s, tenant, ns, "c")
		}
	}
	ok(t, s.DeleteTenant(ctx, "t"))
	resp, err := s.etcd.client.Get(ctx, s.keys.prefix, clientv3.WithPrefix(), clientv3.WithKeysOnly())
	ok(t, err)
	left := 0
	for _, kv := range resp.Kvs {
		key := strings.TrimPrefix(string(kv.Key), s.keys.prefix)
		switch {
		case strings.HasPrefix(key, "changes/"), strings.HasPrefix(key, "cursor/"):
		case strings.Contains(key+"/", "/t/"):
			t.Errorf("left behind: %s", key)
		default:
			left++
		}
	}
	if left != 8 { // tenant, keys, 2 namespaces, 2 streams, 2 caches of the other
		t.Errorf("the other tenant has %d records, want 8", left)
	}
	_, err = s.SigningKeys(ctx, "t")
	want(t, err, ErrNotFound)

	// A tenant of the same name is a new one, with a new key.
	addTenant(t, s, "t")
	keys, err := s.SigningKeys(ctx, "t")
	ok(t, err)
	if len(keys) != 1 {
		t.Fatalf("%d keys", len(keys))
	}
}

// halfDelete does the first step of a deletion and stops there, as a crash would.
func halfDelete[T any](t *testing.T, table *Table[T], path string) {
	t.Helper()
	marker := table.store.keys.deleting(table.schema.kind, path)
	ok(t, table.remove(testContext(t), path, clientv3.OpPut(marker, "")))
}

func TestHalfDoneDeletionIsFinished(t *testing.T) {
	finishers := map[string]func(ctx context.Context, t *testing.T, s *Store){
		"by the next start": func(ctx context.Context, t *testing.T, s *Store) {
			ok(t, s.sweeper.sweepAll(ctx))
		},
		"by a repeated deletion": func(ctx context.Context, t *testing.T, s *Store) {
			ok(t, s.DeleteNamespace(ctx, "t", "n"))
		},
		"by a creation of the name": func(ctx context.Context, t *testing.T, s *Store) {
			addNamespace(t, s, "t", "n")
		},
		"by the deletion of the tenant": func(ctx context.Context, t *testing.T, s *Store) {
			ok(t, s.DeleteTenant(ctx, "t"))
		},
	}
	for name, finish := range finishers {
		t.Run(name, func(t *testing.T) {
			s, ctx := openEmbedded(t, Config{}), testContext(t)
			addTenant(t, s, "t")
			addNamespace(t, s, "t", "n")
			addStream(t, s, "t", "n", "s")
			halfDelete(t, s.Namespaces, "t/n")

			// Meanwhile nothing can be created inside.
			_, err := s.CreateStream(ctx, api.Stream{TenantID: "t", Namespace: "n", Stream: "new"})
			want(t, err, ErrNotFound)

			finish(ctx, t, s)
			_, err = s.Streams.Find(ctx, "t", "n", "s")
			want(t, err, ErrNotFound)
			noMarkers(t, s)
		})
	}
}

// A sweeper that was overtaken cannot touch what was created after it was done by somebody else.
func TestLateSweeperLeavesNewObjectsAlone(t *testing.T) {
	s, ctx := openEmbedded(t, Config{}), testContext(t)
	addTenant(t, s, "t")
	addNamespace(t, s, "t", "n")
	addStream(t, s, "t", "n", "old")
	halfDelete(t, s.Namespaces, "t/n")
	marker := s.keys.deleting(namespaces, "t/n")
	resp, err := s.etcd.client.Get(ctx, marker)
	ok(t, err)
	held := guard{key: marker, revision: resp.Kvs[0].ModRevision, err: errSwept} // the late one has seen the marker

	addNamespace(t, s, "t", "n")
	fresh := addStream(t, s, "t", "n", "fresh")
	want(t, s.sweepHeld(ctx, held), errSwept)
	check(t, s.Streams, fresh, "t", "n", "fresh")
}

// A store that starts over a half-done deletion finishes it without being asked.
func TestRestartFinishesDeletion(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Config{DataDir: dir})
	addTenant(t, s, "t")
	addNamespace(t, s, "t", "n")
	addStream(t, s, "t", "n", "s")
	halfDelete(t, s.Tenants, "t")
	s.Close()

	s = open(t, Config{DataDir: dir})
	defer s.Close()
	ctx := testContext(t)
	for seq := uint64(1); ; {
		ok(t, s.Streams.Wait(ctx, seq)) // the row of the creation is there already
		page, err := s.Streams.Changes(ctx, seq)
		ok(t, err)
		if len(page.Items) == 1 && page.Items[0].Op == api.OpDeleted {
			return
		}
	}
}

// isRefusal reports an answer that the state explains.
func isRefusal(err error) bool { return errors.Is(err, ErrNotFound) || errors.Is(err, ErrExists) }
