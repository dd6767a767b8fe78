package wire

import (
	"encoding/binary"
	"math"
)

// elementsOf walks the array t; false if t is none.
func (m *Message) elementsOf(t token) (elements, bool) {
	return elements{b: m.buf, i: int(t.start) + 1}, t.kind == tokenArray
}

// decodePayloads checks that every element is a string, so that NextPayload cannot fail.
func (m *Message) decodePayloads(t token) error {
	it, ok := m.elementsOf(t)
	if !ok {
		return ErrWrongType
	}
	m.payloads = it
	var val token
	for it.next(&val) {
		if val.kind != tokenString {
			return ErrWrongType
		}
		m.PayloadCount++
	}
	return nil
}

// NextPayload returns the base64 text of the next record of a `payloads` list; false at its end. A record
// that is spelled with escapes is unescaped into the message's scratch space; one that names no text is
// returned empty with its base64 unreadable, so that decoding refuses it.
//
//felix:hot
func (m *Message) NextPayload() ([]byte, bool) {
	var val token
	if !m.Has(FieldPayloads) || !m.payloads.next(&val) {
		return nil, false
	}
	text, ok := m.text(val)
	if !ok {
		return badBase64Text, true
	}
	return text, true
}

// badBase64Text stands for a string that has no text; no decoder accepts it.
var badBase64Text = []byte("=")

// RecordsBound returns the most bytes that AppendRecords appends.
func (m *Message) RecordsBound() int {
	if m.Has(FieldPayload) {
		return 4 + 4 + len(m.Payload)/4*3
	}
	return 4 + 4*m.PayloadCount + len(m.buf)/4*3
}

// AppendRecords decodes the payloads of `publish` or `publish_batch` (and of `event` and `event_batch`) and
// appends them as u32 count and records: the layout of Publish.Body, so that JSON and binary publishes are
// one from here on. It returns the sum of the record lengths. ErrBadBase64 leaves dst as it was. Call it once
// per message: it uses up the list that NextPayload walks.
func (m *Message) AppendRecords(dst []byte) (out []byte, payloadBytes int, err error) {
	out = binary.BigEndian.AppendUint32(dst, uint32(m.PayloadCount))
	if m.Has(FieldPayload) {
		out, payloadBytes, err = appendBase64Record(out, m.Payload)
	}
	for err == nil {
		text, ok := m.NextPayload()
		if !ok {
			break
		}
		var n int
		out, n, err = appendBase64Record(out, text)
		payloadBytes += n
	}
	if err != nil {
		return dst, 0, err
	}
	return out, payloadBytes, nil
}

// appendBase64Record appends one record and returns its length.
func appendBase64Record(dst, text []byte) ([]byte, int, error) {
	at := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	dst, err := DecodeBase64(dst, text)
	if err != nil {
		return dst, 0, err
	}
	n := len(dst) - at - 4
	binary.BigEndian.PutUint32(dst[at:], uint32(n))
	return dst, n, nil
}

// decodePorts reads the ports into memory that m keeps.
func (m *Message) decodePorts(t token) error {
	it, ok := m.elementsOf(t)
	if !ok {
		return ErrWrongType
	}
	var val token
	for it.next(&val) {
		port, err := m.unsigned(val, math.MaxUint16)
		if err != nil {
			return err
		}
		m.ports = append(m.ports, uint16(port))
	}
	m.ListenerPorts = m.ports
	return nil
}

// OwnerView is one shard of a `shard_owners_view` (wire protocol section 8.8); its texts borrow the message.
type OwnerView struct {
	// Shard is the shard's number.
	Shard ShardID
	// NodeID and Addr name its owner; either may be empty for unknown.
	NodeID, Addr []byte
	// Generation stamps the answer.
	Generation Generation
	// Unavailable says why nobody serves the shard; empty if somebody does.
	Unavailable []byte
}

// BrokerView is one broker of a `topology_view`; its texts borrow the message.
type BrokerView struct {
	// NodeID is the broker's id, Addr its client-facing host:port.
	NodeID, Addr []byte
}

// decodeOwners checks every element, so that NextOwner cannot fail.
func (m *Message) decodeOwners(t token) error {
	it, ok := m.elementsOf(t)
	if !ok {
		return ErrWrongType
	}
	m.owners = it
	var val token
	var o OwnerView
	for it.next(&val) {
		if err := m.decodeOwner(val, &o); err != nil {
			return err
		}
	}
	return nil
}

// NextOwner reads the next shard of a `shard_owners_view` into o; false at the end of the list.
func (m *Message) NextOwner(o *OwnerView) bool {
	var val token
	return m.Has(FieldOwners) && m.owners.next(&val) && m.decodeOwner(val, o) == nil
}

func (m *Message) decodeOwner(t token, o *OwnerView) error {
	*o = OwnerView{}
	it, ok := m.membersOf(t)
	if !ok {
		return ErrWrongType
	}
	var hasShard, hasGeneration bool
	var key, val token
	for it.next(&key, &val) {
		name, ok := m.text(key)
		if !ok {
			return ErrMalformedJSON
		}
		var v uint64
		var err error
		switch string(name) {
		case "shard":
			v, err = m.unsigned(val, math.MaxUint32)
			o.Shard, hasShard = ShardID(v), true
		case "generation":
			v, err = m.unsigned(val, math.MaxUint64)
			o.Generation, hasGeneration = Generation(v), true
		case "node_id":
			err = m.decodeMayText(&o.NodeID, val)
		case "addr":
			err = m.decodeMayText(&o.Addr, val)
		case "unavailable":
			err = m.decodeMayText(&o.Unavailable, val)
		}
		if err != nil {
			return err
		}
	}
	if !hasShard || !hasGeneration {
		return ErrMissingField
	}
	return nil
}

// decodeMayText reads a text that may be null.
func (m *Message) decodeMayText(dst *[]byte, t token) error {
	if t.kind == tokenNull {
		*dst = nil
		return nil
	}
	return m.decodeText(dst, t)
}

// decodeBrokers checks every element, so that NextBroker cannot fail.
func (m *Message) decodeBrokers(t token) error {
	it, ok := m.elementsOf(t)
	if !ok {
		return ErrWrongType
	}
	m.brokers = it
	var val token
	var b BrokerView
	for it.next(&val) {
		if err := m.decodeBroker(val, &b.NodeID, &b.Addr, true); err != nil {
			return err
		}
	}
	return nil
}

// NextBroker reads the next broker of a `topology_view` into b; false at the end of the list.
func (m *Message) NextBroker(b *BrokerView) bool {
	var val token
	*b = BrokerView{}
	return m.Has(FieldBrokers) && m.brokers.next(&val) && m.decodeBroker(val, &b.NodeID, &b.Addr, true) == nil
}
