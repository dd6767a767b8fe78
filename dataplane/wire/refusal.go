package wire

// Reasons that travel in the detail of a refusal (wire protocol section 16, decisions section 8).
const (
	ReasonPublishQueueFull = "publish_queue_full" // overloaded: a publish queue is full
	ReasonTenantQuota      = "tenant_quota"       // overloaded: the tenant used up its share
	ReasonFrameTooLarge    = "frame_too_large"    // limit_exceeded: a frame beyond the stream's limit
)

// Refusal is the negative answer to a request: an answer, not a Go error. Hot paths send preallocated values.
type Refusal struct {
	// Code says why. CodeUnknown is sent as CodeInternal.
	Code Code
	// Class says what the client may do; 0 means the default of Code.
	Class Class
	// Message is for people, in UTF-8; a binary answer carries at most MaxNameBytes of it.
	Message string
	// Reason refines Code for programs; empty means none.
	Reason string
	// RetryAfterMillis is the suggested wait in milliseconds; 0 means none.
	RetryAfterMillis uint64
}

// EffectiveClass returns the class that is sent: Class, or the default of the code when Class is 0.
//
//felix:hot
func (r *Refusal) EffectiveClass() Class {
	if r.Class != 0 {
		return r.Class
	}
	return r.effectiveCode().DefaultClass()
}

// effectiveCode returns the code that is sent: an unset code is an internal failure, because 0 is never sent.
func (r *Refusal) effectiveCode() Code {
	if r.Code == CodeUnknown {
		return CodeInternal
	}
	return r.Code
}

// hasDetail reports whether there is anything to say beyond code and class.
func (r *Refusal) hasDetail() bool { return r.Reason != "" || r.RetryAfterMillis != 0 }
