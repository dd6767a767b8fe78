package store

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/felix-go/felix/controlplane/api"
)

func TestEmptyFeed(t *testing.T) {
	s, ctx := openEmbedded(t, Config{}), testContext(t)
	snap, err := s.Streams.Snapshot(ctx)
	ok(t, err)
	page, err := s.Streams.Changes(ctx, 0)
	ok(t, err)
	if snap.NextSeq != 0 || snap.Items == nil || page.NextSeq != 0 || page.Items == nil {
		t.Fatalf("snapshot %+v, changes %+v", snap, page)
	}
}

func TestKindsHaveTheirOwnSequences(t *testing.T) {
	s := openEmbedded(t, Config{})
	addTenant(t, s, "t")
	addNamespace(t, s, "t", "a")
	addNamespace(t, s, "t", "b")
	for i := range 3 {
		addStream(t, s, "t", "a", fmt.Sprintf("s%d", i))
	}
	got := []int{
		len(allChanges(t, s.Tenants)), len(allChanges(t, s.Namespaces)),
		len(allChanges(t, s.Streams)), len(allChanges(t, s.Caches)),
	}
	if !slices.Equal(got, []int{1, 2, 3, 0}) {
		t.Fatalf("change rows per kind %v", got)
	}
}

// A feed longer than a page comes in pages of 1000, and a snapshot of more than one page is complete.
func TestLongFeedAndSnapshot(t *testing.T) {
	s, ctx := openEmbedded(t, Config{}), testContext(t)
	addTenant(t, s, "t")
	addNamespace(t, s, "t", "n")
	const n = 2*pageLimit + 3
	for i := 0; i < n; i += maxRowsPerWrite {
		putStreams(t, s, i, min(n, i+maxRowsPerWrite))
	}
	page, err := s.Streams.Changes(ctx, 0)
	ok(t, err)
	if len(page.Items) != pageLimit || page.NextSeq != pageLimit {
		t.Fatalf("first page: %d rows, next_seq %d", len(page.Items), page.NextSeq)
	}
	if rows := allChanges(t, s.Streams); len(rows) != n {
		t.Fatalf("%d rows, want %d", len(rows), n)
	}
	snap, err := s.Streams.Snapshot(ctx)
	ok(t, err)
	if len(snap.Items) != n || snap.NextSeq != n {
		t.Fatalf("snapshot: %d items, next_seq %d, want %d", len(snap.Items), snap.NextSeq, n)
	}
}

// putStreams creates streams [from, to) in one transaction.
func putStreams(t *testing.T, s *Store, from, to int) {
	t.Helper()
	w := &write{}
	for i := from; i < to; i++ {
		st := api.Stream{TenantID: "t", Namespace: "n", Stream: fmt.Sprintf("s%05d", i)}
		b, err := s.Streams.encode(st)
		ok(t, err)
		w.ops = append(w.ops, clientv3.OpPut(s.keys.object(streams, streamSchema.path(&st)), string(b)))
		w.rows = append(w.rows, row{Op: api.OpCreated, Item: b})
	}
	_, err := s.commit(testContext(t), streams, w)
	ok(t, err)
}

// The three signals of rule P19 that tell a reader to take a new snapshot.
func TestSignalsToSnapshotAgain(t *testing.T) {
	s, ctx := openEmbedded(t, Config{RetainChanges: 3}), testContext(t)
	for i := range 10 {
		addTenant(t, s, fmt.Sprintf("t%d", i))
	}
	page, err := s.Tenants.Changes(ctx, 2)
	ok(t, err)
	if len(page.Items) != 3 || page.Items[0].Seq != 7 || page.NextSeq != 10 {
		t.Errorf("evicted rows: %+v", page)
	}
	page, err = s.Tenants.Changes(ctx, 50)
	ok(t, err)
	if len(page.Items) != 0 || page.NextSeq != 10 {
		t.Errorf("sequence that was reset: %+v", page)
	}
	_, err = s.etcd.client.Delete(ctx, s.keys.change(tenants, 0), clientv3.WithRange(s.keys.changesEnd(tenants)))
	ok(t, err)
	page, err = s.Tenants.Changes(ctx, 2)
	ok(t, err)
	if len(page.Items) != 0 || page.NextSeq != 10 {
		t.Errorf("all rows evicted: %+v", page)
	}
}

func TestCascadeLargerThanRetention(t *testing.T) {
	s, ctx := openEmbedded(t, Config{RetainChanges: 3}), testContext(t)
	addTenant(t, s, "t")
	addNamespace(t, s, "t", "n")
	for i := range 10 {
		addStream(t, s, "t", "n", fmt.Sprintf("s%d", i))
	}
	ok(t, s.DeleteNamespace(ctx, "t", "n"))
	page, err := s.Streams.Changes(ctx, 0)
	ok(t, err)
	if len(page.Items) != 3 || page.NextSeq != 20 {
		t.Fatalf("page after the cascade: %+v", page)
	}
}

