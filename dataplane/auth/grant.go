package auth

import (
	"fmt"
	"strings"
)

// objectKind is one kind of object, or a set of them.
type objectKind uint16

const (
	onTenant objectKind = 1 << iota
	onNamespace
	onStream
	onCache
	onKey    // one key of a cache
	onPrefix // every key of a cache that starts with a string
	onGroup
	onNode
	onCluster
)

// grant is one parsed permission. An empty name is the wildcard of its level, because no object has an empty
// name; a key may be empty, and its kind says that it is a key.
type grant struct {
	action    Action
	kind      objectKind
	namespace string // "" = every namespace
	name      string // stream, cache or node; "" = every one
	leaf      string // key, key prefix or group; "" = every group
}

// parseGrant reads a permission "action:object" of a token of tenant, by the grammar of control plane section
// 5.2 and the refusals of P42 and P43:
//
//	tenant:{t}
//	namespace:{t}/{ns}            namespace:{t}/*
//	stream:{t}/{ns}/{s}           stream:{t}/{ns}/*       stream:{t}/*/*
//	cache:{t}/{ns}/{c}            cache:{t}/{ns}/*        cache:{t}/*/*
//	cache:{t}/{ns}/{c}/{key}      cache:{t}/{ns}/{c}/{prefix}*
//	group:{t}/{ns}/{s}/{g}        group:{t}/{ns}/{s}/*    group:{t}/{ns}/*/*
//	node:{id}
//	cluster:*
func parseGrant(tenant, permission string) (grant, error) {
	action, object, found := strings.Cut(permission, ":")
	a, known := ParseAction(action)
	if !known {
		return grant{}, fmt.Errorf("%w: %.200q", ErrUnknownAction, permission)
	}
	if !found {
		return grant{}, badObject(permission, "want action:object")
	}
	g, why := parseObject(tenant, object)
	if why == "" && g.kind&vocabulary[a].on == 0 {
		why = "the action does not apply to this kind of object"
	}
	if why != "" {
		return grant{}, badObject(permission, why)
	}
	g.action = a
	return g, nil
}

func badObject(permission, why string) error {
	return fmt.Errorf("%w: %.200q: %s", ErrBadObject, permission, why)
}

// parseObject returns the object, or why it is refused.
func parseObject(tenant, object string) (g grant, why string) {
	kind, path, found := strings.Cut(object, ":")
	if !found {
		return g, "want kind:name"
	}
	switch kind {
	case "cluster":
		if path != "*" {
			return g, "the one cluster object is cluster:*"
		}
		return grant{kind: onCluster}, ""
	case "node":
		if !ValidName(path) {
			return g, "a node object names one node"
		}
		return grant{kind: onNode, name: path}, ""
	}
	owner, path, below := strings.Cut(path, "/")
	switch {
	case owner != tenant:
		return g, "the object is not of this tenant"
	case kind == "tenant" && !below:
		return grant{kind: onTenant}, ""
	case kind == "tenant" || !below:
		return g, "wrong number of segments"
	}
	switch kind {
	case "namespace":
		return parseNames(onNamespace, path)
	case "stream":
		return parseNames(onStream, path)
	case "cache":
		return parseCache(path)
	case "group":
		return parseNames(onGroup, path)
	}
	return g, "unknown kind of object"
}

// parseNames reads the one, two or three segments below a tenant. From the first "*" on every segment is "*",
// so nothing is named below a wildcard; the namespace of a group is always named.
func parseNames(kind objectKind, path string) (g grant, why string) {
	g.kind = kind
	fields := []*string{&g.namespace}
	if kind != onNamespace {
		fields = append(fields, &g.name)
	}
	if kind == onGroup {
		fields = append(fields, &g.leaf)
	}
	segments := strings.Split(path, "/")
	if len(segments) != len(fields) {
		return g, "wrong number of segments"
	}
	wild := false
	for i, s := range segments {
		switch {
		case s == "*" && (i > 0 || kind != onGroup):
			wild = true
		case wild:
			return g, "nothing is named below a wildcard"
		case !ValidName(s):
			return g, "bad name"
		default:
			*fields[i] = s
		}
	}
	return g, ""
}

// parseCache reads namespace/cache, or namespace/cache/key where everything after the second slash is the
// key, slashes included. A key that ends in "*" is a plain string prefix; a "*" anywhere else is refused, so
// no grant can mean a literal "*". The empty key is a key like any other; the empty prefix is refused,
// because it would be a second spelling of the whole cache.
func parseCache(path string) (g grant, why string) {
	segments := strings.SplitN(path, "/", 3)
	if len(segments) < 3 {
		return parseNames(onCache, path)
	}
	g.namespace, g.name = segments[0], segments[1]
	if !ValidName(g.namespace) || !ValidName(g.name) {
		return g, "a key belongs to one named cache"
	}
	g.kind, g.leaf = onKey, segments[2]
	if prefix, ok := strings.CutSuffix(g.leaf, "*"); ok {
		if prefix == "" {
			return g, "a bare * is no prefix: grant the cache"
		}
		g.kind, g.leaf = onPrefix, prefix
	}
	if strings.Contains(g.leaf, "*") {
		return g, "a * stands only at the end of a key"
	}
	return g, ""
}

// ValidName reports whether s may name a tenant, namespace, stream, cache, group, node or region: 1 to 128 of ASCII
// letters, digits, '-', '_' and '.', the first a letter or digit (decisions section 8, rule P8). The control plane accepts
// names by it too, so that every name that can be made can be granted.
func ValidName(s string) bool {
	if len(s) == 0 || len(s) > 128 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		word := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !word && (i == 0 || c != '-' && c != '_' && c != '.') {
			return false
		}
	}
	return true
}
