// Package stream is one shard of a stream in memory: it gives out offsets, keeps a replay ring, knows its
// subscribers and offers every batch to all of them in offset order.
//
// The rules are described above Shard.
package stream
