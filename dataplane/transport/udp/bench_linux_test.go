package udp

import (
	"encoding/binary"
	"fmt"
	"testing"

	"golang.org/x/sys/unix"
)

// controlOfRun is the control message that makes the kernel send a buffer as datagrams of segment bytes.
func controlOfRun(segment uint16) []byte {
	return controlMessage(unix.IPPROTO_UDP, unix.UDP_SEGMENT, binary.NativeEndian.AppendUint16(nil, segment))
}

// BenchmarkUDPReceive sends runs of 40 datagrams over loopback and receives them; an operation is one run.
func BenchmarkUDPReceive(b *testing.B) {
	const count, size = 40, 1452
	for _, gro := range []bool{true, false} {
		b.Run(fmt.Sprintf("gro=%v", gro), func(b *testing.B) {
			s, _ := open(b, "127.0.0.1:0", gro)
			from := newSender(b, "127.0.0.1", s)
			run, control, ms := make([]byte, count*size), controlOfRun(size), slots(slotCount)
			b.SetBytes(int64(len(run)))
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := from.conn.WriteMsgUDP(run, control, from.to); err != nil {
					b.Fatal(err)
				}
				for received := 0; received < count; {
					n, err := s.ReadBatch(ms, 0)
					if err != nil {
						b.Fatal(err)
					}
					received += n
				}
			}
		})
	}
}
