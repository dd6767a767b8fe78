package shard

import (
	"errors"
	"testing"

	"github.com/felix-go/felix/dataplane/arena"
	"github.com/felix-go/felix/dataplane/stat"
	"github.com/felix-go/felix/dataplane/wire"
)

// recorder keeps the answers it gets.
type recorder struct {
	seqs []uint64
	outs []Outcome
}

func (r *recorder) Complete(seq uint64, out Outcome) {
	r.seqs = append(r.seqs, seq)
	r.outs = append(r.outs, out)
}

func TestAnswerOnce(t *testing.T) {
	a := newArena(t)
	var r recorder
	j := Job{Seq: 7, Reply: &r, Ref: a.Acquire(1)}
	j.Answer(Outcome{Version: 3})
	j.Answer(Outcome{Version: 4, Ref: a.Acquire(1)})
	j.Settle(Outcome{Kind: OutcomeRefused})
	if len(r.outs) != 1 || r.seqs[0] != 7 || r.outs[0].Version != 3 {
		t.Errorf("answers %v for %v, want one", r.outs, r.seqs)
	}
	if j.Ref.Valid() {
		t.Error("a settled job holds a block")
	}
}

// TestPanic checks that a handler that panics costs its job an answer of unknown outcome and nobody anything else.
func TestPanic(t *testing.T) {
	a := newArena(t)
	stats := stat.NewSet()
	var taken arena.Ref
	s := New(Config{Stats: stats, Handlers: []func(*Lane, *Job) Verdict{
		func(*Lane, *Job) Verdict { panic("on purpose") },
		func(_ *Lane, j *Job) Verdict { taken = j.TakeRef(); j.Answer(Outcome{}); panic("late") },
		nil,
		func(_ *Lane, j *Job) Verdict { j.Answer(Outcome{}); return Done },
		func(*Lane, *Job) Verdict { return Done },
	}})
	l := s.NewLane(s.Tenant("t"), nil)
	var r recorder
	for kind := range Kind(6) { // the last has no handler
		s.Submit(l, &Job{Kind: kind, Reply: &r, Seq: uint64(kind), Ref: a.Acquire(100)}, 0, nil)
	}
	taken.Release()
	unknown := func(o Outcome) bool {
		return o.Kind == OutcomeRefused && o.Refusal.Code == wire.CodeInternal && o.Refusal.Class == wire.ClassOutcomeUnknown
	}
	for kind, wantUnknown := range []bool{true, false, true, false, true, true} {
		if r.seqs[kind] != uint64(kind) || unknown(r.outs[kind]) != wantUnknown {
			t.Errorf("kind %d: answer %d is %+v, want unknown %t", kind, r.seqs[kind], r.outs[kind], wantUnknown)
		}
	}
	if n := s.restarts.Load(); n != 4 {
		t.Errorf("felix_broker_publish_worker_restarts_total is %d, want 4", n)
	}
	s.checkQuiet(t)
}

// TestDropAnswers checks that a dropped job is answered by Drop, or for it.
func TestDropAnswers(t *testing.T) {
	a := newArena(t)
	for _, own := range []bool{true, false} {
		s := New(Config{Executors: 1, Handlers: []func(*Lane, *Job) Verdict{func(*Lane, *Job) Verdict { return Done }},
			Drop: func(l *Lane, j *Job) {
				if own {
					j.Answer(Outcome{Version: 9})
				}
			}})
		l := s.NewLane(s.Tenant("t"), nil)
		s.occupy()
		var r recorder
		s.Submit(l, &Job{Reply: &r, Ref: a.Acquire(1)}, 0, nil)
		if l.Depth() != 1 {
			t.Errorf("depth %d, want 1", l.Depth())
		}
		l.Close()
		if len(r.outs) != 1 || (r.outs[0].Version == 9) != own {
			t.Errorf("answers %+v, own answer %t", r.outs, own)
		}
		if !own && r.outs[0].Refusal.Code != wire.CodeShardUnavailable {
			t.Errorf("refusal %+v", r.outs[0].Refusal)
		}
		s.vacate()
		s.turnOnce()
		s.Close()
		s.checkQuiet(t)
	}
}

func TestTenantIsForgottenWithItsLanes(t *testing.T) {
	s := New(Config{Handlers: []func(*Lane, *Job) Verdict{func(*Lane, *Job) Verdict { return Done }}})
	old := s.Tenant("t")
	a, b := s.NewLane(old, "a"), s.NewLane(old, "b")
	if a.Owner() != "a" || old.Name() != "t" || s.Tenant("t") != old {
		t.Error("a lane or its tenant does not know who it is")
	}
	a.Close()
	a.Close()
	if s.Tenant("t") != old {
		t.Error("a tenant with an open lane was forgotten")
	}
	b.Close()
	if len(s.tenants) != 0 || len(s.lanes) != 0 {
		t.Errorf("%d tenants and %d lanes are left", len(s.tenants), len(s.lanes))
	}
	// A tenant that was looked up before is taken back, and one of the name is used by all.
	c := s.NewLane(old, nil)
	if d := s.NewLane(s.Tenant("t"), nil); c.tenant != d.tenant {
		t.Error("one name has two tenants")
	}
}

func TestConfig(t *testing.T) {
	handlers := []func(*Lane, *Job) Verdict{nil}
	if err := (Config{Handlers: handlers}).Validate(); err != nil {
		t.Errorf("defaults: %v", err)
	}
	for _, c := range []Config{
		{},
		{Handlers: handlers, Executors: -1},
		{Handlers: handlers, Executors: 2000},
		{Handlers: handlers, DepthPerTenant: -1},
		{Handlers: handlers, QuantumJobs: -1},
		{Handlers: handlers, QuantumBytes: -1},
	} {
		if err := c.Validate(); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v, want ErrConfig", c, err)
		}
	}
}
