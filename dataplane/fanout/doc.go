// Package fanout carries one published batch to many event streams: a counted Envelope encoded at most once, a
// bounded Queue per subscriber, and one Pump per event stream that is its only writer.
//
// The block that ingress read a batch into is the block its frame is written from. See Envelope for the layout,
// Queue for the bounds and Pump for the writes.
package fanout
