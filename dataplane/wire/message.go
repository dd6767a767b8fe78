package wire

// Message is one JSON message, flat: the fields of every type side by side, of which a type fills its own
// (wire protocol sections 7 and 8).
//
// The goal is to decode the cache and control messages of a busy broker without allocating. Three ideas carry
// it:
//
//   - Text is borrowed. A field is a slice of the payload, or of m.scratch for the rare string that holds
//     escapes. Views are valid until the payload changes or m is parsed into again, whichever is first.
//   - Parsing has two steps. The scan walks the text once, checks the grammar of all of it and notes where
//     the value of every field name it knows lies. Then the type is looked at, and its schema says which of
//     these values exist, which must, and what they have to be. A member that the type does not have is
//     ignored even if another type has a field of that name. Order does not matter and of duplicates the
//     last wins.
//   - A Message is reused. Its scratch space is kept between messages, up to maxKeptScratch.
//
// The two obvious other forms lose: one struct per type makes the dispatcher allocate or copy, and decoding
// while scanning needs `type` to come first, which nothing promises.
//
// A Message belongs to one goroutine. The zero Message is ready for use.
type Message struct {
	// Type is the message's type; MsgUnknown for one that is not in section 8.
	Type MessageType
	// RawType is the wire name, also of an unknown type.
	RawType []byte
	// BadField is the field that ParseMessage complained about; only after ErrMissingField, ErrWrongType and
	// ErrBadBase64.
	BadField Field

	// Tenant, Namespace, Stream and Cache are the scope of a request.
	Tenant, Namespace, Stream, Cache []byte
	// Name is the stream or cache that `shard_owners` asks about, Kind says which: "stream" or "cache".
	Name, Kind []byte
	// Key is a cache key, or the routing key of a publish with its base64 already decoded. Has tells the
	// empty key from an absent one.
	Key []byte
	// Group is the consumer group of a group request.
	Group []byte
	// Token is the opaque credential of `auth`.
	Token []byte
	// Text is the `message` of a refusal.
	Text []byte
	// CodeName and RetryName are code and class as sent; Refusal maps them.
	CodeName, RetryName []byte
	// Reason is the detail reason of an error, the reason of a cursor error ("too_old", "in_future") or the
	// name of the reason of `publish_refused`.
	Reason []byte
	// RetryAfterMillis is the suggested wait of an error's detail in milliseconds; 0 means none.
	RetryAfterMillis uint64
	// RequestID is the client's id; Has(FieldRequestID) tells 0 from none. Also set on unknown types if it is
	// an unsigned integer.
	RequestID RequestID

	// ClientFlags is what the peer of an `auth` understands: its client_flags, or BaselineFlags without them.
	ClientFlags Flags
	// ClientFeatures joins both feature words of an `auth`; the extended one counts only with
	// FeatureExtended.
	ClientFeatures Features
	// ServerFlags and ServerFeatures are the same of an `auth_ok`.
	ServerFlags    Flags
	ServerFeatures Features
	// ListenerPorts are the broker's ports when it has several. They live in m, not in the payload.
	ListenerPorts []uint16
	// PublishWindow is how many publishes may be unanswered; 0 means that nothing was granted.
	PublishWindow uint32

	// HasAck means that Ack was named. AckMode gives the mode that holds with or without it.
	HasAck bool
	Ack    AckMode
	// Payload is the base64 text of one record.
	Payload []byte
	// PayloadCount is the number of records: 1 for a single payload. NextPayload walks a list, AppendRecords
	// decodes either.
	PayloadCount int
	// Value is the base64 text of a cache value; ValueNull means that it was there and null.
	Value     []byte
	ValueNull bool
	// TTLMillis is the time to live in milliseconds; without Has(FieldTTLMillis) it was absent or null: no
	// expiry.
	TTLMillis uint64
	// Version is the version of a cache entry.
	Version uint64
	// Condition is the condition of `cache_put_if`.
	Condition Condition
	// Applied says whether a conditional write happened.
	Applied bool
	// Delta is the amount of `counter_add`.
	Delta int64

	// Shard is the shard asked for, 0 when absent.
	Shard ShardID
	// Shards is the width of a stream or cache.
	Shards uint32
	// RoutingJump means jump_hash; otherwise keys are routed by modulo.
	RoutingJump bool
	// Start is where a subscription begins.
	Start StartPosition
	// SubscriptionID is the broker's id of a subscription.
	SubscriptionID SubscriptionID
	// QueueCapacity is a subscriber queue's bound in batches.
	QueueCapacity uint32
	// StartOffset is the first offset a subscription will deliver, LiveOffset the tail when it was
	// registered.
	StartOffset, LiveOffset Offset
	// Requested and Available are the positions of a cursor error.
	Requested, Available Offset
	// Offset is the offset of a record: of the event, or the first of an acknowledged batch.
	Offset Offset
	// BaseOffset is the offset of an event batch's first record.
	BaseOffset Offset
	// ResumeFrom is the offset from which a moved or lagged subscription goes on.
	ResumeFrom Offset
	// NodeID and Addr name another broker, Generation stamps that answer.
	NodeID, Addr []byte
	Generation   Generation
	// RefusedAt is the number in the reason of `publish_refused`: the sequence expected, or the stream's
	// tail.
	RefusedAt uint64
	// RequestType and Extension say what a broker did not support.
	RequestType, Extension []byte

	// payloads, owners and brokers are how far NextPayload, NextOwner and NextBroker have walked.
	payloads, owners, brokers elements

	// buf is the payload; raw[f] is where in it the value of field f lies, if bit f of seen is set. Bit f of
	// present says that the type has the field and that it is not null.
	buf           []byte
	raw           [fieldCount]token
	seen, present uint64
	// scratch holds texts without their escapes, ports the listener ports; both are kept between messages.
	scratch []byte
	ports   []uint16
}

