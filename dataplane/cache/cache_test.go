package cache

import (
	"strings"
	"testing"
	"time"
)

func TestPutGetDelete(t *testing.T) {
	f := newFixture(t, Config{})
	c := f.Open(1, 1)
	wantAbsent(t, c, "k")
	v1 := mustPut(t, c, "k", "one", NoExpiry)
	wantValue(t, c, "k", "one", v1)
	v2 := mustPut(t, c, "k", "two", NoExpiry)
	if v2 <= v1 {
		t.Errorf("version %d after %d", v2, v1)
	}
	wantValue(t, c, "k", "two", v2)
	mustAudit(t, f)
	removed, ok := c.Delete([]byte("k"))
	if !ok || string(removed.Ref.Bytes()) != "two" || removed.Version != v2 {
		t.Fatalf("delete: %v, %v", removed, ok)
	}
	removed.Ref.Release()
	if _, ok := c.Delete([]byte("k")); ok {
		t.Error("deleted twice")
	}
	wantAbsent(t, c, "k")
	mustAudit(t, f)
	if c.Len() != 0 || c.Bytes() != 0 {
		t.Errorf("%d entries, %d bytes", c.Len(), c.Bytes())
	}
}

func TestZeroLengthValueIsNotAbsent(t *testing.T) {
	f := newFixture(t, Config{})
	c := f.Open(1, 1)
	for _, key := range []string{"", "k"} {
		mustPut(t, c, key, "", NoExpiry)
		v, ok := c.Get([]byte(key))
		if !ok || !v.Ref.Valid() || len(v.Ref.Bytes()) != 0 {
			t.Fatalf("get %q: %v", key, ok)
		}
		v.Ref.Release()
		v, ok = c.Delete([]byte(key))
		if !ok || len(v.Ref.Bytes()) != 0 {
			t.Fatalf("delete %q: %v", key, ok)
		}
		v.Ref.Release()
		wantAbsent(t, c, key)
	}
}

// K11: the empty key is a key for every operation, and its prefix is every key.
func TestEmptyKey(t *testing.T) {
	f := newFixture(t, Config{})
	c := f.Open(1, 1)
	version := mustPut(t, c, "", "nothing", NoExpiry)
	mustPut(t, c, "a", "letter", NoExpiry)
	wantValue(t, c, "", "nothing", version)
	wantKeys(t, c, "", "a")
	if current, r := c.PutIf(nil, []byte("x"), NoExpiry, Condition{Absent: true}); r != Refused || current != version {
		t.Errorf("put-if absent on the empty key: %d, %d", current, r)
	}
	if _, r := c.DeleteIf([]byte{}, version); r != Applied {
		t.Errorf("delete-if on the empty key: %d", r)
	}
	wantAbsent(t, c, "")
	wantKeys(t, c, "a")
}

// Keys are bytes: nothing is normalised, cut or joined.
func TestKeysAreByteExact(t *testing.T) {
	f := newFixture(t, Config{})
	c := f.Open(1, 1)
	keys := []string{"", "\x00", "\x00\x00", "a", "a\x00", "a\n", "A", "ø", "o\u0338", "\u00e9", "e\u0301", "𝄞",
		"*", ">", "a/b", "a//b", "../x", strings.Repeat("k", 65535), strings.Repeat("k", 65534)}
	for i, k := range keys {
		mustPut(t, c, k, strings.Repeat("v", i), NoExpiry)
	}
	for i, k := range keys {
		wantValue(t, c, k, strings.Repeat("v", i), 0)
	}
	if n := c.Len(); n != int64(len(keys)) {
		t.Errorf("%d entries for %d keys", n, len(keys))
	}
	// A key and a value that meet in their block must not be mistaken for another pair.
	mustPut(t, c, "xy", "z", NoExpiry)
	wantAbsent(t, c, "y")
	wantAbsent(t, c, "zxy")
	mustAudit(t, f)
}

func TestArgumentsAreCopied(t *testing.T) {
	f := newFixture(t, Config{})
	c := f.Open(1, 1)
	key, value := []byte("key"), []byte("value")
	c.Put(key, value, NoExpiry)
	copy(key, "xxx")
	copy(value, "yyyyy")
	wantValue(t, c, "key", "value", 0)
}

