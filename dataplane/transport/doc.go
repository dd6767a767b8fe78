// Package transport carries streams of bytes between brokers and clients over QUIC. It is the only package
// that imports the QUIC library; everybody else sees the types of this one.
//
// A Listener owns one UDP socket (transport/udp), the TLS side of the handshake, the bound on connections and
// the flow-control windows. A Dialer owns one UDP socket too and shares it between its connections. Conn,
// Stream, SendStream and ReceiveStream are thin: each stream half has one owner, which alone reads or writes
// it.
//
// Nothing in here knows frames, tenants or authentication. The one thing a connection is told from above is
// Authenticated: until then its peer may not have more than 64 KiB on the way in.
package transport
