// Package store keeps the control plane's state in etcd, and nowhere else.
//
// It is the only package that imports etcd. Open either embeds a single member, which listens on no
// port and is reached by function calls, or connects to the endpoints of an existing cluster; all the
// rest goes through clientv3 and does not know the difference.
//
// Layout under the prefix (default /felix/v1/):
//
//	objects/tenants/{t}                api.Tenant as JSON
//	objects/namespaces/{t}/{ns}        api.Namespace
//	objects/streams/{t}/{ns}/{s}       api.Stream
//	objects/caches/{t}/{ns}/{c}        api.Cache
//	keys/{t}                           signing keys of a tenant, secrets included
//	cursor/{kind}                      next sequence number of the kind, decimal
//	changes/{kind}/{seq, 20 digits}    one change row
//	deleting/{kind}/{path}             a tenant or namespace whose contents are being removed
//
// Names cannot contain a slash, so the path of a parent plus a slash is a prefix of exactly its
// children.
package store