// A value that a reader holds outlives replacement, deletion, expiry, eviction, the cache and the store.
func TestHeldValueStaysValid(t *testing.T) {
	for name, end := range map[string]func(*fixture, *Cache){
		"overwrite": func(f *fixture, c *Cache) { c.Put([]byte("k"), []byte("other"), NoExpiry) },
		"delete":    func(f *fixture, c *Cache) { c.DeleteIf([]byte("k"), f.version.Load()) },
		"expiry":    func(f *fixture, c *Cache) { f.clock.Advance(time.Minute); f.sweep() },
		"eviction":  func(f *fixture, c *Cache) { c.Put([]byte("big"), make([]byte, 600), NoExpiry) },
		"drop":      func(f *fixture, c *Cache) { f.Drop(1, 1) },
		"close":     func(f *fixture, c *Cache) { f.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, Config{MaxBytes: 1000})
			c := f.Open(1, 1)
			mustPut(t, c, "k", "held", mustTTL(1000))
			v, ok := c.Get([]byte("k"))
			if !ok {
				t.Fatal("absent")
			}
			end(f, c)
			if again, ok := c.Get([]byte("k")); ok {
				if string(again.Ref.Bytes()) != "other" {
					t.Errorf("still there: %q", again.Ref.Bytes())
				}
				again.Ref.Release()
			}
			// Fill freed blocks with something else.
			other := f.Open(2, 1)
			for range 8 {
				other.Put([]byte("k"), []byte("xxxx"), NoExpiry)
			}
			if string(v.Ref.Bytes()) != "held" {
				t.Errorf("held value turned into %q", v.Ref.Bytes())
			}
			v.Ref.Release()
		})
	}
}

// K4: each put replaces the expiry with its own.
func TestPutReplacesExpiry(t *testing.T) {
	for name, again := range map[string]func(c *Cache, value string, ttl TTL){
		"put": func(c *Cache, value string, ttl TTL) { c.Put([]byte("k"), []byte(value), ttl) },
		"put-if": func(c *Cache, value string, ttl TTL) {
			v, _ := c.Get([]byte("k"))
			v.Ref.Release()
			c.PutIf([]byte("k"), []byte(value), ttl, Condition{Version: v.Version})
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, Config{})
			c := f.Open(1, 1)
			mustPut(t, c, "k", "v1", mustTTL(2000))
			again(c, "v2", NoExpiry)
			f.clock.Advance(3 * time.Second)
			f.sweep()
			wantValue(t, c, "k", "v2", 0)

			again(c, "v3", mustTTL(2000))
			f.clock.Advance(1999 * time.Millisecond)
			wantValue(t, c, "k", "v3", 0)
			again(c, "v4", mustTTL(2000))
			f.clock.Advance(1999 * time.Millisecond)
			wantValue(t, c, "k", "v4", 0)
			f.clock.Advance(time.Millisecond)
			wantAbsent(t, c, "k")
			mustAudit(t, f)
		})
	}
}

func TestExpiredIsAbsentEverywhere(t *testing.T) {
	f := newFixture(t, Config{})
	c := f.Open(1, 1)
	put := func() uint64 { return mustPut(t, c, "k", "v", mustTTL(1)) }
	put()
	f.clock.Advance(time.Millisecond)

	wantAbsent(t, c, "k")
	wantKeys(t, c)
	if _, ok := c.Delete([]byte("k")); ok {
		t.Error("delete returned an expired value")
	}
	version := put()
	f.clock.Advance(time.Millisecond)
	if current, r := c.DeleteIf([]byte("k"), version); r != Refused || current != 0 {
		t.Errorf("delete-if: %d, %d", current, r)
	}
	version = put()
	f.clock.Advance(time.Millisecond)
	if current, r := c.PutIf([]byte("k"), nil, NoExpiry, Condition{Version: version}); r != Refused || current != 0 {
		t.Errorf("put-if version: %d, %d", current, r)
	}
	if v, r := c.PutIf([]byte("k"), []byte("new"), NoExpiry, Condition{Absent: true}); r != Applied || v <= version {
		t.Errorf("put-if absent: %d, %d", v, r)
	}
	wantValue(t, c, "k", "new", 0)
	if n := f.stats.Snapshot()["felix_cache_expired_total"]; n != 3 {
		t.Errorf("%d entries counted as expired, want 3", n)
	}
	mustAudit(t, f)
}

