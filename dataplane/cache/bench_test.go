package cache

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/felix-go/felix/internal/clock"
)

// benchKeys are distinct keys of 16 bytes in random order.
func benchKeys(n int) [][]byte {
	keys := make([][]byte, n)
	for i := range keys {
		keys[i] = binary.BigEndian.AppendUint64(make([]byte, 8, 16), uint64(i))
	}
	r := rand.New(rand.NewPCG(41, 42))
	r.Shuffle(n, func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	return keys
}

// benchCache holds n entries of size bytes.
func benchCache(b *testing.B, cfg Config, n, size int, ttl TTL) (*fixture, *Cache, [][]byte) {
	cfg.Clock = clock.Real()
	f := newFixture(b, cfg)
	c := f.Open(1, 1)
	keys := benchKeys(n)
	value := make([]byte, size)
	for _, k := range keys {
		c.Put(k, value, ttl)
	}
	return f, c, keys
}

func BenchmarkCacheGet(b *testing.B) {
	for _, n := range []int{1000, 1_000_000} {
		for _, size := range []int{64, 4096} {
			if n*size > 1<<30 {
				continue
			}
			b.Run(fmt.Sprintf("entries=%d/size=%d", n, size), func(b *testing.B) {
				_, c, keys := benchCache(b, Config{}, n, size, NoExpiry)
				b.ReportAllocs()
				i := 0
				for b.Loop() {
					v, ok := c.Get(keys[i])
					if !ok {
						b.Fatal("miss")
					}
					v.Ref.Release()
					if i++; i == len(keys) {
						i = 0
					}
				}
			})
		}
	}
}

func BenchmarkCacheGetKinds(b *testing.B) {
	for name, c := range map[string]struct {
		cfg Config
		ttl TTL
	}{
		"unlimited": {Config{}, NoExpiry},
		"ttl":       {Config{}, MaxTTL},
		"s3-fifo":   {Config{MaxBytes: 1 << 30}, NoExpiry},
		"lru":       {Config{MaxBytes: 1 << 30, Policy: PolicyLRU}, NoExpiry},
	} {
		b.Run("kind="+name, func(b *testing.B) {
			_, cache, keys := benchCache(b, c.cfg, 1000, 64, c.ttl)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				v, _ := cache.Get(keys[i])
				v.Ref.Release()
				if i++; i == len(keys) {
					i = 0
				}
			}
		})
	}
	b.Run("kind=miss", func(b *testing.B) {
		_, cache, _ := benchCache(b, Config{}, 1000, 64, NoExpiry)
		b.ReportAllocs()
		key := []byte("absent")
		for b.Loop() {
			cache.Get(key)
		}
	})
}

func BenchmarkCacheGetParallel(b *testing.B) {
	for _, policy := range []Policy{PolicyS3FIFO, PolicyLRU} {
		b.Run("policy="+policy.String(), func(b *testing.B) {
			_, c, keys := benchCache(b, Config{MaxBytes: 1 << 30, Policy: policy}, 100_000, 64, NoExpiry)
			b.ReportAllocs()
			var start atomic.Int64
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				i := int(start.Add(7919)) % len(keys)
				for pb.Next() {
					if v, ok := c.Get(keys[i]); ok {
						v.Ref.Release()
					}
					if i++; i == len(keys) {
						i = 0
					}
				}
			})
		})
	}
}

func BenchmarkCachePut(b *testing.B) {
	for _, size := range []int{0, 64, 256, 4096} {
		b.Run(fmt.Sprintf("overwrite/size=%d", size), func(b *testing.B) {
			_, c, keys := benchCache(b, Config{MaxBytes: 1 << 30}, 1000, size, NoExpiry)
			value := make([]byte, size)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				c.Put(keys[i], value, NoExpiry)
				if i++; i == len(keys) {
					i = 0
				}
			}
		})
	}
	b.Run("overwrite/ttl", func(b *testing.B) {
		_, c, keys := benchCache(b, Config{MaxBytes: 1 << 30}, 1000, 64, MaxTTL)
		value := make([]byte, 64)
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			c.Put(keys[i], value, MaxTTL)
			if i++; i == len(keys) {
				i = 0
			}
		}
	})
	for _, policy := range []Policy{PolicyS3FIFO, PolicyLRU} {
		b.Run("evicting/policy="+policy.String(), func(b *testing.B) {
			// Every put is a new key and pushes another one out.
			cfg := Config{MaxBytes: 10_000 * (16 + 64 + EntryOverhead), Policy: policy}
			_, c, keys := benchCache(b, cfg, 100_000, 64, NoExpiry)
			value := make([]byte, 64)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				c.Put(keys[i], value, NoExpiry)
				if i++; i == len(keys) {
					i = 0
				}
			}
		})
	}
}

func BenchmarkCachePutDelete(b *testing.B) {
	_, c, keys := benchCache(b, Config{MaxBytes: 1 << 30}, 1000, 64, NoExpiry)
	value := make([]byte, 64)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if v, ok := c.Delete(keys[i]); ok {
			v.Ref.Release()
		}
		c.Put(keys[i], value, NoExpiry)
		if i++; i == len(keys) {
			i = 0
		}
	}
}

func BenchmarkCachePutIf(b *testing.B) {
	f, c, keys := benchCache(b, Config{MaxBytes: 1 << 30}, 1, 64, NoExpiry)
	value := make([]byte, 64)
	version := f.version.Load()
	b.ReportAllocs()
	for b.Loop() {
		next, r := c.PutIf(keys[0], value, NoExpiry, Condition{Version: version})
		if r != Applied {
			b.Fatal(r)
		}
		version = next
	}
}

func BenchmarkCacheKeys(b *testing.B) {
	_, c, _ := benchCache(b, Config{}, 100_000, 16, NoExpiry)
	b.ReportAllocs()
	for b.Loop() {
		if keys, more := c.Keys(nil, nil, 100); len(keys) != 100 || !more {
			b.Fatal(len(keys), more)
		}
	}
}
