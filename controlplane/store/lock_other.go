//go:build !unix

package store

import (
	"fmt"
	"os"
)

// lockFile only opens the file: etcd's own lock on its database has to do here.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot open the lock file: %w", err)
	}
	return f, nil
}
