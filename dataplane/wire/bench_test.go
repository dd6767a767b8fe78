package wire

import (
	"bytes"
	"fmt"
	"testing"
)

func benchFrame(size, batch int) *PublishFrame {
	f := goldenFrame(PublishFrame{Ack: AckPerBatch, RequestID: 7, Keyed: true, Key: []byte("customer-1")})
	f.Payloads = make([][]byte, batch)
	for i := range f.Payloads {
		f.Payloads[i] = bytes.Repeat([]byte{'x'}, size)
	}
	return &f
}

func BenchmarkWireParseHeader(b *testing.B) {
	header := AppendHeader(nil, FlagPublishBatch, 9)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseHeader(header); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWireParsePublish(b *testing.B) {
	for _, size := range []int{32, 256, 4096} {
		for _, batch := range []int{1, 64} {
			b.Run(fmt.Sprintf("size=%d/batch=%d", size, batch), func(b *testing.B) {
				frame := AppendPublish(nil, benchFrame(size, batch))
				flags, payload := payloadOf(b, frame)
				var p Publish
				b.SetBytes(int64(len(frame)))
				b.ReportAllocs()
				for b.Loop() {
					if err := ParsePublish(flags, payload, &p); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkWireAppendPublish(b *testing.B) {
	for _, batch := range []int{1, 64} {
		b.Run(fmt.Sprintf("size=256/batch=%d", batch), func(b *testing.B) {
			frame := benchFrame(256, batch)
			dst := make([]byte, 0, frame.Size())
			b.SetBytes(int64(frame.Size()))
			b.ReportAllocs()
			for b.Loop() {
				dst = AppendPublish(dst[:0], frame)
			}
		})
	}
}

func BenchmarkWireAnswerPublish(b *testing.B) {
	ack := PublishAck{RequestID: 7, OK: true}
	dst := make([]byte, 0, 64)
	var got PublishAck
	b.ReportAllocs()
	for b.Loop() {
		dst = AppendPublishAck(dst[:0], allAckFlags, &ack)
		if err := ParsePublishAck(FlagPublishAck, dst[HeaderLen:], &got); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWireParseEventBatch(b *testing.B) {
	for _, batch := range []int{1, 64} {
		b.Run(fmt.Sprintf("size=256/batch=%d", batch), func(b *testing.B) {
			e := EventBatch{Count: uint32(batch)}
			for range batch {
				e.Records = AppendRecord(e.Records, make([]byte, 256))
			}
			flags, payload := payloadOf(b, AppendEventBatch(nil, &e))
			b.SetBytes(int64(len(payload)))
			b.ReportAllocs()
			for b.Loop() {
				if err := ParseEventBatch(flags, payload, &e); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkWireParseMessage(b *testing.B) {
	entry := CacheKey{Tenant: "t1", Namespace: "default", Cache: "sessions", Key: "user:42",
		RequestID: 123456}
	frames := []struct {
		name  string
		frame []byte
	}{
		{"auth", AppendAuth(nil, &Auth{Tenant: "t1", Token: string(bytes.Repeat([]byte{'x'}, 520)),
			Flags:    8191,
			Features: FeaturesFromWords(4218945535, 15)})},
		{"cache_get", AppendCacheGet(nil, &entry)},
		{"cache_put/size=256", AppendCachePut(nil, &entry, make([]byte, 256), 0, false)},
		{"cache_put/size=65536", AppendCachePut(nil, &entry, make([]byte, 65536), 0, false)},
		{"subscribe", AppendSubscribe(nil, &Subscribe{Tenant: "t1", Namespace: "default", Stream: "demo"})},
	}
	for _, c := range frames {
		b.Run("type="+c.name, func(b *testing.B) {
			payload := c.frame[HeaderLen:]
			var m Message
			b.SetBytes(int64(len(payload)))
			b.ReportAllocs()
			for b.Loop() {
				if err := ParseMessage(payload, &m); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkWireAppendCacheValue(b *testing.B) {
	for _, size := range []int{256, 65536} {
		b.Run(fmt.Sprintf("size=%d", size), func(b *testing.B) {
			v := CacheValue{Tenant: []byte("t1"), Namespace: []byte("default"), Cache: []byte("sessions"),
				Key: []byte("user:42"), HasValue: true, Value: make([]byte,
					size), HasRequestID: true, RequestID: 7}
			dst := AppendCacheValue(nil, &v)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				dst = AppendCacheValue(dst[:0], &v)
			}
		})
	}
}

func BenchmarkWireDecodeBase64(b *testing.B) {
	for _, size := range []int{256, 65536} {
		b.Run(fmt.Sprintf("size=%d", size), func(b *testing.B) {
			text := appendBase64(nil, make([]byte, size))
			dst := make([]byte, 0, size)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				var err error
				if dst, err = DecodeBase64(dst[:0], text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkWireShardOf(b *testing.B) {
	for _, jump := range []bool{false, true} {
		b.Run(fmt.Sprintf("jump=%v/shards=12", jump), func(b *testing.B) {
			key := []byte("customer-1234567")
			b.ReportAllocs()
			for b.Loop() {
				_ = ShardOf(key, 12, jump)
			}
		})
	}
}
