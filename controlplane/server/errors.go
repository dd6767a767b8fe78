package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/felix-go/felix/controlplane/api"
	"github.com/felix-go/felix/controlplane/store"
	"github.com/felix-go/felix/controlplane/token"
)

var (
	// ErrConfig is returned by New and Start for a configuration that cannot work.
	ErrConfig = errors.New("server: bad configuration")

	// ErrTokenFile is returned by LoadOperatorToken for a credential file that cannot be trusted.
	ErrTokenFile = errors.New("server: bad operator credential file")
)

// refusal is an answer that says no. It is the only error a client sees in full.
type refusal struct {
	status int
	code   string
	text   string
	allow  string // methods of the path, with status 405
}

func (r *refusal) Error() string { return r.text }

func refuse(status int, code, format string, args ...any) *refusal {
	return &refusal{status: status, code: code, text: fmt.Sprintf(format, args...)}
}

func invalid(format string, args ...any) *refusal {
	return refuse(http.StatusBadRequest, api.CodeInvalidRequest, format, args...)
}

// refusalOf maps every error of the rooms below to an answer. What it does not know is an internal
// error, whose text stays in the log.
func refusalOf(err error) *refusal {
	var r *refusal
	switch {
	case errors.As(err, &r):
		return r
	case errors.Is(err, store.ErrNotFound):
		return refuse(http.StatusNotFound, api.CodeNotFound, "%s", trimmed(err))
	case errors.Is(err, store.ErrExists):
		return refuse(http.StatusConflict, api.CodeAlreadyExists, "%s", trimmed(err))
	case errors.Is(err, token.ErrPermission), errors.Is(err, token.ErrClaims):
		return invalid("%s", trimmed(err))
	case errors.Is(err, store.ErrUnavailable), errors.Is(err, context.DeadlineExceeded):
		return refuse(http.StatusServiceUnavailable, api.CodeUnavailable,
			"the store does not answer; a write may have been applied")
	}
	return refuse(http.StatusInternalServerError, api.CodeInternal, "internal error")
}

// trimmed is the text of an error without the name of the package that made it.
func trimmed(err error) string {
	_, text, found := strings.Cut(err.Error(), ": ")
	if !found {
		return err.Error()
	}
	return text
}
