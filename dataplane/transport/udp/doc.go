// Package udp is the socket under the QUIC transport: a UDP socket that receives many datagrams per system
// call.
//
// It knows datagrams and addresses, and nothing of QUIC. The transport hands the result of Socket.PacketConn
// to the QUIC library, which recognises the batch-reading interface and calls ReadBatch from its one reading
// goroutine; anything less than that interface falls silently to one datagram per call without segmentation
// offload, which a test asserts against.
package udp
