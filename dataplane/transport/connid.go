package transport

import (
	"bytes"
	"crypto/rand"

	"github.com/quic-go/quic-go"
)

// connIDs makes the connection ids of a listener so that it can tell its own from those of an earlier process on the same
// address.
//
// Why: a client whose broker was killed and came back learns of it by a stateless reset. The QUIC library answers only packets
// above 42 bytes with one, so that two endpoints cannot answer each other's resets for ever. But a client that waits for an
// answer, or is idle, sends nothing but PINGs of 34 bytes: it would wait for its idle timeout, 6 s. RFC 9000 section 10.3.3
// allows an answer to a smaller packet where looping is prevented otherwise, and here it is: packets that are as long as a reset
// are never padded, so a reset is never answered.
//
//	short-header packet of 21 to 40 bytes, id not of this process
//	    -> padded with zeros to 43 bytes -> the library does not know the id and answers with a reset of 42
//
// A packet of a connection that lives is never touched: its id carries the epoch. All ids of a process share the epoch, which
// tells an observer no more than the address they are sent to.
type connIDs struct{ epoch [4]byte }

const (
	connIDLen     = 8
	longHeaderBit = 0x80

	smallestPadded = 21 // no valid packet is shorter
	largestPadded  = 40 // below a reset's 42
	paddedTo       = 43 // the least that the library answers
)

func newConnIDs() (*connIDs, error) {
	c := &connIDs{}
	_, err := rand.Read(c.epoch[:])
	return c, err
}

// GenerateConnectionID implements the library's generator: the epoch, then four random bytes.
func (c *connIDs) GenerateConnectionID() (quic.ConnectionID, error) {
	var id [connIDLen]byte
	copy(id[:], c.epoch[:])
	if _, err := rand.Read(id[len(c.epoch):]); err != nil {
		return quic.ConnectionID{}, err
	}
	return quic.ConnectionIDFromBytes(id[:]), nil
}

// ConnectionIDLen implements the library's generator.
func (c *connIDs) ConnectionIDLen() int { return connIDLen }

// pad returns the length to which a received datagram is padded; its own for nearly all of them.
//
//felix:hot
func (c *connIDs) pad(datagram []byte) int {
	n := len(datagram)
	if n > largestPadded || n < smallestPadded || datagram[0]&longHeaderBit != 0 ||
		bytes.Equal(datagram[1:1+len(c.epoch)], c.epoch[:]) {
		return n
	}
	return paddedTo
}
