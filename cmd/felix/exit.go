package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/felix-go/felix/controlplane/client"
	felix "github.com/felix-go/felix/sdk"
)

// Exit codes, documented in the help of the root command.
const (
	exitOther       = 1
	exitUsage       = 2
	exitNotFound    = 3
	exitCondition   = 4
	exitNotAllowed  = 5
	exitUnavailable = 6
	exitUnknown     = 7
)

// exitError is an error with its exit code.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// errQuiet ends with an exit code and without a word: everything was said already.
var errQuiet = &exitError{code: exitCondition, err: errors.New("condition not met")}

func usage(format string, args ...any) error {
	return &exitError{code: exitUsage, err: fmt.Errorf(format, args...)}
}

// exitCode classifies an error.
func exitCode(err error) int {
	if err == nil {
		return 0
	}
	if e, ok := errors.AsType[*exitError](err); ok {
		return e.code
	}
	if e, ok := errors.AsType[*client.Error](err); ok {
		switch {
		case e.Status == http.StatusBadRequest:
			return exitUsage
		case e.Status == http.StatusNotFound:
			return exitNotFound
		case e.Status == http.StatusConflict:
			return exitCondition
		case e.Status == http.StatusUnauthorized, e.Status == http.StatusForbidden:
			return exitNotAllowed
		case e.Status >= 500:
			return exitUnavailable
		}
		return exitOther
	}
	switch {
	case errors.Is(err, felix.ErrNotFound):
		return exitNotFound
	case errors.Is(err, felix.ErrForbidden), errors.Is(err, felix.ErrUnauthenticated):
		return exitNotAllowed
	case errors.Is(err, felix.ErrConfig), errors.Is(err, felix.ErrInvalidRequest), errors.Is(err, felix.ErrLimitExceeded):
		return exitUsage
	case felix.IsOutcomeUnknown(err):
		return exitUnknown
	case felix.IsRetryable(err), errors.Is(err, felix.ErrConnection), errors.Is(err, context.DeadlineExceeded):
		return exitUnavailable
	}
	return exitOther
}
