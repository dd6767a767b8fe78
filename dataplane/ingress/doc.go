// Package ingress is the front room of the data plane: one inbound client connection, its streams, and the answers owed on
// them.
//
// A connection is served by one goroutine that accepts bidirectional streams and one that accepts unidirectional ones. Each
// stream has exactly one reader (session.run) and, once a request after the login owes an answer, exactly one writer
// (session.write). The reader parses frames in place out of its read buffer, authorizes, resolves and routes, and either
// answers at once (cache reads, width queries) or submits a fixed-size job to a shard lane (publishes, cache writes). Every
// answer takes a numbered slot of the stream's answer window when its request is read, so answers leave in request order
// whatever order the work completes in, and the window's size bounds what a peer can make the broker owe: a full window stops
// the reader, and QUIC flow control passes that on.
//
//	stream read -> frameReader -> session dispatch -> (answer now | shard.Submit) -> answer window -> one stream write
//
// Ownership: the read buffer belongs to the reader; a publish's records are copied once into a block of their own, laid out
// so that the event frame is made in place later (fanout.Headroom); a block travels with its job and is released by whoever
// finishes the job; an answer that carries a block is released by the writer after the write, or by Close of the window.
package ingress
