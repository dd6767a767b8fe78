package udp

import (
	"fmt"
	"net"
	"os"
)

// The errors of ReadBatch wrap those of the net package but are no net.Error: the QUIC library goes on after
// an error that calls itself temporary and would then parse message slots of an earlier batch again.
var (
	// ErrClosed is returned by ReadBatch after Close. It wraps net.ErrClosed.
	ErrClosed = fmt.Errorf("udp: socket closed: %w", net.ErrClosed)
	// ErrDeadline is returned by ReadBatch once the read deadline has passed. It wraps
	// os.ErrDeadlineExceeded.
	ErrDeadline = fmt.Errorf("udp: read deadline passed: %w", os.ErrDeadlineExceeded)
)
