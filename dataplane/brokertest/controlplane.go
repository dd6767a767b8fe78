package brokertest

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/felix-go/felix/controlplane/client"
	"github.com/felix-go/felix/controlplane/server"
	"github.com/felix-go/felix/controlplane/store"
)

// plane is the control plane of a test binary: one embedded member, one API server.
type plane struct {
	dir    string
	store  *store.Store
	server *server.Server
	token  string
	api    *client.Client
}

var shared struct {
	sync.Mutex
	plane   *plane
	tenants int
}

// Main runs the tests of a package and then stops the shared control plane and looks for leaked goroutines. Call it from
// TestMain.
func Main(m *testing.M) {
	code := m.Run()
	shared.Lock()
	p := shared.plane
	shared.plane = nil
	shared.Unlock()
	if p != nil {
		p.close()
	}
	if code == 0 {
		// The member's own libraries leave some goroutines behind when it stops.
		if err := goleak.Find(goleak.IgnoreTopFunction("go.opencensus.io/stats/view.(*worker).start"),
			goleak.IgnoreTopFunction("github.com/golang/glog.(*fileSink).flushDaemon")); err != nil {
			fmt.Fprintln(os.Stderr, "brokertest:", err)
			code = 1
		}
	}
	os.Exit(code)
}

func sharedPlane(t testing.TB) *plane {
	shared.Lock()
	defer shared.Unlock()
	if shared.plane == nil {
		p, err := newPlane()
		if err != nil {
			t.Fatalf("brokertest: %v", err)
		}
		shared.plane = p
	}
	return shared.plane
}

func newPlane() (*plane, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	dir, err := os.MkdirTemp("", "felix-brokertest-")
	if err != nil {
		return nil, err
	}
	p := &plane{dir: dir}
	if p.token, err = server.LoadOperatorToken(dir); err != nil {
		return nil, err
	}
	if p.store, err = store.Open(ctx, store.Config{DataDir: dir + "/etcd"}); err != nil {
		return nil, err
	}
	if p.server, err = server.Start(server.Config{Store: p.store, OperatorToken: p.token, Bind: "127.0.0.1:0"}); err != nil {
		p.store.Close()
		return nil, err
	}
	p.api, err = client.New(client.Config{BaseURL: p.server.URL(), Token: p.token})
	return p, err
}

func (p *plane) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	p.server.Close(ctx)
	p.store.Close()
	os.RemoveAll(p.dir)
}
