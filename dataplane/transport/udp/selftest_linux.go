package udp

import (
	"bytes"
	"encoding/binary"
	"net"
	"sync"
	"time"

	"golang.org/x/net/ipv4"
	"golang.org/x/sys/unix"

	"github.com/felix-go/felix/dataplane/stat"
)

const (
	selfTestSegment = 1200
	selfTestBytes   = 3*selfTestSegment + 77 // three full datagrams and a short one
	selfTestWait    = 500 * time.Millisecond
)

// groWorks sends one segmented run over loopback to a socket with UDP_GRO and compares what ReadBatch
// returns, byte by byte, once per process. Kernels without the option, and those that lose the segment size,
// fail it.
var groWorks = sync.OnceValue(func() bool {
	return selfTest("127.0.0.1:0") || selfTest("[::1]:0")
})

func selfTest(addr string) bool {
	local, err := net.ResolveUDPAddr("udp", addr)
	if err != nil {
		return false
	}
	to, err := net.ListenUDP(network(local), local)
	if err != nil {
		return false
	}
	defer to.Close()
	from, err := net.ListenUDP(network(local), local)
	if err != nil {
		return false
	}
	defer from.Close()
	r := newReader(to, true, newCounters(stat.NewSet()), nil)
	if !r.gro || to.SetReadDeadline(time.Now().Add(selfTestWait)) != nil {
		return false
	}
	sent := make([]byte, selfTestBytes)
	for i := range sent {
		sent[i] = byte(i * 31 / 7)
	}
	return sendRun(from, sent, to.LocalAddr().(*net.UDPAddr)) == nil && receivesRun(&r, sent)
}

// sendRun sends run as datagrams of selfTestSegment bytes, in one call where the kernel segments.
func sendRun(conn *net.UDPConn, run []byte, to *net.UDPAddr) error {
	segment := binary.NativeEndian.AppendUint16(nil, selfTestSegment)
	control := controlMessage(unix.IPPROTO_UDP, unix.UDP_SEGMENT, segment)
	if _, _, err := conn.WriteMsgUDP(run, control, to); err == nil {
		return nil
	}
	for len(run) > 0 {
		n := min(selfTestSegment, len(run))
		if _, err := conn.WriteToUDP(run[:n], to); err != nil {
			return err
		}
		run = run[n:]
	}
	return nil
}

func receivesRun(r *reader, sent []byte) bool {
	slots := make([]ipv4.Message, 2)
	for len(sent) > 0 {
		for i := range slots {
			slots[i].Buffers = [][]byte{make([]byte, 2*selfTestSegment)}
			slots[i].OOB = make([]byte, controlBytes)
		}
		n, err := r.ReadBatch(slots, 0)
		if err != nil {
			return false
		}
		for _, m := range slots[:n] {
			want := sent[:min(selfTestSegment, len(sent))]
			if !bytes.Equal(m.Buffers[0][:m.N], want) {
				return false
			}
			sent = sent[len(want):]
		}
	}
	return true
}
