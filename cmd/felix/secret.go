package main

import (
	"fmt"
	"os"
	"strings"
)

// readSecret reads a credential from a file; the content never appears in an error.
func readSecret(path string) (string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("cannot read the credential: %w", err)
	}
	s := strings.TrimSpace(string(b))
	if s == "" {
		return "", fmt.Errorf("the credential file %s is empty", path)
	}
	return s, nil
}

// writeSecret stores a credential readable by its owner only; a reader sees the old or the new one.
func writeSecret(path, secret string) error {
	tmp := path + ".new"
	if err := os.WriteFile(tmp, []byte(secret+"\n"), 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}
