package auth

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func compile(t *testing.T, permissions ...string) *Matcher {
	t.Helper()
	m, err := Compile("t", permissions)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestKeyGrantGrid is the whole table of key grants against keys and watched prefixes. A grant is a plain
// string prefix only when it ends in "*", text order plays no part, and a "*" in a key is a letter like any
// other.
func TestKeyGrantGrid(t *testing.T) {
	keys := []string{"a", "a/", "a/b", "ab", "a/b/c", "A", "a*", ""}
	prefixes := []string{"a", "a/", "a*", "ab", ""}
	grid := []struct {
		grant    string
		keys     string // one letter per key: y or n
		prefixes string
	}{
		{"a", "ynnnnnnn", "nnnnn"},
		{"a/*", "nyynynnn", "nynnn"},
		{"a*", "yyyyynyn", "yyyyn"},
		{"a/b", "nnynnnnn", "nnnnn"},
		{"a/", "nynnnnnn", "nnnnn"},
		{"", "nnnnnnny", "nnnnn"},
	}
	for _, row := range grid {
		m := compile(t, "cache.read:cache:t/ns/c/"+row.grant)
		for i, key := range keys {
			want := row.keys[i] == 'y'
			if got := m.AllowCacheKey(CacheRead, []byte("ns"), []byte("c"), []byte(key)); got != want {
				t.Errorf("grant %q, key %q: %t, want %t", row.grant, key, got, want)
			}
			if m.AllowCacheKey(CacheWrite, []byte("ns"), []byte("c"), []byte(key)) {
				t.Errorf("grant %q to read, key %q: may write", row.grant, key)
			}
		}
		for i, prefix := range prefixes {
			want := row.prefixes[i] == 'y'
			if got := m.AllowCachePrefix(CacheRead, []byte("ns"), []byte("c"), []byte(prefix)); got != want {
				t.Errorf("grant %q, watched prefix %q: %t, want %t", row.grant, prefix, got, want)
			}
		}
		if m.AllowCache(CacheRead, []byte("ns"), []byte("c")) {
			t.Errorf("grant %q: the whole cache", row.grant)
		}
	}
	if _, err := Compile("t", []string{"cache.read:cache:t/ns/c/*"}); !errors.Is(err, ErrBadObject) {
		t.Errorf("a bare * as key: %v", err)
	}
	whole := compile(t, "cache.read:cache:t/ns/c")
	for _, key := range append(keys, prefixes...) {
		if !whole.AllowCacheKey(CacheRead, []byte("ns"), []byte("c"), []byte(key)) ||
			!whole.AllowCachePrefix(CacheRead, []byte("ns"), []byte("c"), []byte(key)) {
			t.Errorf("whole cache, key or prefix %q: refused", key)
		}
	}
}

// TestRoomExample is the example of control plane P43 and P44.
func TestRoomExample(t *testing.T) {
	m := compile(t, "cache.read:cache:t/ns/c/room1/*")
	ns, c := []byte("ns"), []byte("c")
	key := func(a Action, k string) bool { return m.AllowCacheKey(a, ns, c, []byte(k)) }
	prefix := func(p string) bool { return m.AllowCachePrefix(CacheRead, ns, c, []byte(p)) }
	for what, ok := range map[string]bool{
		"get room1/a":          key(CacheRead, "room1/a"),
		"counter get room1/n":  key(CacheRead, "room1/n"),
		"prefix watch room1/":  prefix("room1/"),
		"prefix watch room1/x": prefix("room1/x"),
	} {
		if !ok {
			t.Error(what, "refused")
		}
	}
	for what, ok := range map[string]bool{
		"get room2/a":        key(CacheRead, "room2/a"),
		"get room1":          key(CacheRead, "room1"),
		"put room1/a":        key(CacheWrite, "room1/a"),
		"prefix watch room":  prefix("room"),
		"prefix watch room1": prefix("room1"),
		"prefix watch all":   prefix(""),
		"other cache":        m.AllowCacheKey(CacheRead, ns, []byte("d"), []byte("room1/a")),
		"other namespace":    m.AllowCacheKey(CacheRead, []byte("ns2"), c, []byte("room1/a")),
	} {
		if ok {
			t.Error(what, "allowed")
		}
	}
}

// TestManyPrefixes checks that prefixes which cover each other, in any order, answer like the list of them.
func TestManyPrefixes(t *testing.T) {
	granted := []string{"user:10", "b", "user:1", "user:2", "bcd", "z", "user:1/x"}
	var permissions []string
	for _, p := range granted {
		permissions = append(permissions, "cache.write:cache:t/ns/c/"+p+"*")
	}
	m := compile(t, permissions...)
	if n := len(m.namespaces["ns"].caches["c"].write.prefixes); n != 4 {
		t.Errorf("%d prefixes are kept, want b, user:1, user:2 and z", n)
	}
	for _, key := range []string{
		"", "a", "b", "ba", "bcd", "c", "user:", "user:1", "user:10", "user:11", "user:2", "user:20",
		"user:3", "y", "z", "zz", "~",
	} {
		want := false
		for _, p := range granted {
			want = want || strings.HasPrefix(key, p)
		}
		if got := m.AllowCacheKey(CacheWrite, []byte("ns"), []byte("c"), []byte(key)); got != want {
			t.Errorf("key %q: %t, want %t", key, got, want)
		}
	}
}

// TestWildcardsAreNotNames checks that objects really called "*", or with a separator in the name, meet no
// grant.
func TestWildcardsAreNotNames(t *testing.T) {
	m := compile(t, "stream.publish:stream:t/ns/s", "stream.publish:stream:t/all/*", "cache.read:cache:t/ns/c/k",
		"group.consume:group:t/ns/s/g")
	for _, names := range [][2]string{
		{"*", "*"}, {"*", "s"}, {"ns", "*"}, {"ns/s", ""}, {"", ""}, {"", "s"}, {"ns", ""},
	} {
		ns, name := []byte(names[0]), []byte(names[1])
		if m.AllowStream(StreamPublish, ns, name) || m.AllowCacheKey(CacheRead, ns, name, []byte("k")) ||
			m.AllowGroup(GroupConsume, ns, name, []byte("g")) {
			t.Errorf("%q is allowed", names)
		}
	}
	if m.AllowGroup(GroupConsume, []byte("ns"), []byte("s"), []byte("*")) {
		t.Error("group * is allowed")
	}
}

func TestImplications(t *testing.T) {
	ns, s := []byte("ns"), []byte("s")
	stream := func(m *Matcher, a Action) bool { return m.AllowStream(a, ns, s) }
	group := func(m *Matcher, a Action) bool { return m.AllowGroup(a, ns, s, []byte("g")) }
	cache := func(m *Matcher, a Action) bool {
		return m.AllowCache(a, ns, s) || m.AllowCacheKey(a, ns, s, []byte("k")) || m.AllowCachePrefix(a, ns, s, nil)
	}
	for permission, want := range map[string]string{
		"stream.publish:stream:t/ns/s":   "stream.publish",
		"stream.subscribe:stream:t/ns/*": "stream.subscribe group.consume",
		"stream.manage:stream:t/*/*":     "stream.manage group.manage",
		"group.consume:stream:t/ns/s":    "group.consume",
		"group.manage:group:t/ns/*/*":    "group.manage",
		"group.manage:group:t/ns/s/*":    "group.manage",
		"group.manage:group:t/ns/s/g":    "group.manage",
		"cache.read:cache:t/*/*":         "cache.read",
		"cache.write:cache:t/ns/s":       "cache.write",
		"cache.manage:cache:t/ns/*":      "cache.manage",
		"cache.read:cache:t/ns/s/k":      "cache.read",
		"ns.manage:namespace:t/ns": "stream.publish stream.subscribe stream.manage group.consume group.manage " +
			"cache.read cache.write cache.manage",
		"ns.manage:namespace:t/*": "stream.publish stream.subscribe stream.manage group.consume group.manage " +
			"cache.read cache.write cache.manage",
		"ns.manage:namespace:t/other": "",
		"tenant.manage:tenant:t": "stream.publish stream.subscribe stream.manage group.consume group.manage " +
			"cache.read cache.write cache.manage",
		"tenant.manage:cluster:*":      "",
		"node.view:cluster:*":          "",
		"node.manage:cluster:*":        "",
		"rbac.view:tenant:t":           "",
		"token.delegate:tenant:t":      "",
		"stream.publish:stream:t/ns/o": "",
	} {
		m := compile(t, permission)
		var got []string
		for a := Action(0); a < actionCount; a++ {
			data := a < NamespaceManage // RBAC rights reach down the tree too, and are asked below
			if data && (stream(m, a) || group(m, a) || cache(m, a)) {
				got = append(got, a.String())
			}
		}
		wanted := map[string]bool{}
		for _, w := range strings.Fields(want) {
			wanted[w] = true
		}
		for _, g := range got {
			if !wanted[g] {
				t.Errorf("%s allows %s", permission, g)
			}
			delete(wanted, g)
		}
		for w := range wanted {
			t.Errorf("%s does not allow %s", permission, w)
		}
	}
}

// TestScopes checks that tenant, cluster and node scopes contain nothing of each other (control plane P46,
// P47).
func TestScopes(t *testing.T) {
	admin := compile(t, "tenant.manage:tenant:t")
	if !admin.AllowTenant(TenantManage) || !admin.AllowNamespace(NamespaceManage, []byte("any")) {
		t.Error("the tenant's admin may not manage it")
	}
	for _, a := range []Action{NodeView, NodeManage, TenantManage} {
		if admin.AllowCluster(a) || admin.AllowNode(a, []byte("n1")) {
			t.Errorf("the tenant's admin holds %s on the cluster", a)
		}
	}
	for _, a := range []Action{RBACView, RBACPolicyManage, RBACAssignmentManage, TokenDelegate} {
		if admin.AllowTenant(a) || admin.AllowNamespace(a, []byte("ns")) {
			t.Errorf("a resource manager holds %s", a)
		}
	}
	operator := compile(t, "tenant.manage:cluster:*", "node.view:cluster:*", "node.manage:cluster:*")
	if !operator.AllowCluster(TenantManage) || !operator.AllowCluster(NodeView) ||
		!operator.AllowNode(NodeManage, []byte("n1")) {
		t.Error("the operator may not operate")
	}
	if operator.AllowTenant(TenantManage) || operator.AllowNamespace(NamespaceManage, []byte("ns")) ||
		operator.AllowStream(StreamSubscribe, []byte("ns"), []byte("s")) {
		t.Error("the operator reaches into the tenant")
	}
	node := compile(t, "node.manage:node:n1")
	if !node.AllowNode(NodeManage, []byte("n1")) || node.AllowNode(NodeManage, []byte("n2")) ||
		node.AllowCluster(NodeManage) {
		t.Error("a node's credential reaches beyond the node, or not to it")
	}
	rbac := compile(t, "rbac.view:namespace:t/ns")
	if !rbac.AllowNamespace(RBACView, []byte("ns")) || !rbac.AllowStream(RBACView, []byte("ns"), []byte("s")) ||
		!rbac.AllowCache(RBACView, []byte("ns"), []byte("c")) ||
		!rbac.AllowGroup(RBACView, []byte("ns"), []byte("s"), []byte("g")) {
		t.Error("an RBAC right on a namespace does not reach what is inside")
	}
	if rbac.AllowTenant(RBACView) || rbac.AllowNamespace(RBACView, []byte("ns2")) ||
		rbac.AllowNamespace(RBACPolicyManage, []byte("ns")) {
		t.Error("an RBAC right on a namespace reaches beyond it")
	}
}

// TestNamedGroupsNarrow is the four-way example of control plane P45 and its neighbours.
func TestNamedGroupsNarrow(t *testing.T) {
	group := func(m *Matcher, a Action, stream, group string) bool {
		return m.AllowGroup(a, []byte("ns"), []byte(stream), []byte(group))
	}
	for _, wide := range []string{
		"stream.subscribe:stream:t/*/*", "stream.subscribe:stream:t/ns/*", "stream.subscribe:stream:t/ns/s",
		"group.consume:stream:t/ns/s", "group.consume:group:t/ns/*/*", "group.consume:group:t/ns/s/*",
	} {
		m := compile(t, "group.consume:group:t/ns/s/g", wide, "group.manage:stream:t/*/*")
		if !group(m, GroupConsume, "s", "g") {
			t.Errorf("with %s: the named group is refused", wide)
		}
		if group(m, GroupConsume, "s", "other") {
			t.Errorf("with %s: another group of the stream is allowed", wide)
		}
		if onAll := !strings.Contains(wide, "/s"); group(m, GroupConsume, "s2", "g") != onAll {
			t.Errorf("with %s: a group of another stream: %t", wide, !onAll)
		}
		if !group(m, GroupManage, "s", "other") {
			t.Errorf("with %s: another action is narrowed", wide)
		}
		if strings.HasPrefix(wide, "stream.subscribe") && !m.AllowStream(StreamSubscribe, []byte("ns"), []byte("s")) {
			t.Errorf("with %s: the subscription is narrowed", wide)
		}
	}
	for _, manager := range []string{"ns.manage:namespace:t/ns", "tenant.manage:tenant:t"} {
		if m := compile(t, "group.consume:group:t/ns/s/g", manager); !group(m, GroupConsume, "s", "other") {
			t.Errorf("%s is narrowed", manager)
		}
	}
}

func TestRefusedPermissions(t *testing.T) {
	long := strings.Repeat("n", 129)
	for _, p := range []string{
		"stream.fly:stream:t/ns/s", "STREAM.publish:stream:t/ns/s", " stream.publish:stream:t/ns/s", "", ":",
		"none:tenant:t",
	} {
		if _, err := Compile("t", []string{"stream.publish:stream:t/ns/s", p}); !errors.Is(err, ErrUnknownAction) {
			t.Errorf("%q: %v, want ErrUnknownAction", p, err)
		}
	}
	for _, p := range []string{
		// no object, or not of the grammar
		"stream.publish", "stream.publish:", "stream.publish:stream", "stream.publish:stream:",
		"stream.publish:s:t/ns/s",
		"stream.publish:stream:t", "stream.publish:stream:t/ns", "stream.publish:stream:t/ns/s/x",
		"stream.publish:stream:t//s",
		"stream.publish:stream:t/ns/", "stream.publish:stream:t/ns/.s", "stream.publish:stream:t/ns/a:b",
		"stream.publish:stream:t/ns/a*", "stream.publish:stream:t/n*/s", "stream.publish:stream:t/ns/**",
		"stream.publish:stream:t/ns/" + long, "stream.publish:stream:t/ns/\u00fc",
		"stream.publish:stream:t/ns/a b",
		"stream.publish:Stream:t/ns/s",
		// scope: other tenants, wildcards without a tenant, names below wildcards, other spellings of the
		// cluster
		"stream.publish:stream:t2/ns/s", "stream.publish:stream:T/ns/s", "stream.publish:stream:*/ns/s",
		"stream.publish:stream:*/*/*", "stream.publish:stream:*", "stream.publish:stream:t/*/s",
		"stream.publish:stream:t/*",
		"tenant.manage:tenant:*", "tenant.manage:tenant:t2", "tenant.manage:tenant:",
		"tenant.manage:tenant:t/", "tenant.manage:tenant:t/ns",
		"ns.manage:namespace:*", "ns.manage:namespace:*/*", "ns.manage:namespace:t",
		"ns.manage:namespace:t/ns/s",
		"node.view:cluster:", "node.view:cluster:**", "node.view:cluster:t", "node.view:cluster",
		"node.view:cluster:*/",
		"node.manage:node:*", "node.manage:node:", "node.manage:node:n/1", "node.manage:node:n*",
		"group.consume:group:t/*/*/*", "group.consume:group:t/*/s/g", "group.consume:group:t/ns/*/g",
		"group.consume:group:t/ns/s",
		"group.consume:group:t/ns/s/g/x", "group.consume:group:t/ns/s/g*", "group.consume:group:t/ns/s/",
		// keys
		"cache.read:cache:t/ns/c/*", "cache.read:cache:t/ns/c/**", "cache.read:cache:t/ns/c/a*b",
		"cache.read:cache:t/ns/c/*b",
		"cache.read:cache:t/ns/c/a**", "cache.read:cache:t/ns/*/k", "cache.read:cache:t/*/c/k",
		"cache.read:cache:t/*/*/k",
		"cache.read:cache:t/*/c", "cache.manage:cache:t/ns/c/k", "cache.manage:cache:t/ns/c/k*",
		"cache.read:cache:t//c/k",
		// an action on an object of another kind
		"stream.publish:cache:t/ns/c", "cache.read:stream:t/ns/s", "stream.publish:namespace:t/ns",
		"stream.publish:tenant:t",
		"stream.publish:cluster:*", "stream.subscribe:group:t/ns/s/g", "ns.manage:tenant:t",
		"ns.manage:cluster:*",
		"node.view:tenant:t", "node.view:node:n1", "group.consume:cache:t/ns/c", "rbac.view:cluster:*",
		"rbac.view:node:n1",
		"rbac.view:cache:t/ns/c/k", "token.delegate:cluster:*", "tenant.manage:namespace:t/ns",
	} {
		if _, err := Compile("t", []string{"stream.publish:stream:t/ns/s", p}); !errors.Is(err, ErrBadObject) {
			t.Errorf("%q: %v, want ErrBadObject", p, err)
		}
	}
	for _, tenant := range []string{"", "*", "a/b", long} {
		if _, err := Compile(tenant, nil); !errors.Is(err, ErrBadObject) {
			t.Errorf("tenant %q: %v", tenant, err)
		}
	}
	if m := compile(t); m.AllowStream(StreamPublish, []byte("ns"), []byte("s")) || m.AllowCluster(NodeView) {
		t.Error("no permission allows something")
	}
}

func TestActionNames(t *testing.T) {
	for a := StreamPublish; a < actionCount; a++ {
		if got, ok := ParseAction(a.String()); !ok || got != a {
			t.Errorf("%d: ParseAction(%q) is %d, %t", a, a, got, ok)
		}
	}
	for _, name := range []string{"", "none", "stream.", "stream.publish "} {
		if a, ok := ParseAction(name); ok {
			t.Errorf("ParseAction(%q) is %s", name, a)
		}
	}
	if s := fmt.Sprint(Action(0), actionCount); s != "none none" {
		t.Errorf("actions without a name print as %q", s)
	}
}
