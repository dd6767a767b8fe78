package brokertest_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/felix-go/felix/dataplane/broker"
	"github.com/felix-go/felix/dataplane/brokertest"
	"github.com/felix-go/felix/dataplane/fanout"
	"github.com/felix-go/felix/dataplane/transport"
	"github.com/felix-go/felix/dataplane/wire"
	felix "github.com/felix-go/felix/sdk"
)

// The shape of the load: every subscriber reads every stream, and two publishers share each stream.
const (
	loadStreams     = 4
	loadPublishers  = 8
	loadSubscribers = 10
	loadBatch       = 16
	loadRecordBytes = 64
)

// loadTime is how long the load runs: a minute, less under -short.
func loadTime() time.Duration {
	if testing.Short() {
		return 3 * time.Second
	}
	return time.Minute
}

func loadStream(i int) string { return fmt.Sprintf("load%d", i%loadStreams) }

func dial(t testing.TB, n *brokertest.Node, opts ...felix.Option) *felix.Client {
	t.Helper()
	ctx, cancel := n.Timeout()
	defer cancel()
	c, err := felix.Dial(ctx, "felix://"+n.DialAddr()+"/"+n.Tenant+"/"+brokertest.Namespace,
		append([]felix.Option{felix.WithToken(n.Token()), felix.WithCAFile(n.CAFile())}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// tally judges what one subscription receives: every record carries its publisher and its number there.
type tally struct {
	next      [loadPublishers]uint64
	received  uint64
	lost      uint64
	disorder  uint64
	forgeries uint64
}

func (y *tally) add(payload []byte) {
	y.received++
	if len(payload) != loadRecordBytes || int(payload[0]) >= loadPublishers {
		y.forgeries++
		return
	}
	next, seq := &y.next[payload[0]], binary.BigEndian.Uint64(payload[1:])
	switch {
	case seq > *next:
		y.lost += seq - *next
		*next = seq + 1
	case seq < *next:
		y.disorder++ // a repeat or an older record
	default:
		*next++
	}
}

// load runs publishers until ctx ends. pace, if not nil, is called before every batch. It returns the records and batches
// published by each.
func load(t *testing.T, ctx context.Context, n *brokertest.Node, pace func(publisher int)) (records [loadPublishers]uint64, batches uint64) {
	t.Helper()
	var wg sync.WaitGroup
	var sum atomic.Uint64
	for p := range loadPublishers {
		c := dial(t, n)
		mode := felix.AckNone
		if p%2 == 1 {
			mode = felix.AckPerBatch
		}
		pub := c.Publisher(loadStream(p), felix.WithAck(mode))
		wg.Add(1)
		go func() {
			defer wg.Done()
			batch := make([][]byte, loadBatch)
			for i := range batch {
				batch[i] = make([]byte, loadRecordBytes)
				batch[i][0] = byte(p)
			}
			for ctx.Err() == nil {
				if pace != nil {
					pace(p)
				}
				for _, b := range batch {
					binary.BigEndian.PutUint64(b[1:], records[p])
					records[p]++
				}
				end, cancel := context.WithTimeout(context.Background(), 30*time.Second)
				_, err := pub.PublishBatch(end, batch)
				cancel()
				if err != nil {
					t.Errorf("publisher %d: %v", p, err)
					return
				}
				sum.Add(1)
			}
			// The last acknowledgement says that everything before it on this stream was read.
			end, cancel := context.WithTimeout(context.Background(), 30*time.Second)
			defer cancel()
			for _, b := range batch {
				binary.BigEndian.PutUint64(b[1:], records[p])
				records[p]++
			}
			if _, err := c.PublishBatch(end, loadStream(p), batch); err != nil {
				t.Errorf("publisher %d: %v", p, err)
			}
			sum.Add(1)
		}()
	}
	wg.Wait()
	return records, sum.Load()
}

// expected is how many records of a stream the publishers sent.
func expected(records [loadPublishers]uint64, stream int) (n uint64) {
	for p, r := range records {
		if p%loadStreams == stream {
			n += r
		}
	}
	return n
}

// Under the block policy nothing is lost, repeated or reordered, and a batch is encoded once however many subscribers it has.
func TestLoadBlockLosesNothing(t *testing.T) {
	n := brokertest.Start(t, func(c *broker.Config) {
		c.Ingress.QueuePolicy = fanout.Block
		c.Ingress.IngressWait = true
	})
	t.Cleanup(n.Quiesce) // after the clients of this test have closed
	for i := range loadStreams {
		n.Stream(loadStream(i), 1)
	}
	var mu sync.Mutex
	tallies := map[[2]int]*tally{}
	progress := map[[2]int]*atomic.Uint64{}
	var wg sync.WaitGroup
	stop, cancel := context.WithCancel(context.Background())
	defer cancel()
	for s := range loadSubscribers {
		c := dial(t, n)
		for i := range loadStreams {
			sub, err := c.Subscribe(stop, loadStream(i))
			if err != nil {
				t.Fatal(err)
			}
			y, seen := &tally{}, &atomic.Uint64{}
			mu.Lock()
			tallies[[2]int{s, i}], progress[[2]int{s, i}] = y, seen
			mu.Unlock()
			wg.Add(1)
			go func() {
				defer wg.Done()
				for ev, err := range sub.Events(stop) {
					if err != nil {
						return
					}
					y.add(ev.Payload)
					seen.Add(1)
				}
			}()
		}
	}
	run, end := context.WithTimeout(context.Background(), loadTime())
	defer end()
	records, batches := load(t, run, n, nil)
	for i := range loadStreams {
		want := expected(records, i)
		for s := range loadSubscribers {
			if !within(30*time.Second, func() bool { return progress[[2]int{s, i}].Load() >= want }) {
				t.Errorf("subscriber %d of stream %d has %d of %d records", s, i, progress[[2]int{s, i}].Load(), want)
			}
		}
	}
	cancel()
	wg.Wait()
	var total, lost, disorder, forged uint64
	for _, y := range tallies {
		total, lost, disorder, forged = total+y.received, lost+y.lost, disorder+y.disorder, forged+y.forgeries
	}
	t.Logf("%d batches published, %d records delivered to %d subscriptions in %s: lost %d, repeated or out of order %d",
		batches, total, len(tallies), loadTime(), lost, disorder)
	if lost+disorder+forged != 0 {
		t.Errorf("lost %d, repeated or out of order %d, foreign %d", lost, disorder, forged)
	}
	if got := n.Count("felix_fanout_encodes_total"); uint64(got) != batches {
		t.Errorf("%d encodes for %d batches to %d subscribers each", got, batches, loadSubscribers)
	}
	if d := n.Count("felix_subscribe_dropped_total"); d != 0 {
		t.Errorf("%d records dropped under block", d)
	}
}

// Under drop_new a stalled subscriber loses records, every one of them counted, and the healthy ones lose none.
func TestLoadDropNewSparesTheHealthy(t *testing.T) {
	n := brokertest.Start(t, func(c *broker.Config) {
		c.Ingress.QueuePolicy = fanout.DropNew
		c.Ingress.IngressWait = true // so that every loss is the stalled subscriber's
	})
	t.Cleanup(n.Quiesce) // after the clients of this test have closed
	for i := range loadStreams {
		n.Stream(loadStream(i), 1)
	}
	// A window of 64 KiB and nobody who reads: this subscriber takes little and then nothing.
	stalled := n.Raw(t, func(c *transport.DialConfig) { c.StreamWindow, c.ConnWindow = 64<<10, 256<<10 })
	events := stalled.Subscribe(n.Token(), loadStream(0), wire.StartPosition{})

	var received [loadStreams]atomic.Uint64 // the slowest healthy subscriber of each stream
	slowest := func(stream int, all []*atomic.Uint64) uint64 {
		low := all[0].Load()
		for _, a := range all {
			low = min(low, a.Load())
		}
		received[stream].Store(low)
		return low
	}
	stop, cancel := context.WithCancel(context.Background())
	defer cancel()
	var wg sync.WaitGroup
	var tallies []*tally
	progress := make([][]*atomic.Uint64, loadStreams)
	for s := range loadSubscribers - 1 {
		c := dial(t, n)
		_ = s
		for i := range loadStreams {
			sub, err := c.Subscribe(stop, loadStream(i))
			if err != nil {
				t.Fatal(err)
			}
			y, seen := &tally{}, &atomic.Uint64{}
			tallies, progress[i] = append(tallies, y), append(progress[i], seen)
			wg.Add(1)
			go func() {
				defer wg.Done()
				for ev, err := range sub.Events(stop) {
					if err != nil {
						return
					}
					y.add(ev.Payload)
					seen.Add(1)
				}
			}()
		}
	}
	// Healthy means keeping up: a publisher stays less than half a subscriber queue ahead of the slowest of them.
	var sent [loadStreams]atomic.Uint64
	const ahead = 200 * loadBatch
	pace := func(p int) {
		stream := p % loadStreams
		n := sent[stream].Add(loadBatch)
		within(30*time.Second, func() bool { return slowest(stream, progress[stream])+ahead > n })
	}
	// On a slow machine the load goes on until the stalled subscriber's queue has overflowed.
	run, end := context.WithCancel(stop)
	defer end()
	go func() {
		defer end()
		time.Sleep(loadTime() / 4)
		within(time.Minute, func() bool { return n.Count("felix_subscribe_dropped_total") > 0 })
	}()
	records, batches := load(t, run, n, pace)
	for i := range loadStreams {
		want := expected(records, i)
		if !within(30*time.Second, func() bool { return slowest(i, progress[i]) >= want }) {
			t.Errorf("the slowest healthy subscriber of stream %d has %d of %d records", i, received[i].Load(), want)
		}
	}
	cancel()
	wg.Wait()
	for _, y := range tallies {
		if y.lost+y.disorder+y.forgeries != 0 {
			t.Errorf("a healthy subscriber lost %d, had %d out of order", y.lost, y.disorder)
		}
	}
	// Now the stalled one reads on: what it got plus what was counted as dropped is everything.
	dropped := uint64(n.Count("felix_subscribe_dropped_total"))
	got, want := uint64(0), expected(records, 0)
	for got+dropped < want {
		f, payload, err := events.Frame()
		if err != nil {
			t.Fatalf("after %d records: %v", got, err)
		}
		var e wire.EventBatch
		if err := wire.ParseEventBatch(f, payload, &e); err != nil {
			t.Fatal(err)
		}
		got += uint64(e.Count)
	}
	t.Logf("%d batches; the stalled subscriber of one stream received %d of %d records, %d counted as dropped", batches, got, want, dropped)
	if dropped == 0 {
		t.Error("the stalled subscriber lost nothing: the test put no pressure on it")
	}
	if got+dropped != want {
		t.Errorf("%d received and %d counted as dropped, of %d", got, dropped, want)
	}
	if encodes := n.Count("felix_fanout_encodes_total"); uint64(encodes) != batches {
		t.Errorf("%d encodes for %d batches", encodes, batches)
	}
}

// within polls until ok, at most d.
func within(d time.Duration, ok func() bool) bool {
	for end := time.Now().Add(d); !ok(); time.Sleep(200 * time.Microsecond) {
		if time.Now().After(end) {
			return ok()
		}
	}
	return true
}
