// Package shard runs the ordered step of every job: one lane per stream shard or cache shard, one job at a time in
// a lane, many lanes side by side, tenants taking turns for the executors by bytes.
//
// The room knows no work. Its Config carries one table of handlers indexed by Kind; a Job is a fixed-size value and
// a handler answers Done or Wait. The mechanism is described above Scheduler.
package shard
