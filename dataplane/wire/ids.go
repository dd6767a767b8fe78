package wire

// Offset is the position of a record in one shard of a stream, counted from 0. On a subscription it is the
// first record not yet seen.
type Offset uint64

// Generation counts the leaders of a shard; a larger one is newer. It also stamps routing answers, so that a
// client can ignore an older one (wire protocol section 15).
type Generation uint64

// ShardID is the number of a shard within its stream or cache, 0 <= id < width.
type ShardID uint32

// Handle is the dense number a broker gives to a stream or a cache in its own catalog. It never travels to
// clients.
type Handle uint32

// SubscriptionID names a subscription or a watch; the broker assigns it, unique per connection at least (wire
// protocol section 11).
type SubscriptionID uint64

// RequestID is chosen by the client and echoed by the broker, never interpreted and never used to merge
// requests.
type RequestID = uint64
