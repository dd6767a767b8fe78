// Package admin is the broker's HTTP listener for people and machines that look after it: health, metrics,
// profiles and the log level. No client traffic passes here.
package admin
