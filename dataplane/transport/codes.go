package transport

// ALPN is the protocol id that clients may offer; see wire protocol section 2.1.
const ALPN = "felix/1"

// CloseCode is the application code of a connection close, see wire protocol section 2.3 and decisions
// section 8.
type CloseCode uint64

const (
	// CloseShutdown is an orderly end: a broker that shuts down or a client that is done.
	CloseShutdown CloseCode = 0
	// CloseAuthTimeout ends a connection on which no stream authenticated in time.
	CloseAuthTimeout CloseCode = 1
	// CloseAbuse ends a connection whose peer breaks rules on purpose or beyond a bound.
	CloseAbuse CloseCode = 2
)

// StreamCode is the application code of a stream reset or of a request to stop sending, see decisions section
// 8.
type StreamCode uint64

const (
	// StreamCancelled says that whoever sends it does not want the rest.
	StreamCancelled StreamCode = 0
	// StreamShardStopped says that the broker no longer serves the shard of this stream.
	StreamShardStopped StreamCode = 1
	// StreamProtocol answers bytes that are not the protocol.
	StreamProtocol StreamCode = 2
	// StreamLimit answers a frame or a count above a bound.
	StreamLimit StreamCode = 3
	// StreamAuth answers a failed or missing authentication.
	StreamAuth StreamCode = 4
)
