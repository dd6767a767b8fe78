package ingress

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"pgregory.net/rapid"

	"github.com/felix-go/felix/dataplane/arena"
	"github.com/felix-go/felix/dataplane/fanout"
	"github.com/felix-go/felix/dataplane/wire"
)

// chunks is a stream that arrives in pieces.
type chunks struct {
	rest  []byte
	sizes []int
	i     int
}

func (c *chunks) Read(p []byte) (int, error) {
	if len(c.rest) == 0 {
		return 0, io.EOF
	}
	n := len(c.rest)
	if len(c.sizes) > 0 {
		n = min(n, c.sizes[c.i%len(c.sizes)])
		c.i++
	}
	n = copy(p, c.rest[:min(n, len(p))])
	c.rest = c.rest[n:]
	return n, nil
}

func frameOf(f wire.Flags, payload []byte) []byte {
	return append(wire.AppendHeader(nil, f, len(payload)), payload...)
}

func newReader(src source, limit int, stranger bool) (*frameReader, *arena.Arena) {
	a := arena.New()
	r := &frameReader{}
	r.init(src, a, limit, nil)
	r.stranger = stranger
	return r, a
}

// Whatever pieces a stream arrives in, the same frames come out, and every block comes back.
func TestReaderCutsFrames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want [][]byte
		var stream []byte
		for range rapid.IntRange(1, 12).Draw(t, "frames") {
			n := rapid.SampledFrom([]int{0, 1, 11, 100, 499, 500, 501, 512, 4000, 16_371, 16_372, 16_373, 70_000, 200_000}).Draw(t, "size")
			payload := bytes.Repeat([]byte{byte(len(want) + 1)}, n)
			want = append(want, payload)
			stream = append(stream, frameOf(wire.FlagPublishBatch, payload)...)
		}
		sizes := rapid.SliceOfN(rapid.IntRange(1, 70_000), 0, 8).Draw(t, "chunks")
		r, a := newReader(&chunks{rest: stream, sizes: sizes}, 1<<20, rapid.Bool().Draw(t, "stranger"))
		var fr frame
		for i, w := range want {
			if err := r.next(&fr); err != nil {
				t.Fatalf("frame %d: %v", i, err)
			}
			if fr.flags != wire.FlagPublishBatch || !bytes.Equal(fr.payload, w) {
				t.Fatalf("frame %d: flags %v, %d bytes, want %d", i, fr.flags, len(fr.payload), len(w))
			}
			if fr.own.Valid() {
				if !bytes.Equal(fr.own.Bytes()[fanout.Headroom:fanout.Headroom+len(w)], w) {
					t.Fatalf("frame %d does not lie behind the headroom of its block", i)
				}
				fr.own.Release()
			}
		}
		if err := r.next(&fr); err != io.EOF {
			t.Fatalf("at the end: %v", err)
		}
		r.close()
		if n := a.Outstanding(); n != 0 {
			t.Fatalf("%d blocks left\n%s", n, a.Leaks())
		}
	})
}

// A stream that ends inside a frame says so, at every byte, and leaves nothing behind.
func TestReaderCutAtEveryByte(t *testing.T) {
	whole := frameOf(0, bytes.Repeat([]byte{7}, 700))
	for cut := range whole {
		r, a := newReader(&chunks{rest: whole[:cut], sizes: []int{97}}, 1<<20, cut%2 == 0)
		var fr frame
		want := io.ErrUnexpectedEOF
		if cut == 0 {
			want = io.EOF
		}
		if err := r.next(&fr); err != want {
			t.Errorf("cut at %d: %v, want %v", cut, err, want)
		}
		r.close()
		if n := a.Outstanding(); n != 0 {
			t.Errorf("cut at %d: %d blocks left", cut, n)
		}
	}
}

