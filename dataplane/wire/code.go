package wire

import "strconv"

// Code says why a request was refused (wire protocol section 16). Clients act on the Class, not on the Code.
type Code uint16

// The error codes. CodeUnknown is never sent; parsers use it for names they do not know.
const (
	CodeUnknown          Code = iota
	CodeUnauthenticated       // no auth yet, or a refused token
	CodeForbidden             // missing permission, or another tenant
	CodeNotFound              // unknown tenant, namespace, stream or cache on this broker
	CodeInvalidRequest        // malformed, unknown flags, missing request id, second auth
	CodeShardUnavailable      // nobody can serve the shard now
	CodeNotLeader             // another broker owns the shard
	CodeQuorumTimeout         // a majority did not confirm in time
	CodeLeadershipLost        // leadership moved after the write
	CodeUnacknowledged        // the broker stopped waiting
	CodeOverloaded            // queues, acknowledgement path or disk full
	CodeLimitExceeded         // a configured limit
	CodeDraining              // the broker is shutting down
	CodeInternal              // internal failure
	CodeStorage               // storage failure
	CodeStaleClaim            // unknown claim of a group
	CodeRevoked               // credential revoked
	CodeStaleWidth            // routed by a width the stream no longer has
)

// codeInfo holds the wire name and the default class of every code, by number.
var codeInfo = [...]struct {
	name  string
	class Class
}{
	CodeUnknown:          {"unknown", ClassFatal},
	CodeUnauthenticated:  {"unauthenticated", ClassFatal},
	CodeForbidden:        {"forbidden", ClassFatal},
	CodeNotFound:         {"not_found", ClassRetryAfter},
	CodeInvalidRequest:   {"invalid_request", ClassFatal},
	CodeShardUnavailable: {"shard_unavailable", ClassRetry},
	CodeNotLeader:        {"not_leader", ClassRedirect},
	CodeQuorumTimeout:    {"quorum_timeout", ClassOutcomeUnknown},
	CodeLeadershipLost:   {"leadership_lost", ClassOutcomeUnknown},
	CodeUnacknowledged:   {"unacknowledged", ClassOutcomeUnknown},
	CodeOverloaded:       {"overloaded", ClassRetryAfter},
	CodeLimitExceeded:    {"limit_exceeded", ClassFatal},
	CodeDraining:         {"draining", ClassRetry},
	CodeInternal:         {"internal", ClassOutcomeUnknown},
	CodeStorage:          {"storage", ClassOutcomeUnknown},
	CodeStaleClaim:       {"stale_claim", ClassRetry},
	CodeRevoked:          {"revoked", ClassFatal},
	CodeStaleWidth:       {"stale_width", ClassRetry},
}

// String returns the snake_case wire name, or code_<n> for a number this release does not know.
func (c Code) String() string {
	if int(c) < len(codeInfo) {
		return codeInfo[c].name
	}
	return "code_" + strconv.Itoa(int(c))
}

// DefaultClass returns the class a code has unless the refusal says otherwise; ClassFatal for unknown codes.
func (c Code) DefaultClass() Class {
	if int(c) < len(codeInfo) {
		return codeInfo[c].class
	}
	return ClassFatal
}

// ParseCode maps a wire name to its code; false for a name this release does not know.
func ParseCode(name []byte) (Code, bool) {
	for c := CodeUnauthenticated; int(c) < len(codeInfo); c++ {
		if string(name) == codeInfo[c].name {
			return c, true
		}
	}
	return CodeUnknown, false
}

// Class says what a client may do after a refusal (wire protocol section 16).
type Class uint8

// The retry classes. The zero Class means "the default of the code" inside a Refusal and is never sent.
const (
	ClassRetry          Class = 1 // not applied, send again
	ClassRetryAfter     Class = 2 // not applied, wait first
	ClassRedirect       Class = 3 // not applied, go to the owner
	ClassOutcomeUnknown Class = 4 // may have been applied
	ClassFatal          Class = 5 // will fail again
)

var classNames = [...]string{
	0: "default", ClassRetry: "retry", ClassRetryAfter: "retry_after", ClassRedirect: "redirect",
	ClassOutcomeUnknown: "outcome_unknown", ClassFatal: "fatal",
}

// String returns the snake_case wire name.
func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return classNames[ClassFatal]
}

// ParseClass maps a wire name to its class. An unknown class is fatal.
func ParseClass(name []byte) Class {
	for c := ClassRetry; c <= ClassFatal; c++ {
		if string(name) == classNames[c] {
			return c
		}
	}
	return ClassFatal
}

// classOfByte maps the class byte of a binary answer; an unknown one is fatal.
func classOfByte(b byte) Class {
	if c := Class(b); c >= ClassRetry && c <= ClassFatal {
		return c
	}
	return ClassFatal
}
