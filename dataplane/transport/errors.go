package transport

import (
	"errors"

	"github.com/quic-go/quic-go"
)

var (
	// ErrListenerClosed is returned by Accept once the listener is closed.
	ErrListenerClosed = errors.New("transport: listener closed")
	// ErrDialerClosed is returned by Dial once the dialer is closed.
	ErrDialerClosed = errors.New("transport: dialer closed")
	// ErrStreamLimit is returned by OpenUniStream while the peer allows no further stream.
	ErrStreamLimit = errors.New("transport: the peer's limit of streams is reached")

	errDraining       = errors.New("transport: refused: draining")
	errMaxConnections = errors.New("transport: refused: connection limit reached")
	errMaxPerIP       = errors.New("transport: refused: connection limit of this address reached")
)

// CloseKind says what ended a connection.
type CloseKind uint8

const (
	// CloseApplication is a close with a code and a reason by one of the two applications.
	CloseApplication CloseKind = iota
	// CloseIdle means that nothing arrived for the idle timeout: the peer or the path is gone.
	CloseIdle
	// CloseReset is a stateless reset: the peer's host is there but its process was restarted.
	CloseReset
	// CloseHandshake is a handshake that did not complete: in time, or because TLS failed.
	CloseHandshake
	// CloseRefused means that the listener refused the connection: it drains or is full.
	CloseRefused
	// CloseTransport is every other error of the transport itself.
	CloseTransport
)

// String returns the kind as it appears in logs and metrics.
func (k CloseKind) String() string {
	switch k {
	case CloseApplication:
		return "application"
	case CloseIdle:
		return "idle"
	case CloseReset:
		return "reset"
	case CloseHandshake:
		return "handshake"
	case CloseRefused:
		return "refused"
	default:
		return "transport"
	}
}

// CloseInfo describes the end of a connection.
type CloseInfo struct {
	Kind   CloseKind
	Code   CloseCode // of CloseApplication only
	Reason string    // text of whoever closed, may be empty
	Remote bool      // the peer closed it
}

// Closed reports whether err, returned by any method of a connection or of its streams or by Dial, means that
// the connection is over, and how it ended. A stream that ended alone is no such error, see StreamReset.
func Closed(err error) (info CloseInfo, ok bool) {
	if app, ok := errors.AsType[*quic.ApplicationError](err); ok {
		return CloseInfo{
			Kind:   CloseApplication,
			Code:   CloseCode(app.ErrorCode),
			Reason: app.ErrorMessage,
			Remote: app.Remote,
		}, true
	}
	if failed, ok := errors.AsType[*quic.TransportError](err); ok {
		return closedByTransport(failed), true
	}
	if _, ok := errors.AsType[*quic.IdleTimeoutError](err); ok {
		return CloseInfo{Kind: CloseIdle, Reason: err.Error()}, true
	}
	if _, ok := errors.AsType[*quic.StatelessResetError](err); ok {
		return CloseInfo{Kind: CloseReset, Reason: err.Error(), Remote: true}, true
	}
	if _, ok := errors.AsType[*quic.HandshakeTimeoutError](err); ok {
		return CloseInfo{Kind: CloseHandshake, Reason: err.Error()}, true
	}
	if _, ok := errors.AsType[*quic.VersionNegotiationError](err); ok {
		return CloseInfo{Kind: CloseHandshake, Reason: err.Error()}, true
	}
	for _, gone := range []error{quic.ErrTransportClosed, ErrDialerClosed, ErrListenerClosed} {
		if errors.Is(err, gone) {
			return CloseInfo{Kind: CloseTransport, Reason: err.Error()}, true
		}
	}
	return CloseInfo{}, false
}

func closedByTransport(failed *quic.TransportError) CloseInfo {
	info := CloseInfo{Kind: CloseTransport, Reason: failed.Error(), Remote: failed.Remote}
	switch {
	case failed.ErrorCode == quic.ConnectionRefused:
		info.Kind = CloseRefused
	case failed.ErrorCode.IsCryptoError():
		info.Kind = CloseHandshake
	}
	return info
}

// StreamReset reports whether err means that a stream was reset, or that its reader asked to stop, by either
// side, and the code that came with it. The connection lives on.
func StreamReset(err error) (StreamCode, bool) {
	reset, ok := errors.AsType[*quic.StreamError](err)
	if !ok {
		return 0, false
	}
	return StreamCode(reset.ErrorCode), true
}

// streamError translates the error of an accept or open call of the QUIC library.
func streamError(err error) error {
	if _, ok := errors.AsType[*quic.StreamLimitReachedError](err); ok {
		return ErrStreamLimit
	}
	return err
}
