// Package auth decides who a peer is and what it may touch.
//
// A Verifier turns the token of an `auth` frame into an Identity: it checks a JWT against the tenant's
// published keys (control plane section 4), which Keys fetches, remembers and forgets. An Identity carries a
// Matcher, the compiled form of the token's permissions (control plane section 5), which answers every later
// question of the connection without an allocation, a lock or a call.
//
//	token -> Verifier.Verify -> Keys (fetches rarely) -> Compile -> Identity{Matcher} -> Matcher.Allow...
//
// Every refusal has one public text, so that a peer cannot tell an unknown tenant from a bad signature; the
// reason is for counters and logs (Reason).
package auth
