package auth

import "errors"

var (
	// ErrRefused is what every error of Verifier.Verify is. Its text is the same for every reason, because it
	// may reach the peer.
	ErrRefused = errors.New("auth: token refused")

	// ErrUnknownAction is returned by Compile for a permission whose action this broker does not know. A
	// token that carries one is refused as a whole (control plane P41).
	ErrUnknownAction = errors.New("auth: unknown action")

	// ErrBadObject is returned by Compile for a permission whose object is malformed, belongs to another
	// tenant or does not fit its action (control plane P42-P43).
	ErrBadObject = errors.New("auth: bad object")

	// ErrBadKey is returned when a key set holds something other than Ed25519 public keys with an id.
	ErrBadKey = errors.New("auth: bad key")
)

// refusal is an ErrRefused that remembers why. Each reason has one preallocated value.
type refusal struct{ reason string }

// Error implements error.
func (*refusal) Error() string { return ErrRefused.Error() }

// Is makes every refusal an ErrRefused.
func (*refusal) Is(target error) bool { return target == ErrRefused }

// The reasons. They are label values of felix_auth_refused_total.
var (
	refusedTooLong     = &refusal{"too_long"}         // token above the length limit; not parsed
	refusedMalformed   = &refusal{"malformed"}        // not a compact JWS with JSON inside
	refusedAlgorithm   = &refusal{"algorithm"}        // anything but EdDSA
	refusedExtension   = &refusal{"header_extension"} // `crit` or `b64` in the header
	refusedNoKeyID     = &refusal{"no_key_id"}        // no `kid`, or not a string
	refusedTenant      = &refusal{"tenant"}           // `tid` is not the tenant of the auth frame
	refusedUnknown     = &refusal{"unknown_tenant"}   // the catalog has no such tenant
	refusedUnknownKey  = &refusal{"unknown_key"}      // the tenant publishes no key with this id
	refusedNoKeys      = &refusal{"keys_unavailable"} // the tenant's keys could not be fetched
	refusedCancelled   = &refusal{"cancelled"}        // the caller gave up while the keys were on their way
	refusedSignature   = &refusal{"signature"}        // not signed by the named key
	refusedClaims      = &refusal{"claims"}           // a claim has a wrong type
	refusedIssuer      = &refusal{"issuer"}           // `iss`
	refusedAudience    = &refusal{"audience"}         // `aud` is not exactly this audience
	refusedExpired     = &refusal{"expired"}          // `exp` missing or passed
	refusedNotYet      = &refusal{"not_yet_valid"}    // `nbf` or `iat` in the future
	refusedPermissions = &refusal{"permissions"}      // Compile refused `perms`
)

var refusals = [...]*refusal{
	refusedTooLong, refusedMalformed, refusedAlgorithm, refusedExtension, refusedNoKeyID, refusedTenant,
	refusedUnknown, refusedUnknownKey, refusedNoKeys, refusedCancelled, refusedSignature, refusedClaims,
	refusedIssuer, refusedAudience, refusedExpired, refusedNotYet, refusedPermissions,
}

// Reason returns the short name of why err refused a token, for a counter or a log line, never for the peer.
// It is empty when err is no refusal of this package.
func Reason(err error) string {
	var r *refusal
	if errors.As(err, &r) {
		return r.reason
	}
	return ""
}
