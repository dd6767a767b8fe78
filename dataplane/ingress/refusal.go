package ingress

import "github.com/felix-go/felix/dataplane/wire"

// Refusals that a hot path can meet are built once. A refusal is an answer, not an error: nothing here travels as a Go error.
var (
	refuseAuthRequired = &wire.Refusal{Code: wire.CodeUnauthenticated, Message: "auth required"}
	refuseAuthFailed   = &wire.Refusal{Code: wire.CodeUnauthenticated, Message: "auth failed"}
	refuseSecondAuth   = &wire.Refusal{Code: wire.CodeInvalidRequest, Message: "auth already established"}
	refuseDraining     = &wire.Refusal{Code: wire.CodeDraining, Message: "broker shutting down"}
	refuseNotReady     = &wire.Refusal{Code: wire.CodeOverloaded, Message: "broker has no metadata yet", Reason: "not_ready", RetryAfterMillis: 200}
	refuseForbidden    = &wire.Refusal{Code: wire.CodeForbidden, Message: "forbidden"}
	refuseTenant       = &wire.Refusal{Code: wire.CodeForbidden, Message: "tenant mismatch"}
	refuseFlags        = &wire.Refusal{Code: wire.CodeInvalidRequest, Message: "unsupported frame flags"}
	refuseMalformed    = &wire.Refusal{Code: wire.CodeInvalidRequest, Message: "malformed publish batch"}
	refuseEmptyBatch   = &wire.Refusal{Code: wire.CodeInvalidRequest, Message: "empty publish batch"}
	refuseIdempotent   = &wire.Refusal{Code: wire.CodeInvalidRequest, Message: "idempotent publishing is not offered by this broker"}
	refuseNoRequestID  = &wire.Refusal{Code: wire.CodeInvalidRequest, Message: "missing request_id for acked publish"}
	refuseUnexpected   = &wire.Refusal{Code: wire.CodeInvalidRequest, Message: "unexpected message type"}
	refuseFrameLimit   = &wire.Refusal{Code: wire.CodeLimitExceeded, Message: "frame larger than the limit", Reason: "frame_too_large"}
	refuseQueueFull    = &wire.Refusal{Code: wire.CodeOverloaded, Message: "publish queue full; retry in 10 ms", Reason: "publish_queue_full", RetryAfterMillis: 10}
	refuseInFlight     = &wire.Refusal{Code: wire.CodeOverloaded, Message: "publish bytes in flight at the limit; retry in 10 ms", Reason: "publish_queue_full", RetryAfterMillis: 10}
	refuseTTL          = &wire.Refusal{Code: wire.CodeInvalidRequest, Message: "ttl_ms must be 1 to 315576000000 or absent", Reason: "ttl"}
	refuseValueLimit   = &wire.Refusal{Code: wire.CodeLimitExceeded, Message: "cache value larger than 12580000 bytes", Reason: "value_too_large"}
	refuseKeyLimit     = &wire.Refusal{Code: wire.CodeInvalidRequest, Message: "key longer than 65535 bytes", Reason: "key_too_long"}
	refuseCacheFull    = &wire.Refusal{Code: wire.CodeOverloaded, Message: "cache is at cache_max_bytes and evicts nothing", Reason: "cache_full"}
	refuseShard        = &wire.Refusal{Code: wire.CodeInvalidRequest, Message: "no such shard", Reason: "shard"}
	refuseSubsLimit    = &wire.Refusal{Code: wire.CodeLimitExceeded, Message: "too many subscriptions on this connection", Reason: "subscriptions"}
	refuseSubStreams   = &wire.Refusal{Code: wire.CodeLimitExceeded, Message: "the client allows no more event streams", Reason: "event_streams"}
	refuseNotOffered   = &wire.Refusal{Code: wire.CodeInvalidRequest, Message: "not offered by this broker", Reason: "not_offered"}
	refuseGone         = &wire.Refusal{Code: wire.CodeNotFound, Message: "stream not found: deleted"}
)

// shown is how much of a name a refusal repeats: no name that exists is longer.
func shown(name []byte) string { return string(name[:min(len(name), 128)]) }

func refuseStream(tenant, namespace, stream []byte) *wire.Refusal {
	return &wire.Refusal{Code: wire.CodeNotFound, Message: "stream not found: tenant=" + shown(tenant) +
		" namespace=" + shown(namespace) + " stream=" + shown(stream)}
}

func refuseCache(tenant, namespace, cache []byte) *wire.Refusal {
	return &wire.Refusal{Code: wire.CodeNotFound, Message: "cache scope not found: " + shown(tenant) + "/" +
		shown(namespace) + "/" + shown(cache)}
}
