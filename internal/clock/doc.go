// Package clock is the one source of time for code whose behaviour depends on it: deadlines, expiry, leases. Tests replace it
// by a Manual clock and move it.
package clock
