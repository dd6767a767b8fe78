// Package invariants holds assertions that stop a test build and are counted in a release build.
//
// Build with the tag invariants to make a broken promise panic where it is found, to poison released memory and to learn
// where leaked memory came from.
package invariants
