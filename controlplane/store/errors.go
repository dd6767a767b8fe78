package store

import "errors"

var (
	// ErrConfig is returned by Open for a configuration that cannot work.
	ErrConfig = errors.New("store: bad configuration")

	// ErrLocked is returned by Open when another process uses the data directory.
	ErrLocked = errors.New("store: data directory is in use by another process")

	// ErrNotFound is returned when the object, or the parent it should be created in, does not exist.
	ErrNotFound = errors.New("store: not found")

	// ErrExists is returned when the name is already taken.
	ErrExists = errors.New("store: already exists")

	// ErrUnavailable wraps every failure of etcd: no quorum, no answer in time, no space. A write that
	// fails so may have been applied.
	ErrUnavailable = errors.New("store: unavailable")

	// ErrCorrupt is returned for a record that this build cannot read.
	ErrCorrupt = errors.New("store: unreadable record")
)
