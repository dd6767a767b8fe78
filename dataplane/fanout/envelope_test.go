package fanout

import (
	"encoding/hex"
	"sync"
	"testing"

	"github.com/felix-go/felix/dataplane/wire"
)

func TestFrame(t *testing.T) {
	r := newRooms(t, 0)
	r.base = 40
	e := r.envelope("a", "bc")
	const want = "464c5831000100040000000f000000020000000161000000026263"
	for range 2 {
		if got := hex.EncodeToString(e.Frame()); got != want {
			t.Errorf("frame %s, want %s", got, want)
		}
	}
	if n := r.encoder.encodes.Load(); n != 1 {
		t.Errorf("felix_fanout_encodes_total is %d, want 1", n)
	}
	if e.Base() != 40 || e.Count() != 2 || e.Size() != 27 || e.PayloadBytes() != 3 || len(e.Body()) != 15 {
		t.Errorf("base %d, count %d, size %d, payload %d, body %d", e.Base(), e.Count(), e.Size(), e.PayloadBytes(), len(e.Body()))
	}
	e.Release()
	// A pooled envelope starts anew.
	e = r.envelope("d")
	e.Frame()
	if n := r.encoder.encodes.Load(); n != 2 {
		t.Errorf("felix_fanout_encodes_total is %d after the second batch, want 2", n)
	}
	e.Release()
}

// TestFrameShared lets many pumps ask for the frame at once: one encodes, all see the same whole bytes.
func TestFrameShared(t *testing.T) {
	r := newRooms(t, 0)
	for range 500 {
		e := r.envelope("abc")
		before := r.encoder.encodes.Load()
		var wg sync.WaitGroup
		for range 8 {
			e.Retain()
			wg.Add(1)
			go func() {
				defer wg.Done()
				if h, err := wire.ParseHeader(e.Frame()); err != nil || int(h.Length) != len(e.Body()) {
					t.Errorf("header %+v, %v", h, err)
				}
				e.Release()
			}()
		}
		e.Release()
		wg.Wait()
		if n := r.encoder.encodes.Load() - before; n != 1 {
			t.Fatalf("%d encodes for one batch", n)
		}
	}
}

func TestEnvelopeMisuse(t *testing.T) {
	r := newRooms(t, 0)
	mustPanic := func(name string, f func()) {
		t.Helper()
		defer func() {
			if recover() == nil {
				t.Errorf("%s does not panic", name)
			}
		}()
		f()
	}
	e := r.envelope("a")
	e.Retain()
	e.Release()
	e.Release()
	mustPanic("Retain after the last Release", e.Retain)
	e = new(Envelope)
	mustPanic("Release without a count", e.Release)
	ref := r.arena.Acquire(64)
	mustPanic("an envelope without headroom", func() { r.encoder.Envelope(ref, wire.HeaderLen-1, 4, 0, 0, 0) })
	ref.Release()
}
