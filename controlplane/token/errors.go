package token

import "errors"

var (
	// ErrPermission is returned for a permission outside the grammar of section 5.2, or one that the
	// tenant may not hold.
	ErrPermission = errors.New("token: bad permission")

	// ErrClaims is returned for claims that cannot be signed: an unknown audience, a life out of
	// range, an empty subject.
	ErrClaims = errors.New("token: bad claims")

	// ErrKey is returned for bytes that are not a signing key.
	ErrKey = errors.New("token: bad signing key")
)
