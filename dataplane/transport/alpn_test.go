package transport

import (
	"crypto/tls"
	"testing"

	"github.com/quic-go/quic-go"
)

// dialOffering dials l and offers protos.
func dialOffering(t *testing.T, d *Dialer, l *Listener, protos []string) (*quic.Conn, error) {
	t.Helper()
	config := d.tls.Clone()
	config.NextProtos = protos
	config.ClientSessionCache = nil
	return d.transport.Dial(within(t), l.Addr(), config, d.profiles.loopback)
}

// TestALPN is the table of wire protocol section 2.1. The listener goes on after each failure.
func TestALPN(t *testing.T) {
	n := newNode(t)
	open := n.listen(t, nil)
	strict := n.listen(t, func(c *ListenConfig) { c.RequireALPN = true })
	d := n.dialer(t, nil)
	const alertNoApplicationProtocol = 0x178
	for _, c := range []struct {
		name   string
		l      *Listener
		offer  []string
		want   string
		refuse bool
	}{
		{name: "nothing", l: open},
		{name: "felix/1", l: open, offer: []string{"felix/1"}, want: "felix/1"},
		{name: "felix/1 and others", l: open, offer: []string{"h3", "felix/1"}, want: "felix/1"},
		{name: "others", l: open, offer: []string{"h3"}, refuse: true},
		{name: "internal", l: open, offer: []string{"felix-internal/1"}, refuse: true},
		{name: "nothing, id required", l: strict, refuse: true},
		{name: "felix/1, id required", l: strict, offer: []string{"felix/1"}, want: "felix/1"},
		{name: "others, id required", l: strict, offer: []string{"h3"}, refuse: true},
		{name: "internal, id required", l: strict, offer: []string{"felix-internal/1"}, refuse: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn, err := dialOffering(t, d, c.l, c.offer)
			if c.refuse {
				if info := refusal(t, err); info.Kind != CloseHandshake {
					t.Fatalf("refused as %+v", info)
				}
				failed, ok := err.(*quic.TransportError)
				if !ok || failed.ErrorCode != alertNoApplicationProtocol {
					t.Fatalf("refused with %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.l.Accept(within(t)); err != nil {
				t.Fatal(err)
			}
			state := conn.ConnectionState().TLS
			if state.NegotiatedProtocol != c.want {
				t.Fatalf("negotiated %q, want %q", state.NegotiatedProtocol, c.want)
			}
			if state.Version != tls.VersionTLS13 {
				t.Fatalf("TLS version %x", state.Version)
			}
			conn.CloseWithError(0, "")
		})
	}
	eventually(t, "failed handshakes are counted", func() bool {
		return n.count("felix_quic_handshakes_failed_total") == 5
	})
}

func TestDialerOffersALPN(t *testing.T) {
	n := newNode(t)
	l := n.listen(t, func(c *ListenConfig) { c.RequireALPN = true })
	client, server := connect(t, n.dialer(t, func(c *DialConfig) { c.OfferALPN = true }), l)
	roundTrip(t, client, server)
	_, err := n.dialer(t, nil).Dial(within(t), l.Addr().String())
	if info := refusal(t, err); info.Kind != CloseHandshake {
		t.Fatalf("a client that offers nothing got %+v", info)
	}
}
