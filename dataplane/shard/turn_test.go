package shard

import (
	"testing"

	"github.com/felix-go/felix/dataplane/ring"
)

// TestDeficitDoesNotAddUp serves a tenant that never has more to run than it may, and never stops running: what it
// leaves over must not become a right to take many turns at once later.
func TestDeficitDoesNotAddUp(t *testing.T) {
	c := turn{quantum: 1000}
	tenant := &Tenant{running: 1}
	l := &Lane{tenant: tenant, queue: ring.NewBuffer[Job](8)}
	for range 100 {
		l.queue.Push(Job{Bytes: 300})
		c.add(l)
		if c.pick() != l {
			t.Fatal("another lane was picked")
		}
		l.queue.Pop()
		if tenant.deficit > c.quantum {
			t.Fatalf("the tenant has a deficit of %d with a quantum of %d", tenant.deficit, c.quantum)
		}
	}
}

// TestTurnShares serves backlogged tenants with jobs of very different sizes: their bytes stay within one job and one
// quantum of each other.
func TestTurnShares(t *testing.T) {
	c := turn{quantum: 1000}
	sizes := []int64{256, 999, 1001, 50_000}
	served := make([]int64, len(sizes))
	lanes := make([]*Lane, len(sizes))
	index := make(map[*Lane]int)
	for i, size := range sizes {
		lanes[i] = &Lane{tenant: new(Tenant), queue: ring.NewBuffer[Job](8)}
		lanes[i].queue.Push(Job{Bytes: size})
		index[lanes[i]] = i
		c.add(lanes[i])
	}
	for range 100_000 {
		l := c.pick()
		i := index[l]
		served[i] += sizes[i]
		for l.tenant.deficit >= sizes[i] { // an executor stays, as mayStayLocked says
			l.tenant.deficit -= sizes[i]
			served[i] += sizes[i]
		}
		c.add(l) // it still has its job
	}
	for i := range sizes {
		for k := range sizes {
			if served[i]-served[k] > sizes[i]+sizes[k]+2*c.quantum {
				t.Errorf("jobs of %d bytes were served %d, jobs of %d only %d", sizes[i], served[i], sizes[k], served[k])
			}
		}
	}
}
