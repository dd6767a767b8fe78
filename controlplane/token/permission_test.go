package token

import (
	"errors"
	"strings"
	"testing"
)

func TestPermissionsAccepted(t *testing.T) {
	for _, p := range []string{
		"stream.publish:stream:t/n/s", "stream.publish:stream:t/n/*", "stream.subscribe:stream:t/*/*",
		"stream.manage:stream:t/n/s",
		"cache.read:cache:t/n/c", "cache.write:cache:t/n/*", "cache.manage:cache:t/*/*",
		"cache.read:cache:t/n/c/key", "cache.write:cache:t/n/c/room1/*", "cache.read:cache:t/n/c/user:1*",
		"cache.read:cache:t/n/c/a/b/c",
		"group.consume:stream:t/n/s", "group.consume:group:t/n/s/g", "group.manage:group:t/n/s/*",
		"group.manage:group:t/n/*/*",
		"ns.manage:namespace:t/n", "ns.manage:namespace:t/*", "tenant.manage:tenant:t",
		"tenant.manage:cluster:*",
		"rbac.view:tenant:t", "rbac.policy.manage:stream:t/n/s", "rbac.assignment.manage:group:t/n/s/g",
		"node.view:cluster:*", "node.manage:cluster:*", "node.manage:node:a-1", "token.delegate:tenant:t",
	} {
		if err := ValidatePermissions("t", []string{p}); err != nil {
			t.Errorf("%s: %v", p, err)
		}
	}
}

// The refused forms of rules P42, P43 and P47, and plain mistakes.
func TestPermissionsRefused(t *testing.T) {
	for _, p := range []string{
		"", ":", "stream.publish", "stream.publish:", "stream.publish:stream", "stream.fly:stream:t/n/s",
		"STREAM.PUBLISH:stream:t/n/s",
		"stream.publish:topic:t/n/s", "stream.publish:*",
		"tenant.manage:tenant:*", "tenant.manage:tenant:", "tenant.manage:tenant:u",
		"tenant.manage:tenant:t/n",
		"ns.manage:namespace:*", "ns.manage:namespace:*/n", "ns.manage:namespace:*/*",
		"ns.manage:namespace:u/n", "ns.manage:namespace:t",
		"ns.manage:namespace:t/", "ns.manage:namespace:t/n/s", "ns.manage:namespace:t/n*",
		"stream.publish:stream:*", "stream.publish:stream:*/*/*", "stream.publish:stream:t/*/s",
		"stream.publish:stream:t/*",
		"stream.publish:stream:t/n", "stream.publish:stream:t/n/", "stream.publish:stream:t/n/s/x",
		"stream.publish:stream:t/n/s*",
		"stream.publish:stream:u/n/s", "stream.publish:stream:t//s", "stream.publish:stream:t/n/.s",
		"stream.publish:stream:T/n/s",
		"cache.read:cache:t/*/c", "cache.read:cache:t/n/*/key", "cache.read:cache:t/*/c/key",
		"cache.read:cache:t/n/c/*",
		"cache.read:cache:t/n/c/a*b", "cache.read:cache:t/n/c/**", "cache.read:cache:t/n/c/a**",
		"cache.manage:cache:t/n/c/key",
		"cache.read:cache:t/n", "cache.read:cache:*/n/c",
		"group.consume:group:t/n/s", "group.consume:group:t/*/*/*", "group.consume:group:t/n/*/g",
		"group.consume:group:t/n/s/g/x",
		"node.view:cluster", "node.view:cluster:", "node.view:cluster:all", "node.view:cluster:**",
		"node.view:node:a", "node.view:node:*",
		"node.manage:node:*", "node.manage:node:", "node.manage:node:a/b",
		"stream.publish:cluster:*", "stream.publish:cache:t/n/c", "cache.read:stream:t/n/s",
		"node.view:tenant:t", "rbac.view:cluster:*",
		"rbac.view:node:a", "ns.manage:tenant:t", "stream.publish:stream:t/n/\xff",
	} {
		if err := ValidatePermissions("t", []string{"node.view:cluster:*", p}); !errors.Is(err, ErrPermission) {
			t.Errorf("%q: %v", p, err)
		}
	}
}

func TestPermissionLimits(t *testing.T) {
	if err := ValidatePermissions("t", nil); !errors.Is(err, ErrPermission) {
		t.Errorf("none: %v", err)
	}
	many := make([]string, maxPermissions+1)
	for i := range many {
		many[i] = "node.view:cluster:*"
	}
	if err := ValidatePermissions("t", many[1:]); err != nil {
		t.Errorf("as many as allowed: %v", err)
	}
	if err := ValidatePermissions("t", many); !errors.Is(err, ErrPermission) {
		t.Errorf("too many: %v", err)
	}
	long := "cache.read:cache:t/n/c/" + strings.Repeat("k", maxPermissionBytes)
	if err := ValidatePermissions("t", []string{long}); !errors.Is(err, ErrPermission) {
		t.Errorf("too long: %v", err)
	}
}
