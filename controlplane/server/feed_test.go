package server

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"testing"
	"time"

	"github.com/felix-go/felix/controlplane/api"
	"github.com/felix-go/felix/controlplane/store"
	"github.com/felix-go/felix/internal/clock"
)

func TestFeedsOfEveryKind(t *testing.T) {
	r := start(t)
	r.basic()
	r.must(201, "POST", streamsOf, `{"stream":"s","retention":{"max_age_seconds":7}}`)
	r.must(201, "POST", cachesOf, `{"cache":"c"}`)
	r.must(204, "DELETE", streamsOf+"/s", "")
	oneItem[api.Tenant](r, "tenants", 1)
	oneItem[api.Namespace](r, "namespaces", 1)
	oneItem[api.Cache](r, "caches", 1)

	snap := into[api.Snapshot[api.Stream]](t, r.must(200, "GET", "/v1/streams/snapshot", ""))
	if len(snap.Items) != 0 || snap.NextSeq != 2 {
		t.Errorf("streams snapshot %+v", snap)
	}
	page := into[api.Changes[api.Stream]](t, r.must(200, "GET", "/v1/streams/changes", ""))
	if len(page.Items) != 2 || page.Items[0].Op != api.OpCreated || page.Items[1].Op != api.OpDeleted ||
		page.Items[0].Item != page.Items[1].Item || page.Items[0].Item.Retention.MaxAgeSeconds != 7 ||
		page.NextSeq != 2 {
		t.Errorf("streams changes %+v", page)
	}
	for _, q := range []string{"since=-1", "since=x", "since=", "since=1.5", "wait_ms=x", "wait_ms=-1"} {
		r.refused(400, api.CodeInvalidRequest, "GET", "/v1/streams/changes?"+q, "")
	}
}

func oneItem[T comparable](r *rig, kind string, next uint64) {
	r.t.Helper()
	snap := into[api.Snapshot[T]](r.t, r.must(200, "GET", "/v1/"+kind+"/snapshot", ""))
	page := into[api.Changes[T]](r.t, r.must(200, "GET", "/v1/"+kind+"/changes?since=0", ""))
	if len(snap.Items) != 1 || len(page.Items) != 1 || snap.Items[0] != page.Items[0].Item ||
		snap.NextSeq != next || page.NextSeq != next {
		r.t.Errorf("%s: snapshot %+v, changes %+v", kind, snap, page)
	}
}

// The signals of rule P19 reach the reader at once, also one that would wait.
func TestSignalsDoNotWait(t *testing.T) {
	r := startWith(t, store.Config{RetainChanges: 2}, Config{Bind: "127.0.0.1:0"})
	for i := range 5 {
		r.must(201, "POST", "/v1/tenants", fmt.Sprintf(`{"tenant_id":"t%d"}`, i))
	}
	evicted := into[api.Changes[api.Tenant]](t, r.must(200, "GET", "/v1/tenants/changes?since=1&wait_ms=25000", ""))
	if len(evicted.Items) != 2 || evicted.Items[0].Seq != 3 || evicted.NextSeq != 5 {
		t.Errorf("evicted: %+v", evicted)
	}
	reset := into[api.Changes[api.Tenant]](t, r.must(200, "GET", "/v1/tenants/changes?since=9&wait_ms=25000", ""))
	if len(reset.Items) != 0 || reset.NextSeq != 5 {
		t.Errorf("reset: %+v", reset)
	}
}

// A poll ends empty after what it asked for, but no later than 25 s.
func TestLongPollTimesOutEmpty(t *testing.T) {
	manual := clock.NewManual(time.Now())
	r := startWith(t, store.Config{}, Config{Bind: "127.0.0.1:0", Clock: manual})
	empty := func(c api.Changes[api.Tenant]) bool { return c.Items != nil && len(c.Items) == 0 && c.NextSeq == 0 }
	for millis, wait := range map[uint64]time.Duration{20: 20 * time.Millisecond, 25_000: maxWait, 1 << 62: maxWait} {
		p := startPolls(r, 1, 0, millis)
		manual.Advance(wait - time.Millisecond)
		p.none()
		manual.Advance(time.Millisecond)
		p.all(empty)
	}
}

// poller is a number of long polls in flight.
type poller struct {
	r       *rig
	answers chan reply
	n       int
}

// startPolls starts n polls for tenant changes and returns when all of them wait.
func startPolls(r *rig, n int, since, millis uint64) *poller {
	r.t.Helper()
	p := sendPolls(r, n, since, millis)
	waiting := r.server.handler.counts.waiting
	for deadline := time.Now().Add(time.Minute); waiting.Load() < int64(n); runtime.Gosched() {
		if time.Now().After(deadline) {
			r.t.Fatalf("%d of %d polls wait", waiting.Load(), n)
		}
	}
	return p
}

// sendPolls is startPolls without the waiting.
func sendPolls(r *rig, n int, since, millis uint64) *poller {
	p := &poller{r: r, answers: make(chan reply, n), n: n}
	path := fmt.Sprintf("/v1/tenants/changes?since=%d&wait_ms=%d", since, millis)
	for range n {
		go func() {
			out, err := r.try("Bearer "+secret, "GET", path, "")
			if err != nil {
				out = reply{body: err.Error()}
			}
			p.answers <- out
		}()
	}
	return p
}

func (p *poller) none() {
	p.r.t.Helper()
	select {
	case out := <-p.answers:
		p.r.t.Fatalf("a poll did not wait: %d %s", out.status, out.body)
	default:
	}
}

// all returns the answers and how long the last one took from now.
func (p *poller) all(check func(api.Changes[api.Tenant]) bool) time.Duration {
	p.r.t.Helper()
	started := time.Now()
	for range p.n {
		out := <-p.answers
		if out.status != http.StatusOK || !check(into[api.Changes[api.Tenant]](p.r.t, out)) {
			p.r.t.Fatalf("poll answered %d %s", out.status, out.body)
		}
	}
	return time.Since(started)
}

// A write reaches fifty waiting brokers at once, and a drain sends them away at once (rule P21). The
// bound of 25 s is that of the polls themselves: without a wake they would end empty.
func TestLongPollsAreWokenAndDrained(t *testing.T) {
	r := start(t)
	p := startPolls(r, 50, 0, 25_000)
	r.must(201, "POST", "/v1/tenants", `{"tenant_id":"t"}`)
	took := p.all(func(c api.Changes[api.Tenant]) bool { return len(c.Items) == 1 && c.NextSeq == 1 })
	t.Logf("50 polls answered %s after the write", took)

	p = startPolls(r, 50, 1, 25_000)
	r.server.Drain()
	took = p.all(func(c api.Changes[api.Tenant]) bool { return len(c.Items) == 0 && c.NextSeq == 1 })
	t.Logf("50 polls answered %s after the drain", took)

	// Draining, the API still answers, but nobody waits.
	p = sendPolls(r, 1, 1, 25_000)
	p.all(func(c api.Changes[api.Tenant]) bool { return len(c.Items) == 0 })
	r.must(200, "GET", "/v1/tenants/t", "")
}

// Close does not wait out the polls.
func TestCloseEndsPolls(t *testing.T) {
	r := start(t)
	p := startPolls(r, 5, 0, 25_000)
	ctx, cancel := context.WithTimeout(testContext(t), 20*time.Second) // less than a poll
	defer cancel()
	closed := make(chan error, 1)
	go func() { closed <- r.server.Close(ctx) }()
	p.all(func(c api.Changes[api.Tenant]) bool { return len(c.Items) == 0 })
	if err := <-closed; err != nil {
		t.Fatal(err)
	}
}
