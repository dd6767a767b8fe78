package cache

import "math/bits"

// ghost remembers fingerprints of entries that left the small queue unread, so that one which is put again
// soon goes straight to the main queue. It stores no keys: a fingerprint has 32 bits and lives in a bucket of
// four slots, the oldest of which is overwritten. A false match costs one place in the main queue. The
// stripe's lock guards it.
type ghost struct {
	slots []ghostSlot // a power of two, nil until the first eviction
	turn  uint32      // counts additions; a slot's age is turn - slot.turn
}

type ghostSlot struct {
	tag  uint32
	turn uint32 // 0 is empty
}

const (
	ghostWays = 4
	minGhost  = 64
)

// add remembers tag; entries is how many the stripe holds, and with it the history's length. A history that
// is too small or far too large for it starts over: that happens when the stripe's population doubles or
// collapses, when what was remembered says little.
//
//felix:hot
func (g *ghost) add(tag uint32, entries int) {
	if want := ghostSize(entries); len(g.slots) < want || len(g.slots) > 4*want {
		g.slots = make([]ghostSlot, want)
	}
	if g.turn++; g.turn == 0 {
		g.turn = 1
	}
	b := g.bucket(tag)
	oldest := 0
	for i := range b {
		if b[i].turn == 0 || b[i].tag == tag {
			oldest = i
			break
		}
		if g.turn-b[i].turn > g.turn-b[oldest].turn {
			oldest = i
		}
	}
	b[oldest] = ghostSlot{tag: tag, turn: g.turn}
}

// take reports whether tag is among the last entries additions, and forgets it.
//
//felix:hot
func (g *ghost) take(tag uint32, entries int) bool {
	if g.slots == nil {
		return false
	}
	b := g.bucket(tag)
	for i := range b {
		if b[i].turn != 0 && b[i].tag == tag {
			fresh := g.turn-b[i].turn < uint32(entries)
			b[i] = ghostSlot{}
			return fresh
		}
	}
	return false
}

//felix:hot
func (g *ghost) bucket(tag uint32) []ghostSlot {
	i := int(tag*0x9E3779B1>>7) & (len(g.slots) - 1) &^ (ghostWays - 1)
	return g.slots[i : i+ghostWays]
}

// ghostSize is the number of slots for a stripe of entries: the next power of two, at least minGhost.
func ghostSize(entries int) int {
	return max(minGhost, 1<<bits.Len(uint(max(entries, 1)-1)))
}
