package wire

import (
	"math"
	"unicode/utf8"
)

// textField returns where the text of f goes.
func (m *Message) textField(f Field) *[]byte {
	switch f {
	case FieldTenant:
		return &m.Tenant
	case FieldNamespace:
		return &m.Namespace
	case FieldStream:
		return &m.Stream
	case FieldCache:
		return &m.Cache
	case FieldName:
		return &m.Name
	case FieldKey:
		return &m.Key
	case FieldGroup:
		return &m.Group
	case FieldToken:
		return &m.Token
	case FieldText:
		return &m.Text
	case FieldCodeName:
		return &m.CodeName
	case FieldRetryName:
		return &m.RetryName
	case FieldPayload:
		m.PayloadCount = 1
		return &m.Payload
	case FieldValue:
		return &m.Value
	case FieldNodeID:
		return &m.NodeID
	case FieldAddr:
		return &m.Addr
	case FieldRequestType:
		return &m.RequestType
	default: // FieldExtension
		return &m.Extension
	}
}

func (m *Message) decodeText(dst *[]byte, t token) error {
	if t.kind != tokenString {
		return ErrWrongType
	}
	var ok bool
	if *dst, ok = m.text(t); !ok {
		return ErrMalformedJSON
	}
	return nil
}

// decodeKey decodes a routing key: base64 of UTF-8, which a binary publish carries as it is.
func (m *Message) decodeKey(t token) error {
	var text []byte
	if err := m.decodeText(&text, t); err != nil {
		return err
	}
	n := len(m.scratch)
	var err error
	if m.scratch, err = DecodeBase64(m.scratch, text); err != nil {
		return err
	}
	m.Key = m.scratch[n:len(m.scratch):len(m.scratch)]
	if !utf8.Valid(m.Key) || len(m.Key) > MaxNameBytes {
		return ErrWrongType
	}
	return nil
}

// unsigned reads an integer token of at most limit.
func (m *Message) unsigned(t token, limit uint64) (uint64, error) {
	if t.kind != tokenInteger {
		return 0, ErrWrongType
	}
	v, ok := parseUint(t.of(m.buf), limit)
	if !ok {
		return 0, ErrWrongType
	}
	return v, nil
}

// decodeUint reads an unsigned field of the width that s says.
func (m *Message) decodeUint(f Field, s shape, t token) error {
	limit := uint64(math.MaxUint64)
	switch s {
	case shapeU16:
		limit = math.MaxUint16
	case shapeU32:
		limit = math.MaxUint32
	}
	v, err := m.unsigned(t, limit)
	if err != nil {
		return err
	}
	m.setUint(f, v)
	return nil
}

// setUint stores an unsigned field; v fits, its width was checked.
func (m *Message) setUint(f Field, v uint64) {
	switch f {
	case FieldRequestID:
		m.RequestID = v
	case FieldClientFlags:
		m.ClientFlags = Flags(v)
	case FieldClientFeatures:
		m.ClientFeatures |= Features(v)
	case FieldClientFeaturesHi:
		m.ClientFeatures |= Features(v) << 32
	case FieldServerFlags:
		m.ServerFlags = Flags(v)
	case FieldServerFeatures:
		m.ServerFeatures |= Features(v)
	case FieldServerFeaturesHi:
		m.ServerFeatures |= Features(v) << 32
	case FieldPublishWindow:
		m.PublishWindow = uint32(v)
	case FieldTTLMillis:
		m.TTLMillis = v
	case FieldVersion:
		m.Version = v
	case FieldShard:
		m.Shard = ShardID(v)
	case FieldShards:
		m.Shards = uint32(v)
	case FieldSubscriptionID:
		m.SubscriptionID = SubscriptionID(v)
	case FieldQueueCapacity:
		m.QueueCapacity = uint32(v)
	case FieldStartOffset:
		m.StartOffset = Offset(v)
	case FieldLiveOffset:
		m.LiveOffset = Offset(v)
	case FieldRequested:
		m.Requested = Offset(v)
	case FieldAvailable:
		m.Available = Offset(v)
	case FieldOffset:
		m.Offset = Offset(v)
	case FieldBaseOffset:
		m.BaseOffset = Offset(v)
	case FieldResumeFrom:
		m.ResumeFrom = Offset(v)
	default: // FieldGeneration
		m.Generation = Generation(v)
	}
}

func (m *Message) decodeDelta(t token) error {
	if t.kind != tokenInteger {
		return ErrWrongType
	}
	var ok bool
	if m.Delta, ok = parseInt(t.of(m.buf)); !ok {
		return ErrWrongType
	}
	return nil
}

func (m *Message) decodeApplied(t token) error {
	if t.kind != tokenTrue && t.kind != tokenFalse {
		return ErrWrongType
	}
	m.Applied = t.kind == tokenTrue
	return nil
}

func (m *Message) decodeAck(t token) error {
	var name []byte
	if err := m.decodeText(&name, t); err != nil {
		return err
	}
	switch string(name) {
	case "none":
		m.Ack = AckNone
	case "per_message":
		m.Ack = AckPerMessage
	case "per_batch":
		m.Ack = AckPerBatch
	default:
		return ErrWrongType
	}
	m.HasAck = true
	return nil
}

func (m *Message) decodeRouting(t token) error {
	var name []byte
	if err := m.decodeText(&name, t); err != nil {
		return err
	}
	m.RoutingJump = string(name) == routingJump
	if !m.RoutingJump {
		return ErrWrongType
	}
	return nil
}

// decodeOneOf reads a text that must be one of two.
func (m *Message) decodeOneOf(dst *[]byte, t token, a, b string) error {
	if err := m.decodeText(dst, t); err != nil {
		return err
	}
	if string(*dst) != a && string(*dst) != b {
		return ErrWrongType
	}
	return nil
}
