package wire

import "strconv"

// Auth is the first frame of every client stream (wire protocol section 7.1).
type Auth struct {
	// Tenant must match the token's tenant; Token is opaque here.
	Tenant, Token string
	// Announce leaves flags and features out: the frame only satisfies the connection's authentication timer
	// and is answered by a plain `ok`.
	Announce bool
	// Flags and Features are what this client understands.
	Flags    Flags
	Features Features
}

// AppendAuth appends an `auth` frame.
func AppendAuth(dst []byte, a *Auth) []byte {
	dst, start := openMessage(dst, MsgAuth)
	dst = putText(dst, "tenant_id", a.Tenant)
	dst = putText(dst, "token", a.Token)
	if !a.Announce {
		lo, hi := a.Features.Words()
		dst = putUint(dst, "client_flags", uint64(a.Flags))
		dst = putUint(dst, "client_features", uint64(lo))
		if hi != 0 {
			dst = putUint(dst, "client_features_hi", uint64(hi))
		}
	}
	return closeMessage(dst, start)
}

// AuthOK answers an `auth` that carried client_flags (wire protocol section 7.2).
type AuthOK struct {
	// ServerFlags is everything the broker implements, not the intersection with the client.
	ServerFlags Flags
	// ServerFeatures is everything the broker can serve; the extended word is sent only if PeerExtended.
	ServerFeatures Features
	// PeerExtended means that the client's features had FeatureExtended.
	PeerExtended bool
	// ListenerPorts are all client-facing ports; fewer than two are not sent.
	ListenerPorts []uint16
	// PublishWindow is the number of publishes that may be unanswered; 0 is not sent. REQUIRES 0 unless the
	// client offered FeaturePublishPipeline.
	PublishWindow uint32
}

// AppendAuthOK appends an `auth_ok` frame. The EXTENDED bit is sent exactly when the extended word is.
func AppendAuthOK(dst []byte, a *AuthOK) []byte {
	lo, hi := a.ServerFeatures.Words()
	if !a.PeerExtended {
		lo, hi = lo&^uint32(FeatureExtended), 0
	}
	dst, start := openMessage(dst, MsgAuthOK)
	dst = putUint(dst, "server_flags", uint64(a.ServerFlags))
	if lo != 0 {
		dst = putUint(dst, "server_features", uint64(lo))
	}
	if hi != 0 {
		dst = putUint(dst, "server_features_hi", uint64(hi))
	}
	if len(a.ListenerPorts) > 1 {
		dst = append(putName(dst, "listener_ports"), '[')
		for i, port := range a.ListenerPorts {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = strconv.AppendUint(dst, uint64(port), 10)
		}
		dst = append(dst, ']')
	}
	if a.PublishWindow != 0 {
		dst = putUint(dst, "publish_window", uint64(a.PublishWindow))
	}
	return closeMessage(dst, start)
}

// AppendOK appends an `ok` frame: the answer to an `auth` without client_flags and to a `cache_put` without
// request id.
//
//felix:hot
func AppendOK(dst []byte) []byte {
	dst, start := openMessage(dst, MsgOK)
	return closeMessage(dst, start)
}

// AppendError appends an `error` frame. coded says whether the client offered FeatureErrorCodes; without it
// only the message is sent. It must never answer an acked publish: real clients then replace their
// connection.
//
//felix:hot
func AppendError(dst []byte, r *Refusal, coded bool) []byte {
	dst, start := openMessage(dst, MsgError)
	return closeMessage(putRefusal(dst, r, coded), start)
}

// putRefusal adds the members of a refusal. The detail is left out when there is nothing in it, and so is
// each half.
func putRefusal(dst []byte, r *Refusal, coded bool) []byte {
	dst = putText(dst, "message", r.Message)
	if !coded {
		return dst
	}
	dst = putText(dst, "code", r.effectiveCode().String())
	dst = putText(dst, "retry", r.EffectiveClass().String())
	if !r.hasDetail() {
		return dst
	}
	dst = append(putName(dst, "detail"), '{')
	if r.Reason != "" {
		dst = append(dst, `"reason":`...)
		dst = appendQuoted(dst, r.Reason)
	}
	if r.RetryAfterMillis != 0 {
		if r.Reason != "" {
			dst = append(dst, ',')
		}
		dst = append(dst, `"retry_after_ms":`...)
		dst = strconv.AppendUint(dst, r.RetryAfterMillis, 10)
	}
	return append(dst, '}')
}

// AppendUnsupported appends an `unsupported` frame: the answer to an unknown type, or to an `extension`,
// whose name is then given (nil otherwise). Only for clients that offered FeatureUnsupported (wire protocol
// section 8.2).
func AppendUnsupported(dst, requestType, extension []byte, id RequestID, hasID bool) []byte {
	dst, start := openMessage(dst, MsgUnsupported)
	dst = putText(dst, "request_type", requestType)
	if extension != nil {
		dst = putText(dst, "extension", extension)
	}
	if hasID {
		dst = putUint(dst, "request_id", id)
	}
	return closeMessage(dst, start)
}
