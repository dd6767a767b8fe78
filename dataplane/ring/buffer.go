package ring

// firstSlots is where growing buffers start: most queues of an idle broker never hold more.
const firstSlots = 8

// Buffer is a bounded circular buffer that grows from 8 slots. It is not safe for concurrent use: it lives under its owner's
// lock.
type Buffer[T any] struct {
	slots   []T // length is a power of two, or max
	head, n int
	max     int
}

// NewBuffer returns an empty buffer for at most max values.
func NewBuffer[T any](max int) *Buffer[T] { return &Buffer[T]{max: max} }

// Len returns how many values it holds.
//
//felix:hot
func (b *Buffer[T]) Len() int { return b.n }

// Push adds v at the end; false when it is full.
//
//felix:hot
func (b *Buffer[T]) Push(v T) bool {
	if b.n == len(b.slots) {
		if b.n >= b.max {
			return false
		}
		b.resize(min(max(2*len(b.slots), firstSlots), b.max))
	}
	b.slots[b.at(b.n)] = v
	b.n++
	return true
}

// Pop takes the first value and clears its slot.
//
//felix:hot
func (b *Buffer[T]) Pop() (v T, ok bool) {
	if b.n == 0 {
		return v, false
	}
	var zero T
	v = b.slots[b.head]
	b.slots[b.head] = zero
	b.head = b.at(1)
	b.n--
	if b.n == 0 {
		b.head = 0
		b.shrink()
	}
	return v, true
}

// Peek returns the i-th value from the front. REQUIRES: 0 <= i < Len.
//
//felix:hot
func (b *Buffer[T]) Peek(i int) T {
	if i < 0 || i >= b.n {
		panic("ring: Peek outside of the buffer")
	}
	return b.slots[b.at(i)]
}

// at is the slot of the i-th value.
func (b *Buffer[T]) at(i int) int {
	if i += b.head; i >= len(b.slots) {
		i -= len(b.slots)
	}
	return i
}

func (b *Buffer[T]) resize(size int) {
	slots := make([]T, size)
	n := copy(slots, b.slots[b.head:min(b.head+b.n, len(b.slots))])
	copy(slots[n:], b.slots[:b.n-n])
	b.slots, b.head = slots, 0
}

// keepSlots is the largest array an empty buffer keeps: a burst must not cost its memory for ever, and a queue in steady use
// must not allocate.
const keepSlots = 1024

func (b *Buffer[T]) shrink() {
	if len(b.slots) > keepSlots {
		b.slots = nil
	}
}
