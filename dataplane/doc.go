// Package dataplane is the map of the rooms that a message walks through, in walking order. Each folder is one room; a message
// only walks from left to right.
//
//		bytes in                                                              bytes out
//		transport -> ingress -> admission -> shard -> stream -> fanout -> transport
//		                |                       \--> cache --^
//		              route
//
//	  - transport, transport/udp: the socket and QUIC; the only rooms that know quic-go
//	  - ingress: one connection, its streams, the answers owed on them
//	  - auth, catalog, route: who may, what exists, whose it is; read-only for a message
//	  - admission: byte budgets
//	  - shard: one lane per stream or cache shard, tenants in turn
//	  - stream: offsets, replay ring, subscribers
//	  - cache: entries, expiry, versions
//	  - fanout: the shared envelope, subscriber queues, one pump per event stream
//	  - wire, ring, arena, stat: what all of them are made of
//	  - cluster, admin: this node's metadata and its operators
//	  - broker: builds all of it; brokertest: runs it for tests
//
// docs/data-path.md tells the walk in prose.
package dataplane
