// Package api is the treaty between the planes: the bodies of the control plane's HTTP API as plain
// structs.
//
// The package has no behaviour and imports nothing. Field names on the wire are the JSON tags.
// Optional fields are omitted when they are zero, and a reader that does not know a field ignores it,
// so either side may be newer. Sections in comments are those of the control plane specification.
package api