func TestReaderRefuses(t *testing.T) {
	var fr frame
	r, _ := newReader(&chunks{rest: frameOf(wire.FlagPublishBatch|wire.FlagPublishAcked, make([]byte, 101))}, 100, false)
	if err := r.next(&fr); err != errFrameTooLarge || r.lastFlags != wire.FlagPublishBatch|wire.FlagPublishAcked || len(r.head(8)) != 8 {
		t.Errorf("a frame above the limit: %v", err)
	}
	r, _ = newReader(&chunks{rest: frameOf(0, make([]byte, 100))}, 100, false)
	if err := r.next(&fr); err != nil {
		t.Errorf("a frame of the limit: %v", err)
	}
	bad := frameOf(0, nil)
	bad[0] = 'X'
	r, _ = newReader(&chunks{rest: bad}, 100, false)
	if err := r.next(&fr); !errors.Is(err, wire.ErrBadMagic) {
		t.Errorf("bad magic: %v", err)
	}
	r, a := newReader(&chunks{rest: frameOf(0, make([]byte, 50_000))}, 1<<20, false)
	r.grow = func(n int) bool { return n != 50_000 }
	if err := r.next(&fr); err != errFrameBudget {
		t.Errorf("no budget: %v", err)
	}
	r.close()
	if n := a.Outstanding(); n != 0 {
		t.Errorf("%d blocks left", n)
	}
}

// Memory follows what arrives, not what a header says; an idle reader holds no block.
func TestReaderHoldsWhatArrived(t *testing.T) {
	head := wire.AppendHeader(nil, 0, 16<<20)
	for _, stranger := range []bool{true, false} {
		src := &chunks{rest: append(bytes.Clone(head), make([]byte, 3000)...)}
		r, a := newReader(src, 16<<20, stranger)
		seen := int64(0)
		r.src = readFunc(func(p []byte) (int, error) {
			seen = max(seen, a.OutstandingBytes())
			return src.Read(p)
		})
		var fr frame
		if err := r.next(&fr); err != io.ErrUnexpectedEOF {
			t.Error(err)
		}
		bound := int64(128 << 10)
		if stranger {
			bound = 12 << 10
		}
		if seen > bound {
			t.Errorf("stranger %v: %d bytes held for 3,000 received", stranger, seen)
		}
		r.close()
	}
	idle, a := newReader(&chunks{rest: frameOf(0, []byte(`{"type":"topology"}`))}, 1<<20, false)
	var fr frame
	if err := idle.next(&fr); err != nil || a.Outstanding() != 0 {
		t.Errorf("%v, an idle reader holds %d blocks", err, a.Outstanding())
	}
}

type readFunc func(p []byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

func FuzzReader(f *testing.F) {
	f.Add(frameOf(0, []byte(`{"type":"ok"}`)), uint16(3))
	f.Add(frameOf(wire.FlagPublishBatch, make([]byte, 600)), uint16(512))
	f.Fuzz(func(t *testing.T, stream []byte, chunk uint16) {
		r, a := newReader(&chunks{rest: stream, sizes: []int{int(chunk) + 1}}, 64<<10, len(stream)%2 == 0)
		for total := 0; ; {
			var fr frame
			if err := r.next(&fr); err != nil {
				break
			}
			if fr.own.Valid() {
				fr.own.Release()
			}
			if total += wire.HeaderLen + len(fr.payload); total > len(stream) {
				t.Fatal("more came out than went in")
			}
		}
		r.close()
		if n := a.Outstanding(); n != 0 {
			t.Fatalf("%d blocks left", n)
		}
	})
}

func BenchmarkReaderNext(b *testing.B) {
	one := frameOf(wire.FlagPublishBatch, make([]byte, 256))
	src := &looping{frame: bytes.Repeat(one, 40)}
	r, _ := newReader(src, 1<<20, false)
	var fr frame
	b.SetBytes(int64(len(one)))
	b.ReportAllocs()
	for b.Loop() {
		if err := r.next(&fr); err != nil {
			b.Fatal(err)
		}
	}
}

// looping repeats its bytes for ever.
type looping struct {
	frame []byte
	at    int
}

func (l *looping) Read(p []byte) (int, error) {
	n := copy(p, l.frame[l.at:])
	l.at = (l.at + n) % len(l.frame)
	return n, nil
}
