// Package cluster is this broker's side of the control plane: it keeps the catalog and the tenants' keys in
// step with the metadata feeds (control plane section 3.4). No message ever waits for it.
package cluster
