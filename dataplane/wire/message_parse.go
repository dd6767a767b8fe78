package wire

import "unicode/utf8"

// ParseMessage reads a JSON message into m, replacing everything m held. The payload must be exactly one
// object, with nothing but white space around it.
//
// Errors are ErrMalformedJSON, ErrMissingField, ErrWrongType and ErrBadBase64; m.BadField names the field for
// the last three. A type that is not in section 8 is no error: m.Type is MsgUnknown, m.RawType its name, and
// the request id is set when it is an unsigned integer. After an error only m.Type, m.RawType and m.BadField
// may be looked at.
//
//felix:hot
func ParseMessage(payload []byte, m *Message) error {
	m.reset()
	if !utf8.Valid(payload) {
		return ErrMalformedJSON
	}
	m.buf = payload
	if !m.scan() {
		return ErrMalformedJSON
	}
	if err := m.readType(); err != nil {
		return err
	}
	if m.Type == MsgUnknown {
		if t, ok := m.value(FieldRequestID); ok && t.kind == tokenInteger {
			if v, ok := parseUint(t.of(payload), 1<<64-1); ok {
				m.RequestID = v
				m.present |= 1 << FieldRequestID
			}
		}
		return nil
	}
	if m.Type == MsgAuth {
		m.ClientFlags = BaselineFlags
	}
	rules := schemas[m.Type]
	for i := range rules {
		if err := m.read(&rules[i]); err != nil {
			m.BadField = rules[i].field
			return err
		}
	}
	m.ClientFeatures = FeaturesFromWords(uint32(m.ClientFeatures), uint32(m.ClientFeatures>>32))
	m.ServerFeatures = FeaturesFromWords(uint32(m.ServerFeatures), uint32(m.ServerFeatures>>32))
	return nil
}

// scan checks the whole text and notes where the members lie that a schema may read.
func (m *Message) scan() bool {
	i := skipSpace(m.buf, 0)
	if i >= len(m.buf) || m.buf[i] != '{' {
		return false
	}
	it := members{b: m.buf, i: i + 1}
	var key, val token
	for it.next(&key, &val) {
		kept := len(m.scratch)
		name, ok := m.text(key)
		if !ok {
			return false
		}
		if f := fieldOf(name); f < fieldCount {
			m.raw[f] = val
			m.seen |= 1 << f
		}
		m.scratch = m.scratch[:kept] // Names are only looked up.
	}
	return !it.failed && skipSpace(m.buf, it.i) == len(m.buf)
}

// value returns the value of f if the message had such a member.
func (m *Message) value(f Field) (token, bool) {
	if m.seen&(1<<f) == 0 {
		return token{}, false
	}
	return m.raw[f], true
}

// text returns the characters of a string token; false for a string that names no text.
func (m *Message) text(t token) ([]byte, bool) {
	if !t.escaped {
		return t.of(m.buf), true
	}
	// Views handed out earlier stay right when the scratch grows: they keep the array they point into.
	n := len(m.scratch)
	var ok bool
	m.scratch, ok = appendUnescaped(m.scratch, t.of(m.buf))
	return m.scratch[n:len(m.scratch):len(m.scratch)], ok
}

// readType finds the message's type.
func (m *Message) readType() error {
	t, ok := m.value(FieldType)
	if !ok {
		m.BadField = FieldType
		return ErrMissingField
	}
	if t.kind != tokenString {
		m.BadField = FieldType
		return ErrWrongType
	}
	if m.RawType, ok = m.text(t); !ok {
		return ErrMalformedJSON
	}
	m.Type = messageTypeOf(m.RawType)
	return nil
}

// read decodes one field by its rule.
func (m *Message) read(r *rule) error {
	t, ok := m.value(r.field)
	switch {
	case !ok && r.need == optional:
		return nil
	case !ok:
		return ErrMissingField
	case t.kind == tokenNull && r.need == required:
		return ErrWrongType
	case t.kind == tokenNull:
		m.ValueNull = m.ValueNull || r.field == FieldValue
		return nil
	}
	if err := m.decode(r.field, r.shape, t); err != nil {
		return err
	}
	m.present |= 1 << r.field
	return nil
}

// decode stores a value that is there and not null.
func (m *Message) decode(f Field, s shape, t token) error {
	switch s {
	case shapeText, shapeBase64:
		return m.decodeText(m.textField(f), t)
	case shapeKey:
		return m.decodeKey(t)
	case shapeU16, shapeU32, shapeU64:
		return m.decodeUint(f, s, t)
	case shapeI64:
		return m.decodeDelta(t)
	case shapeBool:
		return m.decodeApplied(t)
	case shapeAck:
		return m.decodeAck(t)
	case shapeRouting:
		return m.decodeRouting(t)
	case shapeKind:
		return m.decodeOneOf(&m.Kind, t, "stream", "cache")
	case shapeCursorReason:
		return m.decodeOneOf(&m.Reason, t, "too_old", "in_future")
	case shapePayloads:
		return m.decodePayloads(t)
	case shapePorts:
		return m.decodePorts(t)
	case shapeStart:
		return m.decodeStart(t)
	case shapeCondition:
		return m.decodeCondition(t)
	case shapeDetail:
		return m.decodeDetail(t)
	case shapeRefused:
		return m.decodeRefused(t)
	case shapeOwners:
		return m.decodeOwners(t)
	default: // shapeBrokers
		return m.decodeBrokers(t)
	}
}
