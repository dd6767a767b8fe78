package arena

// Ref is one owner's hold on a block. The zero Ref holds none. It is a small value that is handed on, not shared: whoever has
// it releases it exactly once.
type Ref struct {
	b *block
	n int
}

// Valid reports whether r holds a block.
//
//felix:hot
func (r Ref) Valid() bool { return r.b != nil }

// Bytes returns the block's bytes, nil for the zero Ref. They are borrowed until the release.
//
//felix:hot
func (r Ref) Bytes() []byte {
	if r.b == nil {
		return nil
	}
	return r.b.buf[:r.n]
}

// Cap returns how many bytes the block could hold.
//
//felix:hot
func (r Ref) Cap() int {
	if r.b == nil {
		return 0
	}
	return len(r.b.buf)
}

// Slice returns the same hold with another length; r must not be used any more. REQUIRES: 0 <= n <= Cap.
//
//felix:hot
func (r Ref) Slice(n int) Ref {
	if n < 0 || n > r.Cap() {
		panic("arena: Slice outside of the block")
	}
	r.n = n
	return r
}

// Retain adds an owner and returns its Ref. It panics when the block was released.
//
//felix:hot
func (r Ref) Retain() Ref {
	if r.b.refs.Add(1) <= 1 {
		panic("arena: Retain on a released block")
	}
	return r
}

// Release ends this owner's hold; the last one gives the block back. It panics when the block was released already.
//
//felix:hot
func (r Ref) Release() {
	switch n := r.b.refs.Add(-1); {
	case n == 0:
		r.b.arena.giveBack(r.b)
	case n < 0:
		panic("arena: block released twice")
	}
}
