package wire

import (
	"testing"

	"pgregory.net/rapid"
)

// The table of wire protocol section 18.
var shardTable = []struct {
	key        string
	fnv, final uint64
	modulo     [3]ShardID // 4, 8 and 12 shards
	jump       [3]ShardID
}{
	{"customer-0", 0x660309ab83c6ffa4, 0xe0ef692b167733d8, [3]ShardID{0, 0, 8}, [3]ShardID{3, 3, 3}},
	{"customer-1", 0x66030aab83c70157, 0x2cb00644b7ae349b, [3]ShardID{3, 3, 3}, [3]ShardID{0, 0, 10}},
	{"customer-2", 0x66030bab83c7030a, 0xff5f031331ea7506, [3]ShardID{2, 6, 10}, [3]ShardID{3, 5, 5}},
	{"customer-4", 0x660305ab83c6f8d8, 0x6518db128de4d1da, [3]ShardID{2, 2, 6}, [3]ShardID{2, 2, 2}},
	{"customer-6", 0x660307ab83c6fc3e, 0x0668b23287aad594, [3]ShardID{0, 4, 8}, [3]ShardID{2, 7, 7}},
	{"k0", 0x08be0e07b562230e, 0x43db55d3ac266e8e, [3]ShardID{2, 6, 6}, [3]ShardID{3, 3, 3}},
	{"k1", 0x08be0f07b56224c1, 0x1f015d6af2b2eec6, [3]ShardID{2, 6, 10}, [3]ShardID{2, 4, 4}},
	{"", 0xcbf29ce484222325, 0xf52a15e9a9b5e89b, [3]ShardID{3, 3, 3}, [3]ShardID{0, 5, 11}},
	{"user:42", 0x6c151ea4dcd221c2, 0xd68cb863fc5e0c34, [3]ShardID{0, 4, 0}, [3]ShardID{2, 6, 6}},
	{"\x00\xff", 0x0831c907b4ea2b60, 0xa70bee94c6c8447b, [3]ShardID{3, 3, 7}, [3]ShardID{0, 0, 10}},
}

func TestShardOfTable(t *testing.T) {
	for _, c := range shardTable {
		key := []byte(c.key)
		if h := fnv1a(key); h != c.fnv {
			t.Errorf("%q: FNV-1a %016x, want %016x", key, h, c.fnv)
		}
		if h := keyHash(key); h != c.final {
			t.Errorf("%q: hash %016x, want %016x", key, h, c.final)
		}
		for i, n := range []uint32{4, 8, 12} {
			if s := ShardOf(key, n, false); s != c.modulo[i] {
				t.Errorf("%q modulo %d: shard %d, want %d", key, n, s, c.modulo[i])
			}
			if s := ShardOf(key, n, true); s != c.jump[i] {
				t.Errorf("%q jump %d: shard %d, want %d", key, n, s, c.jump[i])
			}
		}
	}
}

func TestShardOfStaysInRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.SliceOf(rapid.Byte()).Draw(t, "key")
		n := rapid.Uint32().Draw(t, "n")
		jump := rapid.Bool().Draw(t, "jump")
		s := ShardOf(key, n, jump)
		if n <= 1 && s != 0 || n > 1 && uint32(s) >= n {
			t.Fatalf("shard %d of %d", s, n)
		}
		// Jump hash moves a key only to a new shard when the width grows.
		if jump && n > 1 && n < 1<<31 {
			if wider := ShardOf(key, n+1, true); wider != s && uint32(wider) != n {
				t.Fatalf("shard %d of %d became %d of %d", s, n, wider, n+1)
			}
		}
	})
}
