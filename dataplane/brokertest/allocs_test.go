//go:build !race

package brokertest_test

import (
	"bytes"
	"fmt"
	"runtime"
	"sort"
	"strings"
	"sync"
	"testing"

	"github.com/felix-go/felix/dataplane/broker"
	"github.com/felix-go/felix/dataplane/brokertest"
	"github.com/felix-go/felix/dataplane/fanout"
	"github.com/felix-go/felix/dataplane/wire"
)

// The load of the gate: batches of 64 records of 256 bytes to ten subscribers.
const (
	gateBatch       = 64
	gateRecordBytes = 256
	gateFanout      = 10
	gateBatches     = 400
	gateLimit       = 0.02 // objects of ours per delivered message
)

// TestAllocsPerDeliveredMessage counts every heap object that our packages allocate while messages go through a real broker over
// loopback: amortised growth cannot hide there. What quic-go and the runtime allocate is reported and not judged. The client side
// of the test writes prepared bytes and reads into one buffer.
func TestAllocsPerDeliveredMessage(t *testing.T) {
	defer func(rate int) { runtime.MemProfileRate = rate }(runtime.MemProfileRate)
	n := brokertest.Start(t, func(c *broker.Config) {
		c.Ingress.QueuePolicy, c.Ingress.IngressWait = fanout.Block, true
	})
	n.Stream("gate", 1)
	token := n.Token()
	payloads := make([][]byte, gateBatch)
	for i := range payloads {
		payloads[i] = bytes.Repeat([]byte{byte(i)}, gateRecordBytes)
	}
	batch := wire.AppendPublish(nil, &wire.PublishFrame{Tenant: n.Tenant, Namespace: brokertest.Namespace, Stream: "gate", Payloads: payloads})
	eventBytes := wire.HeaderLen + 4 + gateBatch*(4+gateRecordBytes)
	var streams []*brokertest.EventReader
	for range gateFanout {
		streams = append(streams, n.Raw(t, nil).Subscribe(token, "gate", wire.StartPosition{}))
	}
	publisher := n.Raw(t, nil).Login(token)
	receive := func(batches int) {
		var wg sync.WaitGroup
		for _, e := range streams {
			wg.Add(1)
			go func() {
				defer wg.Done()
				buf := make([]byte, 64<<10)
				for left := batches * eventBytes; left > 0; {
					k, err := e.Recv.Read(buf)
					if err != nil {
						t.Error(err)
						return
					}
					left -= k
				}
			}()
		}
		for range batches {
			publisher.Send(batch)
		}
		wg.Wait()
	}
	receive(200) // pools and queues grow to their working size
	best := map[string]int64{}
	ours, total := -1.0, 0.0
	for range 3 { // some run must meet the target: a collection may empty a pool in any one
		runtime.MemProfileRate = 1
		before := allocated()
		receive(gateBatches)
		after := allocated()
		runtime.MemProfileRate = 512 << 10
		messages := float64(gateBatches * gateBatch * gateFanout)
		counts, sum, all := map[string]int64{}, int64(0), int64(0)
		for site, k := range after {
			k -= before[site]
			all += k
			if strings.Contains(site, "/felix/dataplane/") && !strings.Contains(site, "brokertest") {
				counts[site], sum = k, sum+k
			}
		}
		if per := float64(sum) / messages; ours < 0 || per < ours {
			ours, total, best = per, float64(all)/messages, counts
		}
	}
	t.Logf("objects per delivered message: %.4f by our packages (gate %.2f), %.3f in the whole process, clients and quic-go included", ours, gateLimit, total)
	if ours > gateLimit {
		t.Errorf("%.4f objects of ours per delivered message, at most %.2f:\n%s", ours, gateLimit, worst(best))
	}
	n.HangupAll()
	n.Quiesce()
}

// allocated counts the objects ever allocated by the function that asked for them: the first frame outside of the runtime.
func allocated() map[string]int64 {
	runtime.GC() // publishes the profile of everything before it
	runtime.GC()
	var records []runtime.MemProfileRecord
	for n, ok := runtime.MemProfile(nil, true); !ok; {
		records = make([]runtime.MemProfileRecord, n+200)
		n, ok = runtime.MemProfile(records, true)
		if ok {
			records = records[:n]
		}
	}
	sites := map[string]int64{}
	for i := range records {
		frames := runtime.CallersFrames(records[i].Stack())
		for {
			f, more := frames.Next()
			if !strings.HasPrefix(f.Function, "runtime.") && !strings.HasPrefix(f.Function, "sync.") {
				sites[f.Function] += records[i].AllocObjects
				break
			}
			if !more {
				break
			}
		}
	}
	return sites
}

func worst(sites map[string]int64) string {
	names := make([]string, 0, len(sites))
	for s := range sites {
		names = append(names, s)
	}
	sort.Slice(names, func(i, j int) bool { return sites[names[i]] > sites[names[j]] })
	var b strings.Builder
	for _, s := range names[:min(len(names), 10)] {
		fmt.Fprintf(&b, "%8d %s\n", sites[s], s)
	}
	return b.String()
}
