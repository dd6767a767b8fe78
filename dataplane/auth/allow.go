package auth

// AllowStream reports whether a (StreamPublish, StreamSubscribe, StreamManage or an RBAC action) is allowed
// on a stream.
//
//felix:hot
func (m *Matcher) AllowStream(a Action, namespace, stream []byte) bool {
	if m.every.streams.has(a) {
		return true
	}
	n := m.namespaces[string(namespace)]
	if n == nil {
		return false
	}
	if n.every.streams.has(a) {
		return true
	}
	s := n.streams[string(stream)]
	return s != nil && s.every.streams.has(a)
}

// AllowGroup reports whether a (GroupConsume, GroupManage or an RBAC action) is allowed on one group of a
// stream. A grant on named groups of the stream narrows wider ones (control plane P45).
//
//felix:hot
func (m *Matcher) AllowGroup(a Action, namespace, stream, group []byte) bool {
	wide, firm := m.every.groups, m.every.firm
	n := m.namespaces[string(namespace)]
	if n == nil {
		return (wide | firm).has(a)
	}
	wide |= n.every.groups
	firm |= n.every.firm
	if s := n.streams[string(stream)]; s != nil {
		firm |= s.named[string(group)]
		wide = (wide | s.every.groups) &^ s.narrowed
	}
	return (wide | firm).has(a)
}

// AllowCache reports whether a (CacheRead, CacheWrite, CacheManage or an RBAC action) is allowed on a whole
// cache.
//
//felix:hot
func (m *Matcher) AllowCache(a Action, namespace, cache []byte) bool {
	ok, _ := m.findCache(a, namespace, cache)
	return ok
}

// AllowCacheKey reports whether a (CacheRead or CacheWrite) is allowed on one key. A whole cache, the exact
// key and any prefix of it do.
//
//felix:hot
func (m *Matcher) AllowCacheKey(a Action, namespace, cache, key []byte) bool {
	ok, c := m.findCache(a, namespace, cache)
	if ok || c == nil {
		return ok
	}
	k := c.grants(a)
	if k == nil {
		return false
	}
	if _, exact := k.exact[string(key)]; exact {
		return true
	}
	return k.covers(key)
}

// AllowCachePrefix reports whether a is allowed on every key that starts with prefix, which a prefix watch or
// a key listing needs. A whole cache does, and a prefix grant that covers all of it; an exact key never does.
// The empty prefix means every key, so it needs the whole cache (control plane P44).
//
//felix:hot
func (m *Matcher) AllowCachePrefix(a Action, namespace, cache, prefix []byte) bool {
	ok, c := m.findCache(a, namespace, cache)
	if ok || c == nil {
		return ok
	}
	k := c.grants(a)
	return k != nil && k.covers(prefix)
}

// AllowNamespace reports whether a (NamespaceManage or an RBAC action) is allowed on a namespace.
func (m *Matcher) AllowNamespace(a Action, namespace []byte) bool {
	if m.every.namespaces.has(a) {
		return true
	}
	n := m.namespaces[string(namespace)]
	return n != nil && n.every.namespaces.has(a)
}

// AllowTenant reports whether a (TenantManage, TokenDelegate or an RBAC action) is allowed on the token's
// tenant.
func (m *Matcher) AllowTenant(a Action) bool { return m.tenant.has(a) }

// AllowNode reports whether a (NodeManage) is allowed on one node. The cluster contains every node.
func (m *Matcher) AllowNode(a Action, node []byte) bool {
	return m.cluster.has(a) || m.nodes[string(node)].has(a)
}

// AllowCluster reports whether a (NodeView, NodeManage or TenantManage) is allowed on the cluster.
func (m *Matcher) AllowCluster(a Action) bool { return m.cluster.has(a) }

// findCache reports whether a is allowed on the whole cache. When it is not, c is the cache's own node, if
// any.
//
//felix:hot
func (m *Matcher) findCache(a Action, namespace, cache []byte) (ok bool, c *cacheNode) {
	if m.every.caches.has(a) {
		return true, nil
	}
	n := m.namespaces[string(namespace)]
	if n == nil {
		return false, nil
	}
	if n.every.caches.has(a) {
		return true, nil
	}
	c = n.caches[string(cache)]
	if c == nil {
		return false, nil
	}
	return c.every.caches.has(a), c
}

// grants returns the key grants of a, nil for an action that has none.
//
//felix:hot
func (c *cacheNode) grants(a Action) *keyGrants {
	switch a {
	case CacheRead:
		return &c.read
	case CacheWrite:
		return &c.write
	}
	return nil
}

// covers reports whether some granted prefix is a prefix of b: a binary search for the greatest one not above
// b. Were another one a prefix of b, everything between it and b would start with it, and reduce has removed
// such neighbours.
//
//felix:hot
func (k *keyGrants) covers(b []byte) bool {
	lo, hi := 0, len(k.prefixes)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if k.prefixes[mid] <= string(b) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 {
		return false
	}
	p := k.prefixes[lo-1]
	return len(p) <= len(b) && p == string(b[:len(p)])
}
