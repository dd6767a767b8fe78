package client

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/felix-go/felix/controlplane/api"
)

var (
	// ErrConfig is returned by New for a configuration that cannot work.
	ErrConfig = errors.New("client: bad configuration")

	// ErrAnswerTooLarge is returned when an answer is longer than its endpoint may send.
	ErrAnswerTooLarge = errors.New("client: answer too large")

	// ErrBadAnswer is returned when a successful answer is not what the endpoint promises.
	ErrBadAnswer = errors.New("client: malformed answer")
)

// Error is a refusal: the server answered and said no.
type Error struct {
	Status  int    // HTTP status
	Code    string // api.Code..., or empty when the answer carried no error body
	Message string
}

// Error implements error.
func (e *Error) Error() string {
	if e.Code == "" {
		return fmt.Sprintf("control plane answered %d: %s", e.Status, e.Message)
	}
	return fmt.Sprintf("control plane answered %d %s: %s", e.Status, e.Code, e.Message)
}

// IsNotFound reports whether err is a refusal because the object does not exist.
func IsNotFound(err error) bool { return hasStatus(err, http.StatusNotFound) }

// IsConflict reports whether err is a refusal by state, such as a name already taken.
func IsConflict(err error) bool { return hasStatus(err, http.StatusConflict) }

// IsUnauthorized reports whether err is a refusal of the credential.
func IsUnauthorized(err error) bool { return hasStatus(err, http.StatusUnauthorized) }

// IsInvalid reports whether err is a refusal of the request's grammar or payload.
func IsInvalid(err error) bool { return hasStatus(err, http.StatusBadRequest) }

// IsUnavailable reports whether the control plane could not answer for want of its store. A write that
// fails so may have been applied.
func IsUnavailable(err error) bool {
	var e *Error
	return errors.As(err, &e) && (e.Status == http.StatusServiceUnavailable || e.Code == api.CodeUnavailable)
}

func hasStatus(err error, status int) bool {
	var e *Error
	return errors.As(err, &e) && e.Status == status
}
