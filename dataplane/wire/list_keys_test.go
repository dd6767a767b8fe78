package wire

import (
	"bytes"
	"errors"
	"testing"
)

// Golden frames of our own extension: docs/wire-extensions.md shows the same bytes.
var (
	goldenListKeys = "464c5831 0001 8000 0000002b 10 0000000000000007 0002 7431 0007 64656661756c74 0004 64656d6f " +
		"00000001 61 00000002 6162 00000064"
	goldenListKeysAnswer  = "464c5831 0001 8000 0000001a 11 0000000000000007 00 01 00000002 00000001 61 00000002 6263"
	goldenListKeysRefused = "464c5831 0001 8000 00000012 11 0000000000000007 01 0003 02 0003 6e6f21"
)

func listKeysExample() ListKeys {
	return ListKeys{RequestID: 7, Tenant: []byte("t1"), Namespace: []byte("default"), Cache: []byte("demo"),
		Prefix: []byte("a"), Cursor: []byte("ab"), Limit: 100}
}

func equalListKeys(tb testing.TB, got, want *ListKeys) {
	tb.Helper()
	if got.RequestID != want.RequestID || got.Limit != want.Limit || !bytes.Equal(got.Tenant, want.Tenant) ||
		!bytes.Equal(got.Namespace, want.Namespace) || !bytes.Equal(got.Cache, want.Cache) ||
		!bytes.Equal(got.Prefix, want.Prefix) || !bytes.Equal(got.Cursor, want.Cursor) {
		tb.Fatalf("request %+v, want %+v", got, want)
	}
}

func TestGoldenListKeys(t *testing.T) {
	q, want := listKeysExample(), unhex(t, goldenListKeys)
	equalFrame(t, AppendListKeys(nil, &q), want)
	flags, payload := payloadOf(t, want)
	if flags != FlagExtension {
		t.Fatalf("flags %#x", flags)
	}
	if kind, err := ParseExtensionKind(payload); err != nil || kind != ExtensionListKeys {
		t.Fatalf("kind %#x, %v", kind, err)
	}
	var got ListKeys
	if err := ParseListKeys(payload, &got); err != nil {
		t.Fatal(err)
	}
	equalListKeys(t, &got, &q)
}

func TestGoldenListKeysAnswer(t *testing.T) {
	want := unhex(t, goldenListKeysAnswer)
	equalFrame(t, AppendListKeysAnswer(nil, 7, true, [][]byte{[]byte("a"), []byte("bc")}), want)
	var a ListKeysAnswer
	if err := ParseListKeysAnswer(want[HeaderLen:], &a); err != nil {
		t.Fatal(err)
	}
	first, rest, _ := NextRecord(a.Keys)
	second, rest, _ := NextRecord(rest)
	if a.RequestID != 7 || !a.OK || !a.More || a.Count != 2 || string(first) != "a" ||
		string(second) != "bc" ||
		len(rest) != 0 {
		t.Fatalf("parsed %+v", a)
	}

	want = unhex(t, goldenListKeysRefused)
	equalFrame(t, AppendListKeysRefused(nil, 7, &Refusal{Code: CodeNotFound, Message: "no!"}), want)
	if err := ParseListKeysAnswer(want[HeaderLen:], &a); err != nil {
		t.Fatal(err)
	}
	if a.RequestID != 7 || a.OK || a.Code != CodeNotFound || a.Class != ClassRetryAfter ||
		string(a.Message) != "no!" ||
		a.Keys != nil || a.More {
		t.Fatalf("parsed %+v", a)
	}
}

func TestParseListKeysMalformed(t *testing.T) {
	id := "\x00\x00\x00\x00\x00\x00\x00\x09"
	requests := []struct {
		name, payload string
		err           error
	}{
		{"empty", "", ErrTruncated},
		{"answer", "\x11" + id, ErrExtensionKind},
		{"unknown kind", "\xff" + id, ErrExtensionKind},
		{"tenant not UTF-8", "\x10" + id + "\x00\x01\xff", ErrNotUTF8},
		{"prefix not UTF-8", "\x10" + id + "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\xff", ErrNotUTF8},
		{"largest prefix", "\x10" + id + "\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff", ErrTruncated},
	}
	for _, c := range requests {
		var q ListKeys
		if err := ParseListKeys([]byte(c.payload), &q); !errors.Is(err, c.err) {
			t.Errorf("request, %s: %v, want %v", c.name, err, c.err)
		}
	}
	answers := []struct {
		name, payload string
		err           error
	}{
		{"empty", "", ErrTruncated},
		{"request", "\x10" + id, ErrExtensionKind},
		{"status 2", "\x11" + id + "\x02", ErrStatus},
		{"more 2", "\x11" + id + "\x00\x02\x00\x00\x00\x00", ErrStatus},
		{"lying count", "\x11" + id + "\x00\x00\x00\x00\x00\x01", ErrCount},
		{"lying length", "\x11" + id + "\x00\x00\x00\x00\x00\x01\x00\x00\x00\x02a", ErrTruncated},
		{"key not UTF-8", "\x11" + id + "\x00\x00\x00\x00\x00\x01\x00\x00\x00\x01\xff", ErrNotUTF8},
		{"message not UTF-8", "\x11" + id + "\x01\x00\x03\x02\x00\x01\xff", ErrNotUTF8},
	}
	for _, c := range answers {
		var a ListKeysAnswer
		if err := ParseListKeysAnswer([]byte(c.payload), &a); !errors.Is(err, c.err) {
			t.Errorf("answer, %s: %v, want %v", c.name, err, c.err)
		}
	}
}

func TestParseListKeysTruncatedAtEveryByte(t *testing.T) {
	payload := unhex(t, goldenListKeys)[HeaderLen:]
	for n := range payload {
		var q ListKeys
		if err := ParseListKeys(payload[:n:n], &q); err != ErrTruncated {
			t.Fatalf("the first %d of %d bytes: %v", n, len(payload), err)
		}
		if n >= 9 && q.RequestID != 7 {
			t.Fatalf("after %d bytes the request id is %d", n, q.RequestID)
		}
	}
	for _, golden := range []string{goldenListKeysAnswer, goldenListKeysRefused} {
		payload := unhex(t, golden)[HeaderLen:]
		for n := range payload {
			var a ListKeysAnswer
			if err := ParseListKeysAnswer(payload[:n:n], &a); err == nil {
				t.Fatalf("the first %d of %d bytes parsed", n, len(payload))
			}
		}
	}
}
