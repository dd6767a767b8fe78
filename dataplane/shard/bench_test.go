package shard

import (
	"fmt"
	"testing"
)

// BenchmarkSubmit is a job through an idle lane, on its submitter.
func BenchmarkSubmit(b *testing.B) {
	s := New(Config{Handlers: []func(*Lane, *Job) Verdict{func(*Lane, *Job) Verdict { return Done }}})
	l := s.NewLane(s.Tenant("t"), nil)
	b.ReportAllocs()
	for b.Loop() {
		j := Job{Bytes: 256}
		s.Submit(l, &j, 0, nil)
	}
}

// BenchmarkSubmitQueued is a job through the queue of a lane, tenants taking turns, without changes of goroutine.
func BenchmarkSubmitQueued(b *testing.B) {
	for _, tenants := range []int{1, 10, 100} {
		b.Run(fmt.Sprintf("tenants=%d", tenants), func(b *testing.B) {
			s := New(Config{Executors: 1, Handlers: []func(*Lane, *Job) Verdict{func(*Lane, *Job) Verdict { return Done }}})
			var lanes []*Lane
			for i := range tenants {
				lanes = append(lanes, s.NewLane(s.Tenant(fmt.Sprint(i)), nil))
			}
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				if n%(16*tenants) == 0 {
					s.occupy()
				}
				j := Job{Bytes: 4096}
				s.Submit(lanes[n%tenants], &j, 0, nil)
				if n++; n%(16*tenants) == 0 {
					s.vacate()
					for s.turnOnce() {
					}
				}
			}
		})
	}
}

// BenchmarkSubmitContended is many submitters on lanes of their own, and on one lane.
func BenchmarkSubmitContended(b *testing.B) {
	for _, shared := range []bool{false, true} {
		b.Run(fmt.Sprintf("shared=%t", shared), func(b *testing.B) {
			s := New(Config{Handlers: []func(*Lane, *Job) Verdict{func(*Lane, *Job) Verdict { return Done }}})
			s.Start()
			defer s.Close()
			one := s.NewLane(s.Tenant("t"), nil)
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				l := one
				if !shared {
					l = s.NewLane(s.Tenant("t"), nil)
				}
				for pb.Next() {
					j := Job{Bytes: 256}
					s.Submit(l, &j, -1, nil)
				}
			})
		})
	}
}
