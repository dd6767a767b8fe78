package cache

import "github.com/felix-go/felix/dataplane/arena"

// batchEntries bounds how many entries one hold of a stripe's lock may take out.
const batchEntries = 32

// batch collects blocks of entries taken out under a lock, to release them after it.
type batch struct {
	n      int
	bytes  int64 // sum of charges
	blocks [batchEntries]arena.Ref
}

//felix:hot
func (b *batch) full() bool { return b.n == batchEntries }

//felix:hot
func (b *batch) add(charge int64, block arena.Ref) {
	b.blocks[b.n] = block
	b.n++
	b.bytes += charge
}

//felix:hot
func (b *batch) release() {
	for i := range b.blocks[:b.n] {
		b.blocks[i].Release()
	}
}
