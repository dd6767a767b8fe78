package fanout

import "errors"

// ErrPolicy says that a text names no queue policy; the text around it names the value and the legal ones.
var ErrPolicy = errors.New("fanout: unknown queue policy")
