package api

// The stable codes of Error.Code.
const (
	CodeInvalidRequest   = "invalid_request"       // 400: bad grammar or payload
	CodeUnauthorized     = "unauthorized"          // 401: credential missing or wrong
	CodeForbidden        = "forbidden"             // 403: no right, or the endpoint is closed here
	CodeNotFound         = "not_found"             // 404: unknown object or path
	CodeMethodNotAllowed = "method_not_allowed"    // 405
	CodeAlreadyExists    = "already_exists"        // 409: the name is taken
	CodeFeatureNotFinal  = "feature_not_finalized" // 409: the fleet feature is not finalized
	CodePayloadTooLarge  = "payload_too_large"     // 413: body above 1 MiB
	CodeInternal         = "internal"              // 500
	CodeUnavailable      = "unavailable"           // 503: no quorum or no store; may have applied
)

// Error is the body of every answer that is not a success (rule P7).
type Error struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Health is the body of the probes (section 3.7).
type Health struct {
	Status string `json:"status"`           // "ok" or "unavailable"
	Reason string `json:"reason,omitempty"` // why the instance is not ready
}
