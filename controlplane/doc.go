// Package controlplane is the map of the control plane, the part of the system that no message
// passes through.
//
// It holds tenants, namespaces, streams, caches and signing keys, and answers two kinds of callers
// over HTTP: operators, who change that state, and brokers, who copy it. Brokers route and verify
// tokens from their copies, so the data plane goes on while the control plane is away.
//
// The rooms, from the outside in:
//
//	api     the treaty between the planes: plain structs and JSON, no behaviour, no imports
//	client  Go client of the api, used by brokers and by the command line
//	server  HTTP handlers: credential, grammar, errors, long polls, drain
//	token   permission grammar, minting of signed tokens, JWKS
//	store   the state in etcd, its change feeds and cursors; the only room that imports etcd
//
// A write walks server -> store -> etcd and comes back to every broker as one row of a change feed.
// Each kind of resource has a dense sequence of its own, written in the transaction that changes the
// object, so a snapshot followed by the changes after it describes every committed change once.
package controlplane
