package token

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/felix-go/felix/dataplane/auth"
)

// Limits of one token, so that a mistaken request cannot make one that no broker reads.
const (
	maxPermissions     = 256
	maxPermissionBytes = 1024
)

// ValidatePermissions checks permissions, each written "action:object", for a token of tenant: known
// actions, the object grammar of section 5.2, and the refused forms of rules P42 and P43. It asks the
// matcher that brokers compile them with, so what it accepts no broker refuses. The error names the
// first bad one.
func ValidatePermissions(tenant string, permissions []string) error {
	if len(permissions) == 0 || len(permissions) > maxPermissions {
		return fmt.Errorf("%w: %d permissions, want 1 to %d", ErrPermission, len(permissions), maxPermissions)
	}
	for _, p := range permissions {
		if len(p) > maxPermissionBytes || !utf8.ValidString(p) {
			return fmt.Errorf("%w: %.200q: must be UTF-8 of at most %d bytes",
				ErrPermission, p, maxPermissionBytes)
		}
	}
	if _, err := auth.Compile(tenant, permissions); err != nil {
		return fmt.Errorf("%w: %s", ErrPermission, strings.TrimPrefix(err.Error(), "auth: "))
	}
	return nil
}
