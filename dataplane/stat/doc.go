// Package stat holds the numbers that hot paths count: padded atomics and fixed-bucket histograms, registered by name in a Set
// that the admin listener writes out in the Prometheus text format. It imports nothing outside the standard library.
package stat
