package wire

import (
	"bytes"
	"testing"
)

func TestHeader(t *testing.T) {
	want := Header{Flags: 0x0149, Length: 0xFFFFFFFF}
	b := AppendHeader([]byte("x"), want.Flags, int(want.Length))[1:]
	if got, err := ParseHeader(append(b, "behind"...)); err != nil || got != want {
		t.Fatalf("parsed %+v, %v; want %+v", got, err, want)
	}
	put := bytes.Repeat([]byte{0xEE}, HeaderLen+1)
	PutHeader(put, want.Flags, int(want.Length))
	if !bytes.Equal(put[:HeaderLen], b[:HeaderLen]) || put[HeaderLen] != 0xEE {
		t.Fatalf("PutHeader wrote %x, AppendHeader %x", put, b)
	}
}

func TestParseHeaderMalformed(t *testing.T) {
	good := AppendHeader(nil, 0, 5)
	for n := range good {
		if _, err := ParseHeader(good[:n:n]); err != ErrShortHeader {
			t.Fatalf("%d bytes: %v", n, err)
		}
	}
	for i, want := range []error{ErrBadMagic, ErrBadMagic, ErrBadMagic, ErrBadMagic, ErrBadVersion,
		ErrBadVersion} {
		bad := bytes.Clone(good)
		bad[i] ^= 0x40
		if _, err := ParseHeader(bad); err != want || IsMalformed(err) {
			t.Fatalf("byte %d changed: %v, want %v", i, err, want)
		}
	}
}

func TestFlagCombinations(t *testing.T) {
	publish := map[Flags]bool{0x0001: true, 0x0041: true, 0x0009: true, 0x0049: true, 0x0109: true,
		0x0149: true}
	for v := 0; v <= 0xFFFF; v++ {
		f := Flags(v)
		if f.IsPublish() != publish[f] {
			t.Fatalf("IsPublish(%#04x) = %v", v, f.IsPublish())
		}
		if want := publish[f] || v == 0 || v == 0x8000; f.ValidFromClient() != want {
			t.Fatalf("ValidFromClient(%#04x) = %v", v, f.ValidFromClient())
		}
		wantAck := f.Has(0x0010) && f&^0x1690 == 0 && (!f.Has(0x0400) || f.Has(0x0200))
		if f.IsPublishAck() != wantAck {
			t.Fatalf("IsPublishAck(%#04x) = %v", v, f.IsPublishAck())
		}
		wantEvent := (f.Has(0x0002) != f.Has(0x0004)) && f&^0x6826 == 0 && (!f.Has(0x0800) || f.Has(0x0020))
		if f.IsEventBatch() != wantEvent {
			t.Fatalf("IsEventBatch(%#04x) = %v", v, f.IsEventBatch())
		}
	}
}

func TestFeatureWords(t *testing.T) {
	cases := []struct {
		lo, hi uint32
		want   Features
	}{
		{0, 0, 0},
		{0x7FFFFFFF, 15, 0x7FFFFFFF}, // No EXTENDED bit: the second word does not count.
		{0x80000001, 0, FeatureTopology | FeatureExtended},
		{0x80000001, 1, FeatureTopology | FeatureExtended | FeatureInspect},
		{4218945535, 15,
			4218945535 | FeatureInspect | FeatureStreamDeleted | FeaturePublishWidth | FeatureExplicitShard},
		{1 << 31, 1 << 31, FeatureExtended | FeatureBinaryCache},
		{1 << 31, 0xFF << 24, FeatureExtended | FeatureBinaryCache | FeatureMultiKeys | FeatureLossReports |
			FeaturePooledStreams | FeatureDelayed | FeatureIncarnation | FeatureCounterDedup |
			FeatureTokenRenewal},
	}
	for _, c := range cases {
		if got := FeaturesFromWords(c.lo, c.hi); got != c.want {
			t.Errorf("FeaturesFromWords(%#x, %#x) = %#x, want %#x", c.lo, c.hi, got, c.want)
		}
	}
	// The EXTENDED bit is never advertised on its own and never forgotten.
	if lo, hi := (FeatureTopology | FeatureExtended).Words(); lo != 1 || hi != 0 {
		t.Errorf("Words() = %#x, %#x", lo, hi)
	}
	if lo, hi := (FeatureTopology | FeatureMultiKeys).Words(); lo != 0x80000001 || hi != 1<<30 {
		t.Errorf("Words() = %#x, %#x", lo, hi)
	}
	if !Features(3).Has(FeatureTopology|FeatureRedirect) || Features(1).Has(FeatureTopology|FeatureRedirect) {
		t.Error("Has must ask for every bit")
	}
	// What the in-memory reference broker advertised (wire protocol section 7.3).
	want := FeatureCacheDelete | FeatureStreamShards | FeatureIdempotentProducer | FeatureCacheShards |
		FeatureErrorCodes | FeatureShardMoved | FeatureUnsupported | FeatureSequenceReused |
		FeaturePublishPipeline | FeatureStreamPublishWindow
	if want != 196132 {
		t.Errorf("reference features are %d, want 196132", want)
	}
}

