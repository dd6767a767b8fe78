package wire

import "math"

// The values below are objects inside a message. Their text has passed the scanner as part of the message, so
// that walking it again cannot fail.

// membersOf walks the object t; false if t is none.
func (m *Message) membersOf(t token) (members, bool) {
	return members{b: m.buf, i: int(t.start) + 1}, t.kind == tokenObject
}

// soleMember returns the one member of an object that stands for a choice with a value, such as {"offset":7}.
func (m *Message) soleMember(t token) (name []byte, val token, err error) {
	it, ok := m.membersOf(t)
	if !ok {
		return nil, token{}, ErrWrongType
	}
	var key, extra, other token
	if !it.next(&key, &val) || it.next(&extra, &other) {
		return nil, token{}, ErrWrongType
	}
	if name, ok = m.text(key); !ok {
		return nil, token{}, ErrMalformedJSON
	}
	return name, val, nil
}

// decodeStart reads "latest", "earliest" or {"offset":u64}.
func (m *Message) decodeStart(t token) error {
	if t.kind == tokenString {
		var name []byte
		if err := m.decodeText(&name, t); err != nil {
			return err
		}
		switch string(name) {
		case "latest":
			m.Start.Kind = StartLatest
		case "earliest":
			m.Start.Kind = StartEarliest
		default:
			return ErrWrongType
		}
		return nil
	}
	name, val, err := m.soleMember(t)
	if err != nil {
		return err
	}
	if string(name) != "offset" {
		return ErrWrongType
	}
	v, err := m.unsigned(val, math.MaxUint64)
	m.Start = StartPosition{Kind: StartOffset, Offset: Offset(v)}
	return err
}

// decodeCondition reads "absent" or {"version":u64}.
func (m *Message) decodeCondition(t token) error {
	if t.kind == tokenString {
		var name []byte
		if err := m.decodeText(&name, t); err != nil {
			return err
		}
		m.Condition.Absent = string(name) == "absent"
		if !m.Condition.Absent {
			return ErrWrongType
		}
		return nil
	}
	name, val, err := m.soleMember(t)
	if err != nil {
		return err
	}
	if string(name) != "version" {
		return ErrWrongType
	}
	m.Condition.Version, err = m.unsigned(val, math.MaxUint64)
	return err
}

// decodeDetail reads the detail of a refusal; both members are optional.
func (m *Message) decodeDetail(t token) error {
	it, ok := m.membersOf(t)
	if !ok {
		return ErrWrongType
	}
	var key, val token
	for it.next(&key, &val) {
		name, ok := m.text(key)
		if !ok {
			return ErrMalformedJSON
		}
		if val.kind == tokenNull {
			continue
		}
		var err error
		switch string(name) {
		case "reason":
			err = m.decodeText(&m.Reason, val)
		case "retry_after_ms":
			m.RetryAfterMillis, err = m.unsigned(val, math.MaxUint64)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// decodeRefused reads the reason of `publish_refused`: a name, or an object whose one member is the name and
// holds what belongs to it (wire protocol section 8.3).
func (m *Message) decodeRefused(t token) error {
	if t.kind == tokenString {
		if err := m.decodeText(&m.Reason, t); err != nil {
			return err
		}
		switch string(m.Reason) {
		case refusedUnknownProducer, refusedSequenceExpired, refusedSequenceReused:
			return nil
		}
		return ErrWrongType
	}
	name, val, err := m.soleMember(t)
	if err != nil {
		return err
	}
	m.Reason = name
	switch string(name) {
	case refusedSequenceGap:
		return m.decodeRefusedAt(val, "expected")
	case refusedOffsetMismatch:
		return m.decodeRefusedAt(val, "tail")
	case refusedNotLeader:
		return m.decodeBroker(val, &m.NodeID, &m.Addr, false)
	}
	return ErrWrongType
}

// decodeRefusedAt reads an object with one required number.
func (m *Message) decodeRefusedAt(t token, field string) error {
	it, ok := m.membersOf(t)
	if !ok {
		return ErrWrongType
	}
	found := false
	var key, val token
	for it.next(&key, &val) {
		name, ok := m.text(key)
		if !ok {
			return ErrMalformedJSON
		}
		if string(name) != field {
			continue
		}
		var err error
		if m.RefusedAt, err = m.unsigned(val, math.MaxUint64); err != nil {
			return err
		}
		found = true
	}
	if !found {
		return ErrMissingField
	}
	return nil
}

// decodeBroker reads an object with a node id and an address, which is optional unless addrRequired.
func (m *Message) decodeBroker(t token, nodeID, addr *[]byte, addrRequired bool) error {
	it, ok := m.membersOf(t)
	if !ok {
		return ErrWrongType
	}
	var hasNode, hasAddr bool
	var key, val token
	for it.next(&key, &val) {
		name, ok := m.text(key)
		if !ok {
			return ErrMalformedJSON
		}
		var err error
		switch string(name) {
		case "node_id":
			hasNode, err = true, m.decodeText(nodeID, val)
		case "addr":
			if val.kind == tokenNull && !addrRequired {
				*addr = nil
				continue
			}
			hasAddr, err = true, m.decodeText(addr, val)
		}
		if err != nil {
			return err
		}
	}
	if !hasNode || (addrRequired && !hasAddr) {
		return ErrMissingField
	}
	return nil
}
