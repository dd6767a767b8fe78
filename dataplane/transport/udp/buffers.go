package udp

// minBufferBytes is the smallest buffer worth asking for; below it the system's default stays.
const minBufferBytes = 64 << 10

// halveUntil calls set with wanted, a half, a quarter and so on until it is accepted, and returns the size
// that was, or 0.
func halveUntil(wanted int, set func(int) error) int {
	for size := wanted; size >= minBufferBytes; size /= 2 {
		if set(size) == nil {
			return size
		}
	}
	return 0
}
