package server

import (
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/felix-go/felix/controlplane/api"
)

func TestCatalogLifecycle(t *testing.T) {
	r := start(t)
	tenant := into[api.Tenant](t, r.must(201, "POST", "/v1/tenants", `{"tenant_id":"t","display_name":"T"}`))
	if tenant.TenantID != "t" || tenant.DisplayName != "T" || tenant.Incarnation == 0 {
		t.Fatalf("tenant %+v", tenant)
	}
	ns := into[api.Namespace](t, r.must(201, "POST", "/v1/tenants/t/namespaces",
		`{"namespace":"n","display_name":"N"}`))
	made := into[api.Stream](t, r.must(201, "POST", streamsOf, `{"stream":"s"}`))
	defaults := api.Stream{
		TenantID: "t", Namespace: "n", Stream: "s", Kind: "Stream", Shards: 1, ReplicationFactor: 1,
		Consistency: "Leader", Delivery: "AtMostOnce", Routing: "modulo", Incarnation: made.Incarnation,
	}
	if made != defaults || made.Incarnation == 0 {
		t.Fatalf("stream with defaults %+v", made)
	}
	full := into[api.Stream](t, r.must(201, "POST", streamsOf, `{"stream":"q","kind":"Queue","shards":4,
		"replication_factor":3, "retention":{"max_age_seconds":60,"max_size_bytes":1048576},
		"consistency":"Quorum",
		"delivery":"AtLeastOnce","durable":true,"region":"eu-1","routing":"modulo"}`))
	want := api.Stream{
		TenantID: "t", Namespace: "n", Stream: "q", Kind: "Queue", Shards: 4, ReplicationFactor: 3,
		Retention:   api.Retention{MaxAgeSeconds: 60, MaxSizeBytes: 1 << 20},
		Consistency: "Quorum", Delivery: "AtLeastOnce", Durable: true, Region: "eu-1", Routing: "modulo",
		Incarnation: full.Incarnation,
	}
	if full != want {
		t.Fatalf("full stream %+v", full)
	}
	cache := into[api.Cache](t, r.must(201, "POST", cachesOf, `{"cache":"c","display_name":"C","shards":2}`))

	// Reading back, one by one and listed.
	if got := into[api.Tenant](t, r.must(200, "GET", "/v1/tenants/t", "")); got != tenant {
		t.Errorf("tenant %+v", got)
	}
	if got := into[api.Namespace](t, r.must(200, "GET", "/v1/tenants/t/namespaces/n", "")); got != ns {
		t.Errorf("namespace %+v", got)
	}
	if got := into[api.Stream](t, r.must(200, "GET", streamsOf+"/q", "")); got != full {
		t.Errorf("stream %+v", got)
	}
	if got := into[api.Cache](t, r.must(200, "GET", cachesOf+"/c", "")); got != cache {
		t.Errorf("cache %+v", got)
	}
	list := into[api.List[api.Stream]](t, r.must(200, "GET", streamsOf, ""))
	if len(list.Items) != 2 || list.Items[0] != full || list.Items[1] != made || list.NextCursor != "" {
		t.Errorf("streams %+v", list)
	}
	if l := into[api.List[api.Tenant]](t, r.must(200, "GET", "/v1/tenants", "")); len(l.Items) != 1 {
		t.Errorf("tenants %+v", l)
	}
	if l := into[api.List[api.Namespace]](t, r.must(200, "GET", "/v1/tenants/t/namespaces", "")); len(l.Items) != 1 {
		t.Errorf("namespaces %+v", l)
	}
	if l := into[api.List[api.Cache]](t, r.must(200, "GET", cachesOf, "")); len(l.Items) != 1 {
		t.Errorf("caches %+v", l)
	}

	// Deleting, from the leaves up; every second time it is not there.
	for _, path := range []string{streamsOf + "/s", cachesOf + "/c", "/v1/tenants/t/namespaces/n", "/v1/tenants/t"} {
		if out := r.must(204, "DELETE", path, ""); out.body != "" {
			t.Errorf("DELETE %s: body %q", path, out.body)
		}
		r.refused(404, api.CodeNotFound, "DELETE", path, "")
		r.refused(404, api.CodeNotFound, "GET", path, "")
	}
}

