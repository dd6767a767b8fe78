package admin

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// guard admits this machine and the admin token.
//
// A peer counts as this machine when its address is loopback and it asked for an address or for localhost by
// name. The second half keeps out web pages: one whose own name has been pointed at 127.0.0.1 reaches the
// listener from the operator's browser, but with its own name in Host.
func (s *Server) guard(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch {
		case local(r) || s.holdsToken(r):
			h(w, r)
		case s.cfg.Token != "":
			w.Header().Set("WWW-Authenticate", `Bearer realm="felix admin"`)
			http.Error(w, "the admin token is needed from another machine", http.StatusUnauthorized)
		default:
			http.Error(w, "only from this machine: no admin token is configured", http.StatusForbidden)
		}
	}
}

func local(r *http.Request) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !peer.Addr().IsLoopback() {
		return false
	}
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	_, err = netip.ParseAddr(host)
	return err == nil || strings.EqualFold(host, "localhost")
}

// holdsToken compares digests, so that neither the time nor the length tells anything about the token.
func (s *Server) holdsToken(r *http.Request) bool {
	given, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if s.cfg.Token == "" || !found {
		return false
	}
	got, want := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(s.cfg.Token))
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1
}