// K14: the wall clock has no say over lifetimes, and what remains is never negative.
func TestWallStepsChangeNoLifetime(t *testing.T) {
	f := newFixture(t, Config{})
	c := f.Open(1, 1)
	mustPut(t, c, "k", "v", mustTTL(60_000))
	mustPut(t, c, "gone", "v", mustTTL(1000))
	f.clock.Advance(time.Second)
	v, _ := c.Get([]byte("k"))
	defer v.Ref.Release()
	const year = 365 * 24 * time.Hour
	for _, step := range []time.Duration{time.Hour, -2 * time.Hour, 10 * year, -20 * year} {
		f.clock.StepWall(step)
		wantValue(t, c, "k", "v", 0)
		wantAbsent(t, c, "gone")
		f.sweep()
		wantValue(t, c, "k", "v", 0)
		wantAbsent(t, c, "gone")
		if left, has := v.Remaining(f.clock.Boot()); !has || left != 59*time.Second {
			t.Errorf("after a step of %v: %v left", step, left)
		}
	}
	f.clock.Advance(59 * time.Second)
	wantAbsent(t, c, "k")
	f.clock.Advance(time.Hour)
	if left, has := v.Remaining(f.clock.Boot()); !has || left != 0 {
		t.Errorf("%v left of an expired value", left)
	}
	f.clock.StepWall(-3 * time.Hour)
	wantAbsent(t, c, "k")
	if _, has := (Value{}).Remaining(f.clock.Boot()); has {
		t.Error("a value without expiry has time left")
	}
}

// K15: a put-if as a lock keeps exactly one holder whatever the wall clock does.
func TestLockSurvivesWallSteps(t *testing.T) {
	for _, step := range []time.Duration{-10 * time.Second, 10 * time.Second, -24 * time.Hour} {
		f := newFixture(t, Config{})
		c := f.Open(1, 1)
		lock := func(who string) (uint64, Result) {
			return c.PutIf([]byte("lock"), []byte(who), mustTTL(5000), Condition{Absent: true})
		}
		mine, r := lock("a")
		if r != Applied {
			t.Fatalf("first taker: %d", r)
		}
		f.clock.Advance(3 * time.Second)
		f.clock.StepWall(step)
		if holder, r := lock("b"); r != Refused || holder != mine {
			t.Errorf("step %v: second taker: %d, %d", step, holder, r)
		}
		f.clock.Advance(2 * time.Second)
		theirs, r := lock("b")
		if r != Applied || theirs <= mine {
			t.Errorf("step %v: after expiry: %d, %d", step, theirs, r)
		}
		if current, r := c.DeleteIf([]byte("lock"), mine); r != Refused || current != theirs {
			t.Errorf("step %v: old holder deletes: %d, %d", step, current, r)
		}
		current, r := c.PutIf([]byte("lock"), nil, NoExpiry, Condition{Version: mine})
		if r != Refused || current != theirs {
			t.Errorf("step %v: old holder renews: %d, %d", step, current, r)
		}
	}
}

func TestConditions(t *testing.T) {
	f := newFixture(t, Config{})
	c := f.Open(1, 1)
	k := []byte("k")
	for _, condition := range []Condition{{Version: 0}, {Version: 1}, {Version: f.version.Load()}} {
		if current, r := c.PutIf(k, []byte("v"), NoExpiry, condition); r != Refused || current != 0 {
			t.Errorf("%+v on an absent key: %d, %d", condition, current, r)
		}
	}
	v1, r := c.PutIf(k, []byte("one"), NoExpiry, Condition{Absent: true})
	if r != Applied {
		t.Fatalf("absent: %d", r)
	}
	if current, r := c.PutIf(k, []byte("x"), NoExpiry, Condition{Version: v1 + 1}); r != Refused || current != v1 {
		t.Errorf("future version: %d, %d", current, r)
	}
	v2, r := c.PutIf(k, []byte("two"), NoExpiry, Condition{Version: v1})
	if r != Applied || v2 <= v1 {
		t.Errorf("version: %d, %d", v2, r)
	}
	wantValue(t, c, "k", "two", v2)
	if current, r := c.DeleteIf(k, v1); r != Refused || current != v2 {
		t.Errorf("delete-if old version: %d, %d", current, r)
	}
	if current, r := c.DeleteIf(k, v2); r != Applied || current != 0 {
		t.Errorf("delete-if: %d, %d", current, r)
	}
	if current, r := c.DeleteIf(k, v2); r != Refused || current != 0 {
		t.Errorf("delete-if again: %d, %d", current, r)
	}
	// A deleted key's versions are not used again.
	v3, r := c.PutIf(k, []byte("three"), NoExpiry, Condition{Absent: true})
	if r != Applied || v3 <= v2 {
		t.Errorf("absent after delete: %d, %d", v3, r)
	}
}