func TestPatch(t *testing.T) {
	r := start(t)
	r.basic()
	r.must(201, "POST", streamsOf, `{"stream":"s","durable":true,"retention":{"max_age_seconds":5}}`)
	got := into[api.Stream](t, r.must(200, "PATCH", streamsOf+"/s",
		`{"consistency":"Quorum","delivery":"AtLeastOnce","retention":{"max_size_bytes":9}}`))
	if got.Consistency != "Quorum" || got.Delivery != "AtLeastOnce" || !got.Durable ||
		got.Retention != (api.Retention{MaxSizeBytes: 9}) {
		t.Fatalf("patched stream %+v", got)
	}
	got = into[api.Stream](t, r.must(200, "PATCH", streamsOf+"/s",
		`{"delivery":"AtMostOnce","durable":false,"retention":{}}`))
	if got.Durable || got.Retention != (api.Retention{}) {
		t.Fatalf("patched stream %+v", got)
	}
	r.must(201, "POST", cachesOf, `{"cache":"c"}`)
	c := into[api.Cache](t, r.must(200, "PATCH", cachesOf+"/c", `{"display_name":"Sessions"}`))
	if c.DisplayName != "Sessions" {
		t.Fatalf("patched cache %+v", c)
	}
	r.refused(404, api.CodeNotFound, "PATCH", streamsOf+"/none", `{"durable":true}`)
	r.refused(404, api.CodeNotFound, "PATCH", cachesOf+"/none", `{"display_name":"x"}`)
}

// A refused patch leaves the object and the feed alone (rule P12).
func TestPatchRefusals(t *testing.T) {
	r := start(t)
	r.basic()
	r.must(201, "POST", streamsOf, `{"stream":"s"}`)
	r.must(201, "POST", streamsOf, `{"stream":"q","kind":"Queue","durable":true}`)
	r.must(201, "POST", cachesOf, `{"cache":"c"}`)
	streamsBefore := r.must(200, "GET", "/v1/streams/changes?since=0", "").body
	cachesBefore := r.must(200, "GET", "/v1/caches/changes?since=0", "").body

	for _, field := range []string{
		`"shards":2`, `"replication_factor":3`, `"region":"eu"`, `"routing":"modulo"`, `"kind":"Queue"`,
		`"stream":"x"`,
		`"tenant_id":"x"`, `"namespace":"x"`, `"incarnation":1`,
	} {
		e := r.refused(400, api.CodeInvalidRequest, "PATCH", streamsOf+"/s", "{"+field+"}")
		if name, _, _ := strings.Cut(field[1:], `"`); !strings.Contains(e.Message, name) {
			t.Errorf("refusal of %s says %q", field, e.Message)
		}
	}
	for path, bodies := range map[string][]string{
		streamsOf + "/s": {
			`{"retention":{"max_age_seconds":0}}`, `{"retention":{"max_size_bytes":0}}`,
			`{"retention":{"max_age_seconds":-1}}`,
			`{"delivery":"AtLeastOnce"}`, `{"delivery":"Sometimes"}`, `{"consistency":"All"}`,
			`{"durable":"yes"}`, `{"typo":1}`, `[]`, ``, `null`,
		},
		streamsOf + "/q": {`{"durable":false}`},
		cachesOf + "/c": {
			`{"shards":2}`, `{"replication_factor":2}`, `{"consistency":"Quorum"}`, `{"display_name":"\u0007"}`,
		},
	} {
		for _, body := range bodies {
			r.refused(400, api.CodeInvalidRequest, "PATCH", path, body)
		}
	}
	if now := r.must(200, "GET", "/v1/streams/changes?since=0", "").body; now != streamsBefore {
		t.Errorf("stream feed changed: %s", now)
	}
	if now := r.must(200, "GET", "/v1/caches/changes?since=0", "").body; now != cachesBefore {
		t.Errorf("cache feed changed: %s", now)
	}
}

