package server

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// operatorTokenFile is the name of the credential file in the state directory.
const operatorTokenFile = "operator-token"

// operatorTokenBytes is the size of the secret before it is written as hex.
const operatorTokenBytes = 32

// LoadOperatorToken returns the operator credential of a state directory: a random 256-bit secret as 64
// hex digits, made on the first call. The file is readable by its owner only and appears complete or not
// at all, so that two processes that start together agree on it. A file that others may read is refused
// with ErrTokenFile.
func LoadOperatorToken(stateDir string) (string, error) {
	path := filepath.Join(stateDir, operatorTokenFile)
	secret, err := readOperatorToken(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return secret, err
	}
	if err := makeOperatorToken(stateDir, path); err != nil {
		return "", fmt.Errorf("cannot make the operator credential: %w", err)
	}
	return readOperatorToken(path)
}

func readOperatorToken(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("cannot read the operator credential: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("%w: %q may be read by others, set its mode to 0600", ErrTokenFile, path)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("cannot read the operator credential: %w", err)
	}
	secret := strings.TrimSpace(string(b))
	if raw, err := hex.DecodeString(secret); err != nil || len(raw) != operatorTokenBytes {
		return "", fmt.Errorf("%w: %q does not hold %d hex digits", ErrTokenFile, path, 2*operatorTokenBytes)
	}
	return secret, nil
}

// makeOperatorToken writes a temporary file and links it into place: a link never replaces, so the
// first of two writers wins and the other reads what it wrote.
func makeOperatorToken(dir, path string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	secret := make([]byte, operatorTokenBytes)
	if _, err := rand.Read(secret); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, operatorTokenFile+".*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.WriteString(hex.EncodeToString(secret) + "\n")
	err = errors.Join(err, tmp.Sync(), tmp.Close())
	if err != nil {
		return err
	}
	if err := os.Link(tmp.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(dir)
}

// syncDir makes a new directory entry survive a power failure.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
