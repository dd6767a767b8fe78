// Package catalog is the broker's own copy of what exists: tenants, namespaces, streams and caches.
//
// Messages look names up in an immutable view behind one atomic pointer, without a lock, a call or an
// allocation. The cluster room feeds the changes, one kind at a time, in whatever order the control plane's
// feeds deliver them.
package catalog
