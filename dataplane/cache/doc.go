// Package cache keeps the in-memory cache entries of one broker: values with versions, expiry and conditions,
// under one process-wide byte limit (wire protocol section 12, decisions section 8).
//
// A Store holds every cache; a Cache is one of them, told apart by its catalog handle and incarnation. Reads
// run on the caller's goroutine under a reader lock and hand out retained arena blocks; writes come from the
// key's lane but are safe from anywhere. The mechanism is described above Store, eviction above
// Store.reserve, expiry above Store.sweep.
//
// Lock order: a stripe's lock is a leaf and no goroutine holds two; Store.mu is never held while a stripe is
// locked.
package cache