func TestCreateRefusals(t *testing.T) {
	r := start(t)
	r.basic()
	r.must(201, "POST", streamsOf, `{"stream":"taken"}`)
	r.must(201, "POST", cachesOf, `{"cache":"taken"}`)
	tests := []struct {
		status           int
		code, path, body string
	}{
		{409, api.CodeAlreadyExists, "/v1/tenants", `{"tenant_id":"t"}`},
		{409, api.CodeAlreadyExists, "/v1/tenants/t/namespaces", `{"namespace":"n"}`},
		{409, api.CodeAlreadyExists, streamsOf, `{"stream":"taken"}`},
		{409, api.CodeAlreadyExists, cachesOf, `{"cache":"taken"}`},
		{404, api.CodeNotFound, "/v1/tenants/none/namespaces", `{"namespace":"n"}`},
		{404, api.CodeNotFound, "/v1/tenants/t/namespaces/none/streams", `{"stream":"s"}`},
		{404, api.CodeNotFound, "/v1/tenants/none/namespaces/n/streams", `{"stream":"s"}`},
		{404, api.CodeNotFound, "/v1/tenants/t/namespaces/none/caches", `{"cache":"c"}`},
		{409, api.CodeFeatureNotFinal, streamsOf, `{"stream":"s","routing":"jump_hash"}`},
		{400, api.CodeInvalidRequest, streamsOf, `{"stream":"s","routing":"random"}`},
		{400, api.CodeInvalidRequest, streamsOf, `{"stream":"s","kind":"Queue"}`},
		{400, api.CodeInvalidRequest, streamsOf, `{"stream":"s","kind":"Cache"}`},
		{400, api.CodeInvalidRequest, streamsOf, `{"stream":"s","kind":"Topic"}`},
		{400, api.CodeInvalidRequest, streamsOf, `{"stream":"s","delivery":"AtLeastOnce"}`},
		{400, api.CodeInvalidRequest, streamsOf, `{"stream":"s","delivery":"ExactlyOnce"}`},
		{400, api.CodeInvalidRequest, streamsOf, `{"stream":"s","consistency":"All"}`},
		{400, api.CodeInvalidRequest, streamsOf, `{"stream":"s","shards":0}`},
		{400, api.CodeInvalidRequest, streamsOf, `{"stream":"s","shards":-1}`},
		{400, api.CodeInvalidRequest, streamsOf, `{"stream":"s","shards":1.5}`},
		{400, api.CodeInvalidRequest, streamsOf, `{"stream":"s","shards":10001}`},
		{400, api.CodeInvalidRequest, streamsOf, `{"stream":"s","replication_factor":0}`},
		{400, api.CodeInvalidRequest, streamsOf, `{"stream":"s","replication_factor":10}`},
		{400, api.CodeInvalidRequest, streamsOf, `{"stream":"s","region":""}`},
		{400, api.CodeInvalidRequest, streamsOf, `{"stream":"s","region":"a b"}`},
		{400, api.CodeInvalidRequest, streamsOf, `{"stream":"s","retention":{"max_age_seconds":0}}`},
		{400, api.CodeInvalidRequest, streamsOf, `{"stream":"s","retention":{"max_size_bytes":0}}`},
		{400, api.CodeInvalidRequest, streamsOf, `{"stream":"s","retention":{"max_size_bytes":-5}}`},
		{400, api.CodeInvalidRequest, streamsOf, `{"stream":"s","retention":{"max_hours":5}}`},
		{400, api.CodeInvalidRequest, streamsOf, `{"stream":"s","shard":4}`},
		{400, api.CodeInvalidRequest, streamsOf, `{"stream":"s"} {}`},
		{400, api.CodeInvalidRequest, streamsOf, `{"stream":"s"`},
		{400, api.CodeInvalidRequest, streamsOf, `"s"`},
		{400, api.CodeInvalidRequest, streamsOf, ``},
		{400, api.CodeInvalidRequest, streamsOf, `{}`},
		{400, api.CodeInvalidRequest, cachesOf, `{"cache":"c","shards":0}`},
		{400, api.CodeInvalidRequest, cachesOf, `{"cache":"c","consistency":"All"}`},
		{400, api.CodeInvalidRequest, cachesOf, `{"cache":"c","durable":true}`},
		{400, api.CodeInvalidRequest, cachesOf, `{"cache":"c","display_name":"` + strings.Repeat("x", 257) + `"}`},
		{400, api.CodeInvalidRequest, "/v1/tenants", `{"tenant_id":"u","display_name":"a\nb"}`},
		{400, api.CodeInvalidRequest, "/v1/tenants", `{"tenant_id":"snapshot"}`},
		{400, api.CodeInvalidRequest, "/v1/tenants", `{"tenant_id":"changes"}`},
		{400, api.CodeInvalidRequest, "/v1/tenants/t/namespaces", `{"namespace":"m","color":"red"}`},
		{413, api.CodePayloadTooLarge, streamsOf, `{"stream":"` + strings.Repeat("s", maxBodyBytes) + `"}`},
	}
	for _, tt := range tests {
		r.refused(tt.status, tt.code, "POST", tt.path, tt.body)
	}
	e := r.refused(400, api.CodeInvalidRequest, "POST", streamsOf, `{"stream":"s","shard":4}`)
	if !strings.Contains(e.Message, `"shard"`) {
		t.Errorf("the refusal of an unknown field says %q", e.Message)
	}
	if l := into[api.List[api.Stream]](t, r.must(200, "GET", streamsOf, "")); len(l.Items) != 1 {
		t.Errorf("a refused creation left %+v", l.Items)
	}
}

