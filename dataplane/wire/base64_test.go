package wire

import (
	"bytes"
	"encoding/base64"
	"testing"

	"pgregory.net/rapid"
)

var badBase64 = []string{
	"a", "aa", "aaa", "aaaaa", "=", "==", "====", "a===", "=aaa", "aa=a", "YQ", "YQ=", "YQ===", "YQ==YQ==",
	"YWI=YQ==",
	"YR==", "YWJ=", // Bits behind the last byte.
	"YW Jj", "YWJ\n", "YWJj\r\n\r\n", "Y\nQ==", "\n\n\n\n", "YQ==\n\n\n\n", // White space.
	"YW-_", "YWJ*", "\x00\x00\x00\x00", "YWJ\xff", "éé",
}

func TestDecodeBase64Bad(t *testing.T) {
	for _, s := range badBase64 {
		dst := []byte("kept")
		got, err := DecodeBase64(dst, []byte(s))
		if err != ErrBadBase64 || string(got) != "kept" {
			t.Errorf("DecodeBase64(%q) = %q, %v", s, got, err)
		}
	}
}

func TestDecodeBase64Vectors(t *testing.T) {
	for s, want := range map[string]string{
		"": "", "Zg==": "f", "Zm8=": "fo", "Zm9v": "foo", "Zm9vYg==": "foob", "Zm9vYmE=": "fooba",
		"Zm9vYmFy": "foobar",
		"b25l":     "one", "+/+/": "\xfb\xff\xbf", "AA==": "\x00",
	} {
		got, err := DecodeBase64([]byte(">"), []byte(s))
		if err != nil || string(got) != ">"+want {
			t.Errorf("DecodeBase64(%q) = %q, %v; want %q", s, got, err, want)
		}
	}
}

func TestDecodeBase64NeedsNoSpareRoom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(rapid.Byte(), 0, 70).Draw(t, "bytes")
		guarded := append(make([]byte, len(want)), 0xEE)
		got, err := DecodeBase64(guarded[:0:len(want)], appendBase64(nil, want))
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("decoded %x, %v; want %x", got, err, want)
		}
		if guarded[len(want)] != 0xEE || (len(want) > 0 && &got[0] != &guarded[0]) {
			t.Fatal("decoded past or away from the room it was given")
		}
	})
}

// FuzzDecodeBase64 holds the decoder against the strict standard one, which differs only in skipping line
// breaks.
func FuzzDecodeBase64(f *testing.F) {
	for _, s := range badBase64 {
		f.Add([]byte(s))
	}
	f.Add([]byte("Zm9vYmE="))
	f.Add([]byte("b25l"))
	f.Fuzz(func(t *testing.T, src []byte) {
		got, err := DecodeBase64(nil, src)
		want, wantErr := base64.StdEncoding.Strict().AppendDecode(nil, src)
		if bytes.ContainsAny(src, "\r\n") {
			if err == nil {
				t.Fatalf("line break accepted in %q", src)
			}
			return
		}
		if (err == nil) != (wantErr == nil) || (err == nil && !bytes.Equal(got, want)) {
			t.Fatalf("DecodeBase64(%q) = %x, %v; want %x, %v", src, got, err, want, wantErr)
		}
		if err == nil && !bytes.Equal(appendBase64(nil, got), src) {
			t.Fatalf("%q is not the only spelling of %x", src, got)
		}
	})
}
