// Package server is the HTTP API of the control plane: credential, grammar, error bodies, change feeds,
// keys and tokens, probes.
//
// New returns the API as a handler for whoever has a listener; Start brings its own, with TLS, timeouts
// and a drain. The package keeps no state of its own: what it answers comes from the store, and any
// number of instances may serve one store.
//
// One request takes the walk
//
//	panic guard -> credential -> route -> deadline -> body and grammar -> store -> error body
//
// and the credential comes before everything that could tell an existing name from an unknown one.
package server