// Rule P8, in bodies and in paths.
func TestNames(t *testing.T) {
	r := start(t)
	r.basic()
	bad := []string{"a*", "a/b", "a:b", "", strings.Repeat("x", 129), ".a", "-a", "_a", "a b", "ä", "a\x00", "..", "."}
	for _, name := range bad {
		quoted := strings.ReplaceAll(fmt.Sprintf("%q", name), `\x00`, `\u0000`)
		r.refused(400, api.CodeInvalidRequest, "POST", "/v1/tenants", `{"tenant_id":`+quoted+`}`)
		r.refused(400, api.CodeInvalidRequest, "POST", "/v1/tenants/t/namespaces", `{"namespace":`+quoted+`}`)
		r.refused(400, api.CodeInvalidRequest, "POST", streamsOf, `{"stream":`+quoted+`}`)
		r.refused(400, api.CodeInvalidRequest, "POST", cachesOf, `{"cache":`+quoted+`}`)
		if name == "" || name == "." || name == ".." {
			continue // no segment of a path
		}
		segment := url.PathEscape(name)
		r.refused(400, api.CodeInvalidRequest, "GET", "/v1/tenants/"+segment, "")
		r.refused(400, api.CodeInvalidRequest, "DELETE", "/v1/tenants/t/namespaces/"+segment, "")
		r.refused(400, api.CodeInvalidRequest, "POST", "/v1/tenants/"+segment+"/namespaces", `{"namespace":"n"}`)
		r.refused(400, api.CodeInvalidRequest, "GET", streamsOf+"/"+segment, "")
		r.refused(400, api.CodeInvalidRequest, "DELETE", cachesOf+"/"+segment, "")
		r.refused(400, api.CodeInvalidRequest, "GET", "/v1/tenants/"+segment+"/.well-known/jwks.json", "")
	}
	for _, name := range []string{"a", "0", "A.b-c_d", strings.Repeat("x", 128)} {
		r.must(201, "POST", streamsOf, fmt.Sprintf(`{"stream":%q}`, name))
		r.must(200, "GET", streamsOf+"/"+name, "")
	}
}

func TestPagingParameters(t *testing.T) {
	r := start(t)
	r.basic()
	for _, q := range []string{
		"limit=0", "limit=-1", "limit=10001", "limit=x", "limit=", "cursor=%00", "cursor=Li4", "cursor=!",
	} {
		r.refused(400, api.CodeInvalidRequest, "GET", streamsOf+"?"+q, "")
	}
	r.must(200, "GET", streamsOf+"?limit=10000", "")
	r.refused(404, api.CodeNotFound, "GET", "/v1/tenants/none/namespaces", "")
	r.refused(404, api.CodeNotFound, "GET", "/v1/tenants/t/namespaces/none/streams", "")
	r.refused(404, api.CodeNotFound, "GET", "/v1/tenants/t/namespaces/none/caches", "")
}

// 2500 streams are paged while others come and go: each of the 2500 is on exactly one page (rule P9).
func TestPagingWhileWriting(t *testing.T) {
	r := start(t)
	r.basic()
	const n = 2500
	inParallel(n, func(i int) { r.must(201, "POST", streamsOf, fmt.Sprintf(`{"stream":"keep-%04d"}`, i)) })

	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			name := fmt.Sprintf("%c-%d", "az"[i%2], i)
			r.send("POST", streamsOf, fmt.Sprintf(`{"stream":%q}`, name))
			if i%3 != 0 {
				r.send("DELETE", streamsOf+"/"+name, "")
			}
		}
	}()
	seen, pages := map[string]int{}, 0
	for query := "?limit=100"; ; pages++ {
		page := into[api.List[api.Stream]](t, r.must(200, "GET", streamsOf+query, ""))
		for _, s := range page.Items {
			seen[s.Stream]++
		}
		if page.NextCursor == "" {
			break
		}
		if len(page.Items) != 100 {
			t.Errorf("page %d has %d items and a cursor", pages, len(page.Items))
		}
		query = "?limit=100&cursor=" + page.NextCursor
	}
	close(stop)
	<-done
	for i := range n {
		if name := fmt.Sprintf("keep-%04d", i); seen[name] != 1 {
			t.Errorf("%s is on %d pages", name, seen[name])
		}
	}
	l := into[api.List[api.Stream]](t, r.must(200, "GET", streamsOf, ""))
	if len(l.Items) != 1000 || l.NextCursor == "" {
		t.Errorf("a page has %d items by default", len(l.Items))
	}
	t.Logf("%d pages, %d streams seen", pages+1, len(seen))
}

// inParallel calls f(0) to f(n-1) from a few goroutines.
func inParallel(n int, f func(i int)) {
	var wg sync.WaitGroup
	next := make(chan int)
	for range 8 {
		wg.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}
