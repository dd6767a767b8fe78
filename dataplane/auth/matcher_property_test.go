package auth

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// reference answers one question by walking the list of permissions, written from the rules and sharing
// nothing with the Matcher. object is kind, names below the tenant, and for keys the key; prefix asks for
// every key that starts with it.
func reference(permissions []string, action, kind string, names []string, prefix bool) bool {
	implied := map[string][]string{
		"group.consume": {"stream.subscribe"}, "group.manage": {"stream.manage"},
	}
	narrowed := slices.ContainsFunc(permissions, func(p string) bool {
		return kind == "group" && !strings.HasSuffix(p, "*") &&
			strings.HasPrefix(p, action+":group:t/"+names[0]+"/"+names[1]+"/")
	})
	covers := func(object string) bool {
		of, path, _ := strings.Cut(object, ":")
		limit := 3
		if of == "cache" {
			limit = 4
		}
		seg := strings.SplitN(path, "/", limit)[1:]
		for i, s := range seg {
			switch {
			case of == "cache" && i == 2 && strings.HasSuffix(s, "*"):
				return strings.HasPrefix(names[2], strings.TrimSuffix(s, "*"))
			case of == "cache" && i == 2:
				return !prefix && names[2] == s
			case s != "*" && s != names[i]:
				return false
			}
		}
		return true
	}
	for _, p := range permissions {
		a, object, _ := strings.Cut(p, ":")
		of, path, _ := strings.Cut(object, ":")
		switch a {
		case "ns.manage", "tenant.manage":
			if of == "tenant" || of == "namespace" && (path == "t/*" || path == "t/"+names[0]) {
				return true
			}
		case action:
			wide := of == "stream" || of == "cache"
			if wide && covers(object) && !narrowed {
				return true
			}
			if g := strings.Split(path, "/"); of == "group" && g[1] == names[0] && (g[2] == "*" || g[2] == names[1]) {
				if g[3] == "*" && !narrowed || g[3] != "*" && g[3] == names[2] {
					return true
				}
			}
		default:
			if slices.Contains(implied[action], a) && covers(object) && !narrowed {
				return true
			}
		}
	}
	return false
}

// TestMatcherAgainstReference compares decisions over random permissions from a small world, so that grants
// overlap.
func TestMatcherAgainstReference(t *testing.T) {
	names := rapid.SampledFrom([]string{"a", "ab", "b"})
	key := rapid.StringMatching(`[ab/]{0,4}`)
	path := rapid.Custom(func(t *rapid.T) string {
		ns, name := names.Draw(t, "ns"), names.Draw(t, "name")
		return rapid.SampledFrom([]string{"t/" + ns + "/" + name, "t/" + ns + "/*", "t/*/*"}).Draw(t, "path")
	})
	permission := rapid.Custom(func(t *rapid.T) string {
		ns, name := names.Draw(t, "ns"), names.Draw(t, "name")
		data := func(kind string) string {
			return rapid.SampledFrom([]string{kind + ".read", kind + ".write"}).Draw(t, "op")
		}
		of := func(kind string) string {
			return rapid.SampledFrom([]string{kind + ".consume", kind + ".manage"}).Draw(t, "op")
		}
		switch rapid.IntRange(0, 9).Draw(t, "form") {
		case 0:
			return "ns.manage:namespace:t/" + ns
		case 1:
			return "stream.publish:stream:" + path.Draw(t, "p")
		case 2:
			return "stream.subscribe:stream:" + path.Draw(t, "p")
		case 3:
			return "stream.manage:stream:" + path.Draw(t, "p")
		case 4:
			return data("cache") + ":cache:" + path.Draw(t, "p")
		case 5:
			return data("cache") + ":cache:t/" + ns + "/" + name + "/" + key.Draw(t, "key")
		case 6:
			return data("cache") + ":cache:t/" + ns + "/" + name + "/" + key.Draw(t, "key") + "a*"
		case 7:
			return of("group") + ":group:t/" + ns + "/" + name + "/" + names.Draw(t, "group")
		case 8:
			return of("group") + ":group:t/" + ns + "/" + rapid.SampledFrom([]string{name, "*"}).Draw(t, "s") + "/*"
		default:
			return of("group") + ":stream:" + path.Draw(t, "p")
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		permissions := rapid.SliceOfN(permission, 0, 8).Draw(t, "permissions")
		m, err := Compile("t", permissions)
		if err != nil {
			t.Fatal(err)
		}
		ask := rapid.SampledFrom([]string{"a", "ab", "b", "*", ""})
		for range 30 {
			n := []string{ask.Draw(t, "ns"), ask.Draw(t, "name"), ""}
			ns, name := []byte(n[0]), []byte(n[1])
			for a, kind := range map[Action]string{
				StreamPublish: "stream", StreamSubscribe: "stream", StreamManage: "stream",
				GroupConsume: "group", GroupManage: "group", CacheRead: "cache", CacheWrite: "cache",
			} {
				n[2] = rapid.OneOf(ask, key).Draw(t, "leaf")
				leaf := []byte(n[2])
				var got bool
				switch kind {
				case "stream":
					got = m.AllowStream(a, ns, name)
				case "group":
					got = m.AllowGroup(a, ns, name, leaf)
				case "cache":
					got = m.AllowCacheKey(a, ns, name, leaf)
					want := reference(permissions, a.String(), kind, n, true)
					if p := m.AllowCachePrefix(a, ns, name, leaf); p != want {
						t.Fatalf("%q: %s on prefix %q: %t, want %t", permissions, a, n, p, want)
					}
				}
				if want := reference(permissions, a.String(), kind, n, false); got != want {
					t.Fatalf("%q: %s on %s %q: %t, want %t", permissions, a, kind, n, got, want)
				}
			}
		}
	})
}
