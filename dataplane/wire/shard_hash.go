package wire

const (
	fnvOffsetBasis = 0xcbf29ce484222325
	fnvPrime       = 0x00000100000001b3
)

// ShardOf returns the shard of key in a stream or cache of n shards (wire protocol section 18): FNV-1a over
// the key bytes and a 64-bit finaliser, then modulo n, or jump consistent hash when jump is set. It is 0 for
// n <= 1. The empty key is hashed like any other; a record without a key belongs to shard 0 and must not be
// passed here.
//
//felix:hot
func ShardOf(key []byte, n uint32, jump bool) ShardID {
	if n <= 1 {
		return 0
	}
	h := keyHash(key)
	if jump {
		return jumpHash(h, n)
	}
	return ShardID(h % uint64(n))
}

// keyHash is FNV-1a followed by the finaliser of SplitMix64, which spreads the weak high bits of FNV.
func keyHash(key []byte) uint64 {
	h := fnv1a(key)
	h ^= h >> 30
	h *= 0xbf58476d1ce4e5b9
	h ^= h >> 27
	h *= 0x94d049bb133111eb
	return h ^ h>>31
}

func fnv1a(key []byte) uint64 {
	h := uint64(fnvOffsetBasis)
	for _, c := range key {
		h = (h ^ uint64(c)) * fnvPrime
	}
	return h
}

// jumpHash is the jump consistent hash of Lamping and Veach. The floating-point expression is part of the
// protocol: another order of operations rounds differently and routes differently.
func jumpHash(h uint64, n uint32) ShardID {
	b, j := int64(-1), int64(0)
	for j < int64(n) {
		b = j
		h = h*2862933555777941757 + 1
		j = int64(float64(b+1) * (float64(1<<31) / float64((h>>33)+1)))
	}
	return ShardID(b)
}
