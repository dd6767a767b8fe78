package felix

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/felix-go/felix/dataplane/transport"
	"github.com/felix-go/felix/dataplane/wire"
)

// Class says what a caller may do after an error. It comes from the broker, not from a text.
type Class uint8

// The classes (wire protocol section 16).
const (
	ClassRetry          = Class(wire.ClassRetry)          // not applied: send again
	ClassRetryAfter     = Class(wire.ClassRetryAfter)     // not applied: wait, then send again
	ClassRedirect       = Class(wire.ClassRedirect)       // not applied: another broker owns it
	ClassOutcomeUnknown = Class(wire.ClassOutcomeUnknown) // may have been applied
	ClassFatal          = Class(wire.ClassFatal)          // will fail again
)

// String returns the wire name of the class.
func (c Class) String() string { return wire.Class(c).String() }

// Error is a refusal by the broker or the loss of the connection during a call.
type Error struct {
	// Op is what was attempted, such as "publish".
	Op string
	// Code is the broker's code, such as "not_found"; empty when the broker said nothing: the connection was lost.
	Code string
	// Class says what the caller may do.
	Class Class
	// Message is for people.
	Message string
	// Reason refines Code for programs, such as "publish_queue_full".
	Reason string
	// RetryAfter is the wait the broker suggests; 0 when it says nothing.
	RetryAfter time.Duration

	cause error
}

// Error implements error.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("felix: " + e.Op + ": " + e.Message)
	if e.Code != "" {
		b.WriteString(" (" + e.Code)
		if e.Reason != "" {
			b.WriteString(", " + e.Reason)
		}
		b.WriteString(")")
	}
	return b.String()
}

// Unwrap returns the transport's error, if that is what happened.
func (e *Error) Unwrap() error { return e.cause }

// Is makes the sentinels match by code.
func (e *Error) Is(target error) bool {
	s, ok := target.(sentinel)
	return ok && s.code != "" && e.Code == s.code
}

// sentinel is an error that stands for a code.
type sentinel struct{ code, text string }

func (s sentinel) Error() string { return "felix: " + s.text }

// Errors to compare with errors.Is. The first group stands for codes of the broker.
var (
	// ErrNotFound: no such stream or cache, or a cache key without a value.
	ErrNotFound error = sentinel{"not_found", "not found"}
	// ErrUnauthenticated: the token was refused.
	ErrUnauthenticated error = sentinel{"unauthenticated", "unauthenticated"}
	// ErrForbidden: the token does not allow this.
	ErrForbidden error = sentinel{"forbidden", "forbidden"}
	// ErrInvalidRequest: the request itself is wrong.
	ErrInvalidRequest error = sentinel{"invalid_request", "invalid request"}
	// ErrOverloaded: the broker or the tenant is at a limit; try again later.
	ErrOverloaded error = sentinel{"overloaded", "overloaded"}
	// ErrLimitExceeded: beyond a configured limit.
	ErrLimitExceeded error = sentinel{"limit_exceeded", "limit exceeded"}
	// ErrUnavailable: nobody serves the shard now.
	ErrUnavailable error = sentinel{"shard_unavailable", "shard unavailable"}
	// ErrDraining: the broker is shutting down.
	ErrDraining error = sentinel{"draining", "broker shutting down"}

	// ErrClosed: the client or the handle was closed by its user.
	ErrClosed = errors.New("felix: closed")
	// ErrConnection: no broker could be reached, or the connection was lost. See also IsOutcomeUnknown.
	ErrConnection = errors.New("felix: connection lost")
	// ErrSubscriptionEnded: the broker ended the subscription after its last event.
	ErrSubscriptionEnded = errors.New("felix: subscription ended by the broker")
	// ErrStreamDeleted: the stream was deleted; the subscription is over.
	ErrStreamDeleted = errors.New("felix: stream deleted")
	// ErrConfig: an option or the address cannot work; the text names it.
	ErrConfig = errors.New("felix: invalid configuration")
)

// IsRetryable reports whether the same call may succeed later and was certainly not applied before: classes retry and
// retry_after, and a connection that could not be made.
func IsRetryable(err error) bool {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Class == ClassRetry || e.Class == ClassRetryAfter
	}
	return false
}

// IsOutcomeUnknown reports whether the call may have been applied although it failed: the connection was lost, the context
// ended, or the broker says so. Sending it again may apply it twice.
func IsOutcomeUnknown(err error) bool {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Class == ClassOutcomeUnknown
	}
	return false
}

// refused turns the broker's refusal into an Error.
func refused(op string, r wire.Refusal) *Error {
	class := r.Class
	if class == 0 {
		if class = r.Code.DefaultClass(); r.Code == wire.CodeUnknown {
			class = wire.ClassFatal
		}
	}
	e := &Error{Op: op, Class: Class(class), Message: r.Message, Reason: r.Reason,
		RetryAfter: time.Duration(r.RetryAfterMillis) * time.Millisecond}
	if r.Code != wire.CodeUnknown {
		e.Code = r.Code.String()
	}
	return e
}

// lost is an Error about a connection or stream that ended under a call. sent says whether the request may have reached the
// broker.
func lost(op string, cause error, sent bool) *Error {
	e := &Error{Op: op, Class: ClassRetry, Message: "connection lost", cause: errors.Join(ErrConnection, cause)}
	if sent {
		e.Class, e.Message = ClassOutcomeUnknown, "connection lost; the request may have been applied"
	}
	if info, ok := transport.Closed(cause); ok {
		e.Message += fmt.Sprintf(": %s", info.Kind)
		if info.Reason != "" {
			e.Message += ": " + info.Reason
		}
	}
	return e
}

// abandoned is the error of a call whose context ended while it waited for the answer.
func abandoned(op string, ctx context.Context, sent bool) error {
	if !sent {
		return fmt.Errorf("felix: %s: %w", op, context.Cause(ctx))
	}
	return &Error{Op: op, Class: ClassOutcomeUnknown, Message: "gave up waiting for the answer", cause: context.Cause(ctx)}
}
