package broker

import (
	"context"
	"time"
)

// drain is the one place that knows the order in which a broker stops. Every step shares one deadline, so that slow parts
// cannot take a budget each; readiness goes first and the admin listener stays to the last, so that operators see what is
// still in flight.
//
//	not ready -> hold-off -> refuse connections -> wind connections down (half of the budget) -> stop the shards
//	-> release what is kept -> stop the metadata sync -> stop the admin listener
func (b *Broker) drain(ctx context.Context) error {
	started := b.cfg.Clock.Monotonic()
	if b.ready != nil {
		b.ready.Set(0)
	}
	if b.admin != nil {
		b.admin.SetDraining()
	}
	b.log.Info("draining", "predrain", b.cfg.Predrain, "budget", b.cfg.DrainTimeout)
	if b.cfg.Predrain > 0 && b.server != nil {
		t := b.cfg.Clock.NewTimer(b.cfg.Predrain)
		select {
		case <-t.C():
		case <-ctx.Done():
		}
		t.Stop()
	}
	ctx, cancel := context.WithTimeout(ctx, b.cfg.DrainTimeout)
	defer cancel()
	var unfinished []string
	late := func(subsystem string) {
		unfinished = append(unfinished, subsystem)
		b.forced(subsystem)
	}
	if b.listen != nil {
		b.listen.Refuse()
	}
	if b.server != nil {
		grace, end := context.WithTimeout(ctx, b.cfg.DrainTimeout/2)
		if cut := b.server.Drain(grace); cut > 0 {
			late("connections")
		}
		end()
	}
	b.stop()
	if b.places != nil {
		b.places.Close() // subscribers' queues close, which lets lanes that wait for them go on
	}
	if b.scheduler != nil {
		if b.scheduler.Drain(ctx) != nil {
			late("shards")
		}
		b.scheduler.Close()
	}
	if b.server != nil && b.server.Wait(ctx) != nil {
		late("streams")
	}
	if b.listen != nil {
		b.listen.Close()
	}
	b.loops.Wait()
	if b.sync != nil {
		b.sync.Close()
	}
	if b.keys != nil {
		b.keys.Close()
	}
	if b.caches != nil {
		b.caches.Close()
	}
	took := b.cfg.Clock.Monotonic() - started
	b.stats.Gauge("felix_drain_duration_ms", "How long the last drain took.").Set(took.Milliseconds())
	if len(unfinished) > 0 {
		b.log.Warn("drain deadline expired", "unfinished", unfinished, "dur", took)
	} else {
		b.log.Info("drain complete", "dur", took)
	}
	if b.admin != nil {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		b.admin.Close(end)
		cancel()
	}
	if len(unfinished) > 0 {
		return ErrForced
	}
	return nil
}
