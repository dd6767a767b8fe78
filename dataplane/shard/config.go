package shard

import (
	"log/slog"

	"github.com/felix-go/felix/dataplane/stat"
)

// Defaults of Config.
const (
	DefaultExecutors      = 4
	DefaultDepthPerTenant = 64
	DefaultQuantumJobs    = 16
	DefaultQuantumBytes   = 64 << 10
)

// Config describes a Scheduler. Zero fields mean their default.
type Config struct {
	// Executors is how many lanes run at once, runs on submitting goroutines included, and how many goroutines
	// drain the queues. Default 4, at most 1024. Too few and one slow handler is felt by other shards; too many
	// and they compete for the same processors.
	Executors int
	// DepthPerTenant is how many queued jobs each tenant may always have. All tenants together share
	// DepthPerTenant x Executors beyond which only guaranteed slots are given. Default 64, at most 1<<20. Too low
	// and bursts are refused; too high and an overloaded broker answers late instead of refusing early.
	DepthPerTenant int
	// QuantumJobs bounds how many jobs a submitting goroutine runs before it hands its lane to an executor.
	// Default 16.
	QuantumJobs int
	// QuantumBytes is what a tenant's turn adds to its deficit, and the bytes after which a submitting goroutine
	// hands the lane over. Default 64 KiB. Larger means fewer changes of lane and longer waits for the others.
	QuantumBytes int64
	// Handlers is the dispatch table, indexed by Job.Kind. Required; an entry may be nil when no job has its kind.
	// A handler runs alone in its lane, must not block, and must not submit with a wait.
	Handlers []func(*Lane, *Job) Verdict
	// Drop gets a job that will never be done because its lane or the scheduler was closed, to answer it as the
	// handlers' author thinks fit. Only Scheduler.Close drops jobs that were begun, those whose handler waits (by
	// then Step tells how far it came). What Drop leaves in a job is settled: shard_unavailable when it never ran,
	// internal with unknown outcome when it was begun. It may run beside a handler of the same lane. Default:
	// settle only.
	Drop func(*Lane, *Job)
	// Stats receives felix_broker_ingress_queue_depth and felix_broker_publish_worker_restarts_total. Default: a
	// set of its own.
	Stats *stat.Set
	// Logger is told of panics in handlers. Default: discard.
	Logger *slog.Logger
}

func (c Config) withDefaults() Config {
	if c.Executors == 0 {
		c.Executors = DefaultExecutors
	}
	if c.DepthPerTenant == 0 {
		c.DepthPerTenant = DefaultDepthPerTenant
	}
	if c.QuantumJobs == 0 {
		c.QuantumJobs = DefaultQuantumJobs
	}
	if c.QuantumBytes == 0 {
		c.QuantumBytes = DefaultQuantumBytes
	}
	if c.Stats == nil {
		c.Stats = stat.NewSet()
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// Validate reports the first field that is out of range, as an error that wraps ErrConfig.
func (c Config) Validate() error {
	c = c.withDefaults()
	switch {
	case c.Executors < 1 || c.Executors > 1024:
		return configError("Executors", c.Executors, "1..1024")
	case c.DepthPerTenant < 1 || c.DepthPerTenant > 1<<20:
		return configError("DepthPerTenant", c.DepthPerTenant, "1..1048576")
	case c.QuantumJobs < 1:
		return configError("QuantumJobs", c.QuantumJobs, "1 or more")
	case c.QuantumBytes < 1:
		return configError("QuantumBytes", c.QuantumBytes, "1 or more")
	case len(c.Handlers) == 0 || len(c.Handlers) > 256:
		return configError("Handlers", len(c.Handlers), "1..256 entries")
	}
	return nil
}
