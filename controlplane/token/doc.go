// Package token mints the signed tokens that brokers verify.
//
// A token is a JWT signed with the Ed25519 key of one tenant (rule P27). The package is pure: it keeps
// no state, reads no store and asks no network, so whoever holds a key can mint and test.
package token
