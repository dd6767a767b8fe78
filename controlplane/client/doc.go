// Package client is the Go client of the control plane's HTTP API.
//
// Every method is one request: the client never retries, because only its caller knows whether a
// repeated write is harmless. Refusals come back as *Error with the server's code; a failure to reach
// the server comes back as it is.
package client
