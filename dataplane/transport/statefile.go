package transport

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/quic-go/quic-go"
)

// resetKeyFile is the name of the secret in the state directory.
const resetKeyFile = "quic-reset.key"

// LoadResetKey returns the secret of this node from stateDir; the first call creates it, and the directory.
// The file is readable by its owner only. A file of another size is an error and is left alone: replacing it
// silently would cost every client that a later kill hits its idle timeout.
func LoadResetKey(stateDir string) ([32]byte, error) {
	path := filepath.Join(stateDir, resetKeyFile)
	secret, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		secret = make([]byte, 32)
		rand.Read(secret)
		err = writeStateFile(path, secret)
	}
	if err != nil {
		return [32]byte{}, fmt.Errorf("transport: cannot load the reset key: %w", err)
	}
	if len(secret) != 32 {
		return [32]byte{}, fmt.Errorf("transport: reset key %q has %d bytes, not 32; delete it to have one made",
			path, len(secret))
	}
	return [32]byte(secret), nil
}

// deriveKeys makes the two keys of the QUIC library out of the one persisted secret.
func deriveKeys(secret [32]byte) (reset quic.StatelessResetKey, token quic.TokenGeneratorKey, err error) {
	for _, key := range []struct {
		use string
		to  []byte
	}{{"felix quic stateless reset", reset[:]}, {"felix quic address token", token[:]}} {
		derived, err := hkdf.Key(sha256.New, secret[:], nil, key.use, len(key.to))
		if err != nil {
			return reset, token, fmt.Errorf("transport: cannot derive the key for %s: %w", key.use, err)
		}
		copy(key.to, derived)
	}
	return reset, token, nil
}

// writeStateFile creates path with data so that after a crash there is all of it or nothing: temporary file,
// sync, rename, sync of the directory. Owner-only, also the directory if it has to be made.
func writeStateFile(path string, data []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(dir, filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err == nil {
		err = file.Sync()
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		os.Remove(file.Name())
		return err
	}
	return syncDir(dir)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
