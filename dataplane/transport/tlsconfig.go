package transport

import (
	"crypto/rand"
	"crypto/tls"
)

// configPair is the two TLS configurations of one certificate. Which one a handshake gets decides about the
// protocol id (wire protocol section 2.1), since crypto/tls under QUIC refuses a client without one if the
// server lists any, and a client with one if it lists none:
//
//	client offers        configuration
//	nothing              bare: no id is negotiated; with RequireALPN named, which refuses it
//	felix/1 or more      named: felix/1 is selected
//	only other ids       named: refused, among them the id that brokers use between themselves
type configPair struct {
	bare  *tls.Config
	named *tls.Config
}

func newConfigPair(certificate tls.Certificate) *configPair {
	bare := &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{certificate}}
	// Ticket keys of its own: without them crypto/tls takes those of the outer configuration, which outlives
	// the certificate, and clients would go on resuming sessions of the old one.
	var ticketKey [32]byte
	rand.Read(ticketKey[:])
	bare.SetSessionTicketKeys([][32]byte{ticketKey})
	named := bare.Clone()
	named.NextProtos = []string{ALPN}
	return &configPair{bare: bare, named: named}
}

// serverTLS returns the configuration of a listener, which picks one of the pair in force for each handshake.
func serverTLS(certificates *Certificates, requireALPN bool) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			pair := certificates.current()
			if len(hello.SupportedProtos) == 0 && !requireALPN {
				return pair.bare, nil
			}
			return pair.named, nil
		},
	}
}
