package shard

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// modelLane is what a lane owes: the accepted jobs in order, the head may have begun.
type modelLane struct {
	lane   *Lane
	owed   []uint64
	closed bool
}

type model struct {
	t        *rapid.T
	s        *Scheduler
	lanes    []*modelLane
	waits    map[uint64]int // calls that still answer Wait, by job
	occupied int
	nextID   uint64
}

func newModel(t *rapid.T) *model {
	m := &model{t: t, waits: make(map[uint64]int)}
	m.s = New(Config{
		Executors:      rapid.IntRange(1, 3).Draw(t, "executors"),
		DepthPerTenant: rapid.IntRange(1, 4).Draw(t, "depth"),
		QuantumJobs:    rapid.IntRange(1, 4).Draw(t, "jobs"),
		QuantumBytes:   int64(rapid.IntRange(1, 3000).Draw(t, "quantum")),
		Handlers:       []func(*Lane, *Job) Verdict{m.handle},
		Drop:           m.drop,
	})
	for i := range 5 {
		ml := new(modelLane)
		ml.lane = m.s.NewLane(m.s.Tenant([]string{"a", "b"}[i%2]), ml)
		m.lanes = append(m.lanes, ml)
	}
	return m
}

func (m *model) handle(l *Lane, j *Job) Verdict {
	ml := l.Owner().(*modelLane)
	if len(ml.owed) == 0 || ml.owed[0] != j.RequestID {
		m.t.Fatalf("job %d runs, the lane owes %v", j.RequestID, ml.owed)
	}
	if m.waits[j.RequestID] > 0 {
		m.waits[j.RequestID]--
		if j.Flags == 1 {
			l.Wake()
		}
		return Wait
	}
	ml.owed = ml.owed[1:]
	return Done
}

func (m *model) drop(l *Lane, j *Job) {
	ml := l.Owner().(*modelLane)
	i := slices.Index(ml.owed, j.RequestID)
	if i < 0 {
		m.t.Fatalf("job %d is dropped, the lane owes %v", j.RequestID, ml.owed)
	}
	ml.owed = slices.Delete(ml.owed, i, i+1)
}

func (m *model) anyLane(t *rapid.T) *modelLane { return rapid.SampledFrom(m.lanes).Draw(t, "lane") }

func (m *model) Submit(t *rapid.T) {
	ml := m.anyLane(t)
	m.nextID++
	id := m.nextID
	j := Job{RequestID: id, Bytes: int64(rapid.IntRange(0, 5000).Draw(t, "bytes")),
		Flags: uint8(rapid.IntRange(0, 1).Draw(t, "wakes"))}
	m.waits[id] = rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, "waits")
	room := m.room(ml)
	ml.owed = append(ml.owed, id)
	got := m.s.Submit(ml.lane, &j, 0, nil)
	want := Accepted
	switch {
	case ml.closed:
		want = Closed
	case !room:
		want = Full
	}
	if got != want {
		t.Fatalf("submit says %s, want %s", resultName(got), resultName(want))
	}
	if got != Accepted {
		ml.owed = ml.owed[:len(ml.owed)-1]
	}
}

// room restates the rule for slots from the lanes' states.
func (m *model) room(ml *modelLane) bool {
	l, c := ml.lane, m.s.config
	total, tenant := 0, 0
	for _, o := range m.lanes {
		if o.lane.state != laneParked {
			total += o.lane.depthLocked()
			if o.lane.tenant == l.tenant {
				tenant += o.lane.depthLocked()
			}
		}
	}
	switch l.state {
	case laneParked:
		return l.depthLocked() < c.DepthPerTenant
	case laneIdle:
		if m.s.slots < c.Executors {
			return true
		}
	}
	return tenant < c.DepthPerTenant || total < c.DepthPerTenant*c.Executors
}

func (m *model) Turn(*rapid.T) { m.s.turnOnce() }

func (m *model) Wake(t *rapid.T) { m.anyLane(t).lane.Wake() }

func (m *model) Occupy(t *rapid.T) {
	if m.s.slots == m.s.config.Executors {
		t.Skip("no slot is free")
	}
	m.s.occupy()
	m.occupied++
}

func (m *model) Vacate(t *rapid.T) {
	if m.occupied == 0 {
		t.Skip("no slot is occupied")
	}
	m.s.vacate()
	m.occupied--
}

func (m *model) CloseLane(t *rapid.T) {
	if rapid.IntRange(0, 9).Draw(t, "rarely") > 0 {
		t.Skip("closing is rare")
	}
	ml := m.anyLane(t)
	ml.closed = true
	ml.lane.Close()
}

func (m *model) Check(t *rapid.T) {
	s := m.s
	queued, depth, ready, jobs := 0, 0, 0, 0
	for i, ml := range m.lanes {
		l := ml.lane
		d := l.depthLocked()
		depth += d
		jobs += len(ml.owed)
		if l.state != laneParked {
			queued += d
		}
		if l.state == laneReady {
			ready++
		}
		if l.state == laneIdle && (d > 0 || l.held || len(ml.owed) > 0) {
			t.Fatalf("lane %d is idle and owes %v", i, ml.owed)
		}
		if l.state == laneRunning {
			t.Fatalf("lane %d runs and nobody runs it", i)
		}
	}
	switch {
	case s.queued != queued, s.turn.ready != ready, s.jobs != jobs, s.depth.Load() != int64(depth):
		t.Fatalf("books say %d queued, %d ready, %d jobs, gauge %d; the lanes say %d, %d, %d, %d",
			s.queued, s.turn.ready, s.jobs, s.depth.Load(), queued, ready, jobs, depth)
	case s.slots > s.config.Executors, s.grants > ready:
		t.Fatalf("%d slots, %d grants, %d ready", s.slots, s.grants, ready)
	case s.slots < s.config.Executors && ready > s.grants:
		t.Fatalf("a slot is free and %d lanes are ready without a grant", ready-s.grants)
	case s.slots != m.occupied+s.grants:
		t.Fatalf("%d slots, %d occupied, %d grants", s.slots, m.occupied, s.grants)
	}
}

// TestModel compares the scheduler with its rules over random histories: order within lanes, room, slots, the books,
// and nothing lost or run twice.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(t)
		t.Repeat(map[string]func(*rapid.T){
			"submit": m.Submit, "turn": m.Turn, "wake": m.Wake, "occupy": m.Occupy, "vacate": m.Vacate,
			"close": m.CloseLane, "": m.Check,
		})
		for ; m.occupied > 0; m.occupied-- {
			m.s.vacate()
		}
		for range 1000 {
			for m.s.turnOnce() {
			}
			for _, ml := range m.lanes {
				ml.lane.Wake()
			}
		}
		for i, ml := range m.lanes {
			if len(ml.owed) > 0 {
				t.Fatalf("lane %d still owes %v", i, ml.owed)
			}
		}
		m.Check(t)
		m.s.Close()
	})
}
