package wire

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

const allAckFlags = FlagAckOwner | FlagAckCode | FlagAckDetail | FlagAckOffset

func TestAppendPublishAckHonoursOffers(t *testing.T) {
	failed := PublishAck{RequestID: 9, Refusal: Refusal{Code: CodeOverloaded, Message: "m", Reason: "r",
		RetryAfterMillis: 10}, HasOwner: true, OwnerNode: "n", HasOffset: true, Offset: 3}
	ok := PublishAck{RequestID: 9, OK: true, Refusal: failed.Refusal, HasOwner: true, HasOffset: true,
		Offset: 3}
	bare := PublishAck{RequestID: 9, Refusal: Refusal{Code: CodeForbidden}}
	waits := PublishAck{RequestID: 9, Refusal: Refusal{Code: CodeForbidden, RetryAfterMillis: 1}}
	cases := []struct {
		name string
		peer Flags
		ack  *PublishAck
		want Flags
	}{
		{"baseline, failed", BaselineFlags, &failed, 0x0010},
		{"code", FlagAckCode, &failed, 0x0210},
		{"detail without code", FlagAckDetail, &failed, 0x0010},
		{"code and detail", FlagAckCode | FlagAckDetail, &failed, 0x0610},
		{"nothing to detail", FlagAckCode | FlagAckDetail, &bare, 0x0210},
		{"only a wait", FlagAckCode | FlagAckDetail, &waits, 0x0610},
		{"never an offset on a failure", allAckFlags, &failed, 0x0690},
		{"baseline, ok", BaselineFlags, &ok, 0x0010},
		{"never a code on a success", allAckFlags, &ok, 0x1090},
		{"offset only", FlagAckOffset, &ok, 0x1010},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			flags, payload := payloadOf(t, AppendPublishAck(nil, c.peer, c.ack))
			if flags != c.want {
				t.Fatalf("flags %#04x, want %#04x", flags, c.want)
			}
			var a PublishAck
			if err := ParsePublishAck(flags, payload, &a); err != nil {
				t.Fatal(err)
			}
			if a.RequestID != 9 || a.OK != c.ack.OK {
				t.Fatalf("parsed %+v", a)
			}
			if c.want.Has(FlagAckCode) && (a.Refusal.Code != c.ack.Refusal.Code || a.Refusal.Class == 0) {
				t.Fatalf("parsed %+v", a.Refusal)
			}
		})
	}
}

func TestPublishAckNeverSendsCodeZero(t *testing.T) {
	flags, payload := payloadOf(t, AppendPublishAck(nil, FlagAckCode,
		&PublishAck{Refusal: Refusal{Message: "x"}}))
	var a PublishAck
	if err := ParsePublishAck(flags, payload, &a); err != nil {
		t.Fatal(err)
	}
	if a.Refusal.Code != CodeInternal || a.Refusal.Class != ClassOutcomeUnknown {
		t.Fatalf("parsed %+v", a.Refusal)
	}
}

func TestPublishAckClipsTexts(t *testing.T) {
	long := strings.Repeat("x", MaxNameBytes-1) + "é"
	ack := PublishAck{Refusal: Refusal{Code: CodeInternal, Message: long, Reason: long}}
	flags, payload := payloadOf(t, AppendPublishAck(nil, allAckFlags, &ack))
	var a PublishAck
	if err := ParsePublishAck(flags, payload, &a); err != nil {
		t.Fatal(err)
	}
	if want := long[:MaxNameBytes-1]; a.Refusal.Message != want || a.Refusal.Reason != want ||
		!utf8.ValidString(a.Refusal.Message) {
		t.Fatalf("texts of %d and %d bytes, want %d", len(a.Refusal.Message), len(a.Refusal.Reason),
			len(want))
	}
}

func TestParsePublishAckMalformed(t *testing.T) {
	id := "\x00\x00\x00\x00\x00\x00\x00\x09"
	cases := []struct {
		name    string
		flags   Flags
		payload string
		err     error
	}{
		{"no ack", FlagPublishBatch, "", ErrFlags},
		{"json", 0, "{}", ErrFlags},
		{"unknown bit", FlagPublishAck | FlagExtension, "\x00" + id + "\x00\x00", ErrFlags},
		{"detail without code", FlagPublishAck | FlagAckDetail, "\x01" + id + "\x00\x00", ErrFlags},
		{"status 2", FlagPublishAck, "\x02" + id + "\x00\x00", ErrStatus},
		{"code on a success", FlagPublishAck | FlagAckCode, "\x00" + id + "\x00\x00\x00\x05\x01", ErrStatus},
		{"offset on a failure", FlagPublishAck | FlagAckOffset, "\x01" + id + "\x00\x00" + id, ErrStatus},
		{"message longer than payload", FlagPublishAck, "\x01" + id + "\x00\x05abcd", ErrTruncated},
		{"message not UTF-8", FlagPublishAck, "\x01" + id + "\x00\x01\xff", ErrNotUTF8},
		{"reason not UTF-8", FlagPublishAck | FlagAckCode | FlagAckDetail,
			"\x01" + id + "\x00\x00\x00\x05\x01\x00\x01\xff" + id, ErrNotUTF8},
		{"owner not UTF-8", FlagPublishAck | FlagAckOwner, "\x00" + id + "\x00\x00\x00\x01\xff\x00\x00" + id,
			ErrNotUTF8},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var a PublishAck
			if err := ParsePublishAck(c.flags, []byte(c.payload), &a); !errors.Is(err, c.err) ||
				!IsMalformed(err) {
				t.Fatalf("error %v, want %v", err, c.err)
			}
		})
	}
}

func TestParsePublishAckTruncatedAtEveryByte(t *testing.T) {
	for _, c := range goldenAcks {
		flags, payload := payloadOf(t, unhex(t, c.hex))
		for n := range payload {
			var a PublishAck
			if err := ParsePublishAck(flags, payload[:n:n], &a); err != ErrTruncated {
				t.Fatalf("%s: the first %d of %d bytes: %v", c.name, n, len(payload), err)
			}
		}
	}
}

func TestParsePublishAckUnknownCodeAndClass(t *testing.T) {
	frame := AppendPublishAck(nil, FlagAckCode, &PublishAck{Refusal: Refusal{Code: 900, Class: 77}})
	flags, payload := payloadOf(t, append(frame, "trailing"...)[:len(frame)])
	var a PublishAck
	if err := ParsePublishAck(flags, append(payload, "trailing"...), &a); err != nil {
		t.Fatal(err)
	}
	if a.Refusal.Code != 900 || a.Refusal.Class != ClassFatal {
		t.Fatalf("parsed %+v", a.Refusal)
	}
}

// An acknowledgement is parsed into the same struct again and again: nothing of an earlier one may show
// through.
func TestParsePublishAckForgets(t *testing.T) {
	var a PublishAck
	for i, first := range goldenAcks {
		for j, second := range goldenAcks {
			for _, c := range []int{i, j} {
				flags, payload := payloadOf(t, unhex(t, goldenAcks[c].hex))
				if err := ParsePublishAck(flags, payload, &a); err != nil {
					t.Fatal(err)
				}
			}
			if a != second.ack {
				t.Fatalf("%s after %s: %+v, want %+v", second.name, first.name, a, second.ack)
			}
		}
	}
}
