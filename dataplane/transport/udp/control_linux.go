package udp

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// controlMessage returns one control message.
func controlMessage(level, kind int32, data []byte) []byte {
	b := make([]byte, unix.CmsgSpace(len(data)))
	h := (*unix.Cmsghdr)(unsafe.Pointer(&b[0]))
	h.Level, h.Type = level, kind
	h.SetLen(unix.CmsgLen(len(data)))
	copy(b[unix.CmsgSpace(0):], data)
	return b
}