func TestCodes(t *testing.T) {
	table := []struct {
		code  Code
		name  string
		class Class
	}{
		{1, "unauthenticated", ClassFatal}, {2, "forbidden", ClassFatal}, {3, "not_found", ClassRetryAfter},
		{4, "invalid_request", ClassFatal}, {5, "shard_unavailable", ClassRetry}, {6, "not_leader",
			ClassRedirect},
		{7, "quorum_timeout", ClassOutcomeUnknown}, {8, "leadership_lost", ClassOutcomeUnknown},
		{9, "unacknowledged", ClassOutcomeUnknown}, {10, "overloaded", ClassRetryAfter},
		{11, "limit_exceeded", ClassFatal}, {12, "draining", ClassRetry}, {13, "internal",
			ClassOutcomeUnknown},
		{14, "storage", ClassOutcomeUnknown}, {15, "stale_claim", ClassRetry}, {16, "revoked", ClassFatal},
		{17, "stale_width", ClassRetry},
	}
	for _, c := range table {
		if c.code.String() != c.name || c.code.DefaultClass() != c.class {
			t.Errorf("code %d is %s, %s", c.code, c.code, c.code.DefaultClass())
		}
		if got, ok := ParseCode([]byte(c.name)); !ok || got != c.code {
			t.Errorf("ParseCode(%s) = %d, %v", c.name, got, ok)
		}
	}
	for _, name := range []string{"", "unknown", "code_4", "Draining"} {
		if c, ok := ParseCode([]byte(name)); ok || c != CodeUnknown {
			t.Errorf("ParseCode(%q) = %d, %v", name, c, ok)
		}
	}
	if Code(900).String() != "code_900" || Code(900).DefaultClass() != ClassFatal {
		t.Errorf("code 900 is %s, %s", Code(900), Code(900).DefaultClass())
	}
	for c, name := range map[Class]string{1: "retry", 2: "retry_after", 3: "redirect", 4: "outcome_unknown",
		5: "fatal"} {
		if c.String() != name || ParseClass([]byte(name)) != c {
			t.Errorf("class %d is %s, parses to %d", c, c, ParseClass([]byte(name)))
		}
	}
	if ParseClass([]byte("default")) != ClassFatal || Class(9).String() != "fatal" {
		t.Error("an unknown class is fatal")
	}
}

func TestRefusalDefaults(t *testing.T) {
	if c := (&Refusal{Code: CodeOverloaded}).EffectiveClass(); c != ClassRetryAfter {
		t.Errorf("default class is %s", c)
	}
	if c := (&Refusal{Code: CodeOverloaded,
		Class: ClassOutcomeUnknown}).EffectiveClass(); c != ClassOutcomeUnknown {
		t.Errorf("explicit class is %s", c)
	}
	if c := (&Refusal{}).EffectiveClass(); c != CodeInternal.DefaultClass() {
		t.Errorf("a refusal without code has class %s", c)
	}
}
