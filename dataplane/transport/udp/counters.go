package udp

import "github.com/felix-go/felix/dataplane/stat"

// counters are what a socket counts. Sockets that share a stat.Set add up in the same counters.
type counters struct {
	datagrams  *stat.Counter
	batches    *stat.Counter
	oversized  *stat.Counter
	truncated  *stat.Counter
	readErrors *stat.Counter
}

func newCounters(set *stat.Set) counters {
	return counters{
		datagrams: set.Counter("felix_udp_datagrams_total", "Datagrams handed to the QUIC library."),
		batches:   set.Counter("felix_udp_batches_total", "Receive calls to the kernel that returned data."),
		oversized: set.Counter("felix_udp_oversized_total",
			"Datagrams larger than the slots of the QUIC library, handed over in a slice of their own."),
		truncated: set.Counter("felix_udp_truncated_total",
			"Receive calls of which data or control messages did not fit and some datagrams were dropped."),
		readErrors: set.Counter("felix_udp_read_errors_total", "Passing receive errors of the kernel."),
	}
}

// showBuffers sets the gauges of what the kernel granted; of several sockets the last one shows.
func showBuffers(set *stat.Set, receiveBytes, sendBytes int) {
	set.Gauge("felix_udp_receive_buffer_bytes", "Receive buffer that the kernel granted.").Set(int64(receiveBytes))
	set.Gauge("felix_udp_send_buffer_bytes", "Send buffer that the kernel granted.").Set(int64(sendBytes))
}