func TestWaitEndsWithAChange(t *testing.T) {
	s, ctx := openEmbedded(t, Config{}), testContext(t)
	const waiters = 50
	done := make(chan error, waiters)
	for range waiters {
		go func() { done <- s.Tenants.Wait(ctx, 0) }()
	}
	select {
	case err := <-done:
		t.Fatalf("a wait for nothing ended: %v", err)
	default:
	}
	addTenant(t, s, "t")
	for range waiters {
		ok(t, <-done)
	}
	ok(t, s.Tenants.Wait(ctx, 0)) // already there

	short, cancel := context.WithCancel(ctx)
	cancel()
	want(t, s.Tenants.Wait(short, 1), context.Canceled)
	want(t, s.Streams.Wait(short, 0), context.Canceled) // another kind
}

// model is what a reader of one feed believes: the rules of P17 and P19 and nothing else.
type model struct {
	view      map[string]api.Stream
	next      uint64
	snapshots int
}

func (m *model) snapshot(t *testing.T, s *Store) {
	snap, err := s.Streams.Snapshot(testContext(t))
	ok(t, err)
	m.view, m.next = map[string]api.Stream{}, snap.NextSeq
	for _, st := range snap.Items {
		m.view[streamSchema.path(&st)] = st
	}
	m.snapshots++
}

func (m *model) poll(t *testing.T, s *Store) {
	page, err := s.Streams.Changes(testContext(t), m.next)
	ok(t, err)
	if len(page.Items) > 0 && page.Items[0].Seq > m.next || len(page.Items) == 0 && page.NextSeq != m.next {
		m.snapshot(t, s)
		return
	}
	for _, c := range page.Items {
		path := streamSchema.path(&c.Item)
		old, exists := m.view[path]
		switch {
		case c.Seq != m.next:
			t.Fatalf("row %d, want %d", c.Seq, m.next)
		case exists == (c.Op == api.OpCreated), exists && old.Incarnation != c.Item.Incarnation:
			t.Fatalf("row %s meets %+v", brief(c, streamSchema.path), old)
		case c.Op == api.OpDeleted:
			delete(m.view, path)
		default:
			m.view[path] = c.Item
		}
		m.next++
	}
}

// Random writes, from two goroutines, with a reader that restarts and falls behind at random: at every
// quiet point its view equals a fresh snapshot (rule P17).
func TestReaderFollowsRandomWrites(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 1))
	s := openEmbedded(t, Config{RetainChanges: 40})
	addTenant(t, s, "t")
	for _, ns := range []string{"a", "b"} {
		addNamespace(t, s, "t", ns)
	}
	m := &model{}
	m.snapshot(t, s)
	for range 30 {
		writerSeed := rnd.Uint64()
		burst := 1 + rnd.IntN(30)
		together(t, 2, func(i int) error {
			return writeRandomly(testContext(t), s, rand.New(rand.NewPCG(writerSeed, uint64(i))), burst)
		})
		switch rnd.IntN(4) {
		case 0:
			m.snapshot(t, s) // restart
		case 1:
			continue // fall behind
		}
		for {
			before := m.next
			m.poll(t, s)
			if m.next == before {
				break
			}
		}
		fresh := &model{}
		fresh.snapshot(t, s)
		if !maps.Equal(m.view, fresh.view) || m.next != fresh.next {
			t.Fatalf("reader at %d sees %v, snapshot at %d says %v", m.next, m.view, fresh.next, fresh.view)
		}
	}
	t.Logf("%d changes, %d snapshots", m.next, m.snapshots)
}

func writeRandomly(ctx context.Context, s *Store, rnd *rand.Rand, n int) error {
	for range n {
		ns, name := string(rune('a'+rnd.IntN(2))), fmt.Sprintf("s%d", rnd.IntN(6))
		var err error
		switch rnd.IntN(8) {
		case 0, 1, 2:
			_, err = s.CreateStream(ctx, api.Stream{TenantID: "t", Namespace: ns, Stream: name})
		case 3, 4:
			err = s.DeleteStream(ctx, "t", ns, name)
		case 5, 6:
			flip := func(st *api.Stream) error { st.Durable = !st.Durable; return nil }
			_, err = s.Streams.Update(ctx, flip, "t", ns, name)
		case 7:
			if err = s.DeleteNamespace(ctx, "t", ns); err == nil {
				_, err = s.CreateNamespace(ctx, api.Namespace{TenantID: "t", Namespace: ns})
			}
		}
		if err != nil && !isRefusal(err) {
			return err
		}
	}
	return nil
}