// maxKeptScratch bounds the scratch space that a Message keeps between messages, in bytes.
const maxKeptScratch = 64 << 10

// seen and present are bit sets over Field.
const _ = uint(64 - fieldCount)

// Has reports whether the message has f and it is not null.
//
//felix:hot
func (m *Message) Has(f Field) bool { return m.present&(1<<f) != 0 }

// reset makes m empty and keeps its memory.
func (m *Message) reset() {
	scratch, ports := m.scratch[:0], m.ports[:0]
	if cap(scratch) > maxKeptScratch {
		scratch = nil
	}
	*m = Message{BadField: fieldCount, scratch: scratch, ports: ports}
}

// AckMode returns the acknowledgement that a JSON publish asks for. Without `ack` a request id asks for one,
// per message or per batch as the type is; "none" asks for none even with an id (wire protocol section 8.3).
func (m *Message) AckMode() AckMode {
	switch {
	case m.HasAck:
		return m.Ack
	case !m.Has(FieldRequestID):
		return AckNone
	case m.Type == MsgPublish:
		return AckPerMessage
	}
	return AckPerBatch
}

// Refusal copies the refusal out of an `error`, `publish_error` or similar. A missing code is CodeUnknown
// with class 0; an unknown code keeps its class and an unknown class is fatal.
func (m *Message) Refusal() Refusal {
	r := Refusal{
		Message:          string(m.Text),
		Reason:           string(m.Reason),
		RetryAfterMillis: m.RetryAfterMillis,
	}
	r.Code, _ = ParseCode(m.CodeName)
	if m.Has(FieldRetryName) {
		r.Class = ParseClass(m.RetryName)
	}
	return r
}

// StartKind says how the start of a subscription is named.
type StartKind uint8

// The start shapes of `subscribe` (wire protocol section 11).
const (
	StartNone     StartKind = iota // not named: the tail
	StartLatest                    // only records published from now on
	StartEarliest                  // the oldest retained record
	StartOffset                    // the record at an offset
)

// StartPosition is where a subscription begins.
type StartPosition struct {
	Kind StartKind
	// Offset is the first record not yet seen; only for StartOffset.
	Offset Offset
}

// Condition guards a conditional put.
type Condition struct {
	// Absent wants the key to have no live entry; otherwise Version is what its entry must have.
	Absent  bool
	Version uint64
}
