package shard

import (
	"errors"
	"fmt"

	"github.com/felix-go/felix/dataplane/wire"
)

// ErrConfig marks a Config that cannot be used; the text names the field, its value and its range.
var ErrConfig = errors.New("shard: invalid configuration")

func configError(field string, value any, legal string) error {
	return fmt.Errorf("%w: %s is %v, want %s", ErrConfig, field, value, legal)
}

// Answers given by the scheduler itself. They are shared and never written to.
var (
	// refusalUnknown answers a job that was begun and not finished, by a panic for one: nobody knows how far it came.
	refusalUnknown = &wire.Refusal{Code: wire.CodeInternal, Class: wire.ClassOutcomeUnknown, Message: "internal error"}
	// refusalDropped answers a job that never ran and that Drop left unanswered.
	refusalDropped = &wire.Refusal{Code: wire.CodeShardUnavailable, Class: wire.ClassRetry,
		Message: "shard unavailable", Reason: "not_ready"}
)
