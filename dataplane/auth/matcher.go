package auth

import (
	"fmt"
	"slices"
	"strings"
)

// Matcher answers what the bearer of one token may do. It is immutable after Compile and safe for concurrent
// use; no decision allocates, locks or walks the list of permissions.
//
// The permissions are allow rules, compiled into a tree of the same shape as the objects:
//
//	tenant                          rights on every namespace, stream, cache, group
//	  namespaces[ns]                rights on this namespace and everything in it
//	    streams[s]                  rights on this stream and all its groups
//	      named[g]                  rights on one group
//	    caches[c]                   rights on this cache
//	      keys: exact set, prefixes rights on keys, per action
//
// A decision looks at the nodes on the way down and stops at the first that allows. Wildcards never become
// names: an object "*" lands on the node above, so a stream, cache or key that is really called "*" meets no
// grant by accident, and names are never joined, so a "/" in a name cannot reach another object.
//
// Three rules deserve their reason:
//
// Key prefixes are plain strings: `a` grants the key `a` and nothing else, `a/*` every key that starts with
// `a/`, `a*` also `ab` (decisions section 8). A watch on a prefix needs a prefix grant that is itself a
// prefix of the watched one, hence one lookup serves both questions. Prefixes are sorted and freed of those
// that another one covers; then at most one can match, and it is the greatest that is not above the key.
//
// A grant on a named group narrows (control plane P45): who holds `group.consume` on one group of a stream
// consumes that group only, whatever wider stream or group grants of the same action say, on that stream and
// no other. Rights that come from ns.manage or tenant.manage are not narrowed (node.firm): who may delete the
// stream gains nothing from them.
//
// Scopes do not leak across the tenant's border (P47): cluster and node grants allow nothing inside a tenant,
// and tenant grants nothing outside.
type Matcher struct {
	cluster    actionSet
	tenant     actionSet
	nodes      map[string]actionSet
	every      rights
	namespaces map[string]*namespaceNode
}

// rights are the actions allowed on objects of each kind below some node.
type rights struct {
	namespaces, streams, caches actionSet
	groups                      actionSet // unless a named group narrows them
	firm                        actionSet // on groups, never narrowed
}

func (r *rights) add(o rights) {
	r.namespaces |= o.namespaces
	r.streams |= o.streams
	r.caches |= o.caches
	r.groups |= o.groups
	r.firm |= o.firm
}

type namespaceNode struct {
	every   rights
	streams map[string]*streamNode
	caches  map[string]*cacheNode
}

type streamNode struct {
	every    rights
	named    map[string]actionSet // rights on one group
	narrowed actionSet            // group actions that named groups restrict
}

type cacheNode struct {
	every       rights
	read, write keyGrants
}

// keyGrants are the keys of one cache on which one action is allowed.
type keyGrants struct {
	exact    map[string]struct{}
	prefixes []string // sorted; none is a prefix of another
}

// Compile reads the permissions of a token of tenant. One unknown action or malformed object refuses the
// whole list (ErrUnknownAction, ErrBadObject). Implications are those of control plane section 5.1:
//
//	stream.subscribe  group.consume
//	stream.manage     group.manage
//	ns.manage         every stream, cache and group action inside
//	tenant.manage     ns.manage of every namespace, when the object is the tenant
//
// Resource managers get no RBAC rights. An RBAC right on an object reaches what is inside it.
func Compile(tenant string, permissions []string) (*Matcher, error) {
	if !ValidName(tenant) {
		return nil, fmt.Errorf("%w: bad tenant %.200q", ErrBadObject, tenant)
	}
	m := &Matcher{}
	for _, p := range permissions {
		g, err := parseGrant(tenant, p)
		if err != nil {
			return nil, err
		}
		m.add(g)
	}
	for _, n := range m.namespaces {
		for _, c := range n.caches {
			c.read.prefixes = reduce(c.read.prefixes)
			c.write.prefixes = reduce(c.write.prefixes)
		}
	}
	return m, nil
}

// reach returns what an action on an object of this kind allows on the object and below it.
func reach(a Action, kind objectKind) (r rights) {
	bit := setOf(a)
	switch {
	case a == TenantManage || a == NamespaceManage:
		r = rights{
			namespaces: setOf(NamespaceManage), streams: streamActions, caches: cacheActions, firm: groupActions,
		}
	case bit&streamActions != 0:
		r.streams = bit
		switch a {
		case StreamSubscribe:
			r.groups = setOf(GroupConsume)
		case StreamManage:
			r.groups = setOf(GroupManage)
		}
	case bit&cacheActions != 0:
		r.caches = bit
	case bit&groupActions != 0:
		r.groups = bit
	case bit&rbacActions != 0:
		switch kind {
		case onTenant, onNamespace:
			r = rights{namespaces: bit, streams: bit, caches: bit, groups: bit}
		case onStream:
			r = rights{streams: bit, groups: bit}
		case onCache:
			r = rights{caches: bit}
		case onGroup:
			r = rights{groups: bit}
		}
	}
	return r
}

func (m *Matcher) add(g grant) {
	r := reach(g.action, g.kind)
	switch g.kind {
	case onCluster:
		m.cluster |= setOf(g.action)
		return
	case onNode:
		if m.nodes == nil {
			m.nodes = make(map[string]actionSet)
		}
		m.nodes[g.name] |= setOf(g.action)
		return
	case onTenant:
		m.tenant |= setOf(g.action)
	}
	if g.namespace == "" {
		m.every.add(r)
		return
	}
	n := child(&m.namespaces, g.namespace)
	if g.name == "" {
		n.every.add(r)
		return
	}
	switch g.kind {
	case onStream, onGroup:
		child(&n.streams, g.name).add(g, r)
	case onCache, onKey, onPrefix:
		child(&n.caches, g.name).add(g, r)
	}
}

func (s *streamNode) add(g grant, r rights) {
	if g.leaf == "" {
		s.every.add(r)
		return
	}
	if s.named == nil {
		s.named = make(map[string]actionSet)
	}
	s.named[g.leaf] |= r.groups
	s.narrowed |= r.groups & groupActions
}

func (c *cacheNode) add(g grant, r rights) {
	k := &c.read
	if g.action == CacheWrite {
		k = &c.write
	}
	switch g.kind {
	case onCache:
		c.every.add(r)
	case onPrefix:
		k.prefixes = append(k.prefixes, g.leaf)
	case onKey:
		if k.exact == nil {
			k.exact = make(map[string]struct{})
		}
		k.exact[g.leaf] = struct{}{}
	}
}

// child returns the node called name, made when it is missing.
func child[T any](nodes *map[string]*T, name string) *T {
	if n := (*nodes)[name]; n != nil {
		return n
	}
	if *nodes == nil {
		*nodes = make(map[string]*T)
	}
	n := new(T)
	(*nodes)[name] = n
	return n
}

// reduce sorts prefixes and drops each that starts with another one. After the sort, what a prefix covers
// follows it directly.
func reduce(prefixes []string) []string {
	slices.Sort(prefixes)
	kept := prefixes[:0]
	for _, p := range prefixes {
		if len(kept) == 0 || !strings.HasPrefix(p, kept[len(kept)-1]) {
			kept = append(kept, p)
		}
	}
	return slices.Clip(kept)
}
