package wire

import (
	"bytes"
	"errors"
	"testing"
)

// equalBatch compares two batches field by field.
func equalBatch(tb testing.TB, got, want *EventBatch) {
	tb.Helper()
	if got.HasSubscription != want.HasSubscription || got.Subscription != want.Subscription ||
		got.HasOffsets != want.HasOffsets || got.Base != want.Base ||
		got.HasSkipped != want.HasSkipped || got.Skipped != want.Skipped ||
		got.HasPublisher != want.HasPublisher || !bytes.Equal(got.Publisher, want.Publisher) ||
		got.Timestamps != want.Timestamps || got.Count != want.Count ||
		!bytes.Equal(got.Records, want.Records) {
		tb.Fatalf("batch %+v, want %+v", got, want)
	}
}

func TestEventBatchRecords(t *testing.T) {
	batch := goldenBatch(EventBatch{})
	a, rest, ok := NextRecord(batch.Records)
	bc, rest, ok2 := NextRecord(rest)
	if !ok || !ok2 || string(a) != "a" || string(bc) != "bc" || len(rest) != 0 {
		t.Fatalf("records %q, %q, %d bytes left", a, bc, len(rest))
	}
	if _, _, ok := NextRecord(rest); ok {
		t.Fatal("a third record")
	}
	batch = goldenBatch(EventBatch{Timestamps: true})
	micros, a, rest, ok := NextTimedRecord(batch.Records)
	if !ok || micros != 0x00060a24181e4000 || string(a) != "a" {
		t.Fatalf("record %q at %d", a, micros)
	}
	if micros, bc, rest, ok = NextTimedRecord(rest); !ok || micros != 0x00060a24181e4000 ||
		string(bc) != "bc" {
		t.Fatalf("record %q at %d", bc, micros)
	}
	if _, _, _, ok = NextTimedRecord(rest); ok {
		t.Fatal("a third record")
	}
}

func TestNextRecordShort(t *testing.T) {
	for _, b := range []string{"", "\x00", "\x00\x00\x00", "\x00\x00\x00\x01", "\xff\xff\xff\xffabc"} {
		if rec, _, ok := NextRecord([]byte(b)); ok {
			t.Errorf("NextRecord(%q) = %q", b, rec)
		}
		if _, rec, _, ok := NextTimedRecord(append(make([]byte, 8), b...)); ok {
			t.Errorf("NextTimedRecord(%q) = %q", b, rec)
		}
	}
	if _, _, _, ok := NextTimedRecord(make([]byte, 7)); ok {
		t.Error("seven bytes hold no time")
	}
}

func TestParseEventBatchMalformed(t *testing.T) {
	cases := []struct {
		name    string
		flags   Flags
		payload string
		err     error
	}{
		{"both forms", 0x0006, "\x00\x00\x00\x00", ErrFlags},
		{"no form", FlagEventOffsets, "", ErrFlags},
		{"skipped without offsets", 0x0804, "\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00", ErrFlags},
		{"unknown bit", 0x8004, "\x00\x00\x00\x00", ErrFlags},
		{"publish bit", 0x0005, "\x00\x00\x00\x00", ErrFlags},
		{"lying count", 0x0004, "\x00\x00\x00\x02\x00\x00\x00\x00", ErrCount},
		{"largest count", 0x0004, "\xff\xff\xff\xff", ErrCount},
		{"count without room for times", 0x4004, "\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00", ErrCount},
		{"lying length", 0x0004, "\x00\x00\x00\x01\x00\x00\x00\x02a", ErrTruncated},
		{"lying length with time", 0x4004,
			"\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02a", ErrTruncated},
		{"publisher longer than payload", 0x2004, "\x05abc", ErrTruncated},
		{"publisher not UTF-8", 0x2004, "\x01\xff\x00\x00\x00\x00", ErrNotUTF8},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var e EventBatch
			if err := ParseEventBatch(c.flags, []byte(c.payload), &e); !errors.Is(err, c.err) ||
				!IsMalformed(err) {
				t.Fatalf("error %v, want %v", err, c.err)
			}
		})
	}
}

func TestParseEventBatchTruncatedAtEveryByte(t *testing.T) {
	for _, c := range goldenEvents {
		flags, payload := payloadOf(t, unhex(t, c.hex))
		for n := range payload {
			var e EventBatch
			if err := ParseEventBatch(flags, payload[:n:n], &e); err == nil {
				t.Fatalf("%s: the first %d of %d bytes parsed", c.name, n, len(payload))
			}
		}
		var e EventBatch
		if err := ParseEventBatch(flags, append(bytes.Clone(payload), "trailing"...), &e); err != nil {
			t.Fatal(err)
		}
		batch := goldenBatch(c.batch)
		equalBatch(t, &e, &batch)
	}
}

func TestEventBatchWithoutOffsetsSkipsNothing(t *testing.T) {
	e := EventBatch{HasSkipped: true, Skipped: 4}
	if f := e.Flags(); f != FlagEventBatchShared {
		t.Fatalf("flags %#04x", f)
	}
	if _, payload := payloadOf(t, AppendEventBatch(nil, &e)); len(payload) != 4 {
		t.Fatalf("payload %x", payload)
	}
}
