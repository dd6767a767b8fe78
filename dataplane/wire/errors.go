package wire

import "errors"

// Errors of the frame header (wire protocol section 4). Any of them ends the stream: the length cannot be
// trusted.
var (
	// ErrShortHeader reports fewer than HeaderLen bytes.
	ErrShortHeader = errors.New("wire: frame header shorter than 12 bytes")
	// ErrBadMagic reports a header that does not start with FLX1.
	ErrBadMagic = errors.New("wire: frame header without the FLX1 magic")
	// ErrBadVersion reports a header version other than 1.
	ErrBadVersion = errors.New("wire: unknown frame version")
)

// Errors of the binary layouts (wire protocol section 9). IsMalformed is true for all of them.
var (
	// ErrFlags reports flag bits that the parser does not know or a combination that no layout has. The
	// frame's length was right, so the stream stays usable.
	ErrFlags = errors.New("wire: unsupported frame flags")
	// ErrTruncated reports a payload that ends inside a field.
	ErrTruncated = errors.New("wire: truncated frame payload")
	// ErrCount reports a record count that the remaining bytes cannot hold.
	ErrCount = errors.New("wire: record count larger than the payload can hold")
	// ErrNotUTF8 reports a name, key or text that is not valid UTF-8.
	ErrNotUTF8 = errors.New("wire: name or text is not UTF-8")
	// ErrAckMode reports an acknowledgement mode outside per_message and per_batch, or an idempotent batch
	// that is not per_batch.
	ErrAckMode = errors.New("wire: unknown acknowledgement mode")
	// ErrStatus reports a status byte other than 0 and 1, or modifier bits that contradict it.
	ErrStatus = errors.New("wire: unknown status in an answer")
	// ErrExtensionKind reports an extension frame of another kind than the parser was asked for.
	ErrExtensionKind = errors.New("wire: unexpected extension kind")
)

// Errors of the JSON messages (wire protocol section 6). Each ends the stream without an answer. IsMalformed
// is true for all of them; Message.BadField names the field for the last three.
var (
	// ErrMalformedJSON reports a payload that is not exactly one JSON object in UTF-8, or that nests too
	// deeply.
	ErrMalformedJSON = errors.New("wire: malformed JSON message")
	// ErrMissingField reports that a required field is absent.
	ErrMissingField = errors.New("wire: required field missing in JSON message")
	// ErrWrongType reports a field whose value has another JSON type, is out of range or is no member of its
	// set.
	ErrWrongType = errors.New("wire: wrong type of a field in JSON message")
	// ErrBadBase64 reports text that is not standard base64 with padding.
	ErrBadBase64 = errors.New("wire: field is not standard base64")
)

// Errors of PublishFrame.Validate: what the layout cannot carry. They are mistakes of the caller and never
// come from a parser.
var (
	// ErrNameTooLong reports a tenant, namespace, stream or key longer than MaxNameBytes.
	ErrNameTooLong = errors.New("wire: name or key longer than 65535 bytes")
	// ErrFrameTooLarge reports a frame whose payload would be larger than MaxFramePayload.
	ErrFrameTooLarge = errors.New("wire: frame payload larger than 16 MiB")
)

// IsMalformed reports whether err came from a parser that did not understand its bytes, as opposed to a
// header that cannot be trusted or a mistake of the caller.
func IsMalformed(err error) bool {
	switch err {
	case ErrFlags, ErrTruncated, ErrCount, ErrNotUTF8, ErrAckMode, ErrStatus, ErrExtensionKind,
		ErrMalformedJSON, ErrMissingField, ErrWrongType, ErrBadBase64:
		return true
	}
	return false
}