func TestVersionsStartAtWallClock(t *testing.T) {
	f := newFixture(t, Config{})
	if v := mustPut(t, f.Open(1, 1), "k", "v", NoExpiry); v != uint64(began.UnixMicro())+1 {
		t.Errorf("first version %d, began %d", v, began.UnixMicro())
	}
	// A machine without a set clock must not hand out version 0.
	old := openFixture(Config{})
	old.Close()
	early := openFixture(Config{Clock: stoppedClock{old.clock}})
	if v := mustPut(t, early.Open(1, 1), "k", "v", NoExpiry); v != 1 {
		t.Errorf("first version %d before 1970", v)
	}
	if err := early.end(); err != nil {
		t.Error(err)
	}
}

func TestCachesAreApart(t *testing.T) {
	f := newFixture(t, Config{})
	a, b := f.Open(1, 1), f.Open(2, 1)
	if f.Open(1, 1) != a {
		t.Error("the same identity opens another cache")
	}
	mustPut(t, a, "k", "a", NoExpiry)
	mustPut(t, b, "k", "b", NoExpiry)
	wantValue(t, a, "k", "a", 0)
	wantValue(t, b, "k", "b", 0)
	f.Drop(2, 1)
	f.Drop(2, 1)
	f.Drop(3, 1)
	wantValue(t, a, "k", "a", 0)
	wantAbsent(t, b, "k")
	mustAudit(t, f)
}

func TestRecreatedCacheStartsEmpty(t *testing.T) {
	f := newFixture(t, Config{})
	old := f.Open(7, 1)
	for i := range 1000 {
		mustPut(t, old, strings.Repeat("k", i), "v", NoExpiry)
	}
	last := f.version.Load()
	f.Drop(7, 1)
	if n := f.arena.Outstanding(); n != 0 || f.used.Load() != 0 {
		t.Errorf("%d blocks, %d bytes after Drop", n, f.used.Load())
	}
	again := f.Open(7, 2)
	wantAbsent(t, again, "k")
	if v := mustPut(t, again, "k", "v", NoExpiry); v <= last {
		t.Errorf("version %d is reused", v)
	}
	// A late writer to the old incarnation changes nothing.
	if _, r := old.Put([]byte("late"), nil, NoExpiry); r != Gone {
		t.Errorf("put to a dropped cache: %d", r)
	}
	if _, r := old.PutIf([]byte("late"), nil, NoExpiry, Condition{Absent: true}); r != Gone {
		t.Errorf("put-if to a dropped cache: %d", r)
	}
	wantAbsent(t, old, "k")
	wantKeys(t, old)
	mustAudit(t, f)
}

func TestClosedStoreHoldsNothing(t *testing.T) {
	f := newFixture(t, Config{})
	c := f.Open(1, 1)
	mustPut(t, c, "k", "v", NoExpiry)
	f.Close()
	f.Close()
	for _, c := range []*Cache{c, f.Open(1, 1), f.Open(2, 1)} {
		wantAbsent(t, c, "k")
		if _, r := c.Put([]byte("k"), nil, NoExpiry); r != Gone {
			t.Errorf("put after Close: %d", r)
		}
		if _, r := c.DeleteIf([]byte("k"), 1); r != Refused {
			t.Errorf("delete-if after Close: %d", r)
		}
	}
}

func TestNewRefusesBadConfig(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("New accepted a configuration without an arena")
		}
	}()
	New(Config{})
}

func TestCounters(t *testing.T) {
	f := newFixture(t, Config{MaxBytes: 600, Policy: PolicyNone})
	c := f.Open(1, 1)
	mustPut(t, c, "k", "v", mustTTL(1))
	wantValue(t, c, "k", "v", 0)
	wantAbsent(t, c, "other")
	if _, r := c.Put([]byte("big"), make([]byte, 600), NoExpiry); r != Full {
		t.Fatalf("big put: %d", r)
	}
	want := map[string]int64{
		"felix_cache_hits_total": 1, "felix_cache_misses_total": 1, "felix_cache_refused_total": 1,
		"felix_cache_evictions_total": 0, "felix_cache_expired_total": 0,
		"felix_cache_entries": 1, "felix_cache_bytes": 2 + EntryOverhead, "felix_cache_limit_bytes": 600,
	}
	got := f.stats.Snapshot()
	for name, n := range want {
		if v, ok := got[name]; !ok || v != n {
			t.Errorf("%s is %d, want %d", name, v, n)
		}
	}
	f.clock.Advance(time.Second)
	f.sweep()
	got = f.stats.Snapshot()
	if got["felix_cache_expired_total"] != 1 || got["felix_cache_entries"] != 0 || got["felix_cache_bytes"] != 0 {
		t.Errorf("after the sweep: %v", got)
	}
}
