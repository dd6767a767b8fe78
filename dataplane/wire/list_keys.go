package wire

import (
	"encoding/binary"
	"unicode/utf8"
)

// ExtensionKind is the first payload byte of an extension frame (FlagExtension) and says what the frame is.
type ExtensionKind uint8

// The extension frames of FeatureMultiKeys.
const (
	// ExtensionListKeys asks for one page of the keys of a cache.
	ExtensionListKeys ExtensionKind = 0x10
	// ExtensionListKeysAnswer is the page, or why there is none.
	ExtensionListKeysAnswer ExtensionKind = 0x11
)

// ParseExtensionKind reads the kind of an extension frame; ErrTruncated for an empty payload. Unknown kinds
// are no error here: the caller answers them.
func ParseExtensionKind(payload []byte) (ExtensionKind, error) {
	if len(payload) == 0 {
		return 0, ErrTruncated
	}
	return ExtensionKind(payload[0]), nil
}

// ListKeys asks for the keys of a cache that start with Prefix and sort after Cursor:
//
//	u8 0x10, u64 request_id
//	u16 tenant_len, tenant   u16 namespace_len, namespace   u16 cache_len, cache
//	u32 prefix_len, prefix   u32 cursor_len, cursor   u32 limit
//
// All slices borrow the payload.
type ListKeys struct {
	// RequestID is echoed in the answer.
	RequestID RequestID
	// Tenant, Namespace and Cache name the cache, UTF-8.
	Tenant, Namespace, Cache []byte
	// Prefix selects keys by plain string prefix, UTF-8; empty selects all.
	Prefix []byte
	// Cursor is the last key of the page before, UTF-8; empty starts from the beginning.
	Cursor []byte
	// Limit is the most keys wanted; a broker may answer fewer and say that there are more.
	Limit uint32
}

// AppendListKeys appends the request as a whole frame. REQUIRES names of at most MaxNameBytes bytes.
func AppendListKeys(dst []byte, q *ListKeys) []byte {
	dst, start := openFrame(dst)
	dst = append(dst, byte(ExtensionListKeys))
	dst = binary.BigEndian.AppendUint64(dst, q.RequestID)
	dst = appendText(dst, q.Tenant)
	dst = appendText(dst, q.Namespace)
	dst = appendText(dst, q.Cache)
	dst = AppendRecord(dst, q.Prefix)
	dst = AppendRecord(dst, q.Cursor)
	dst = binary.BigEndian.AppendUint32(dst, q.Limit)
	return closeFrame(dst, start, FlagExtension)
}

// ParseListKeys reads the payload of an extension frame, kind byte included, into q. Errors:
// ErrExtensionKind, ErrTruncated, ErrNotUTF8. On an error q.RequestID is set when the frame was long enough
// for it. Trailing bytes are ignored.
func ParseListKeys(payload []byte, q *ListKeys) error {
	*q = ListKeys{}
	b, err := takeExtension(ExtensionListKeys, payload, &q.RequestID)
	if err != nil {
		return err
	}
	if q.Tenant, b, err = takeText(b); err != nil {
		return err
	}
	if q.Namespace, b, err = takeText(b); err != nil {
		return err
	}
	if q.Cache, b, err = takeText(b); err != nil {
		return err
	}
	if q.Prefix, b, err = takeLongText(b); err != nil {
		return err
	}
	if q.Cursor, b, err = takeLongText(b); err != nil {
		return err
	}
	var ok bool
	if q.Limit, _, ok = takeU32(b); !ok {
		return ErrTruncated
	}
	return nil
}

// ListKeysAnswer is one page of keys or a refusal:
//
//	u8 0x11, u64 request_id, u8 status
//	status 0 (ok)       u8 more, u32 count, count x { u32 len, key }
//	status 1 (refused)  u16 code, u8 class, u16 message_len, message
type ListKeysAnswer struct {
	// RequestID is the id of the request.
	RequestID RequestID
	// OK means that More, Count and Keys are set; otherwise Code, Class and Message.
	OK bool
	// More means that the last key of this page is the cursor of a next one.
	More bool
	// Count is the number of keys.
	Count uint32
	// Keys is the run of keys in order; walk it with NextRecord. It borrows the payload.
	Keys []byte
	// Code and Class say why there is no page.
	Code  Code
	Class Class
	// Message is for people, UTF-8. It borrows the payload.
	Message []byte
}

// AppendListKeysAnswer appends a page as a whole frame.
func AppendListKeysAnswer(dst []byte, id RequestID, more bool, keys [][]byte) []byte {
	dst, start := openFrame(dst)
	dst = append(dst, byte(ExtensionListKeysAnswer))
	dst = binary.BigEndian.AppendUint64(dst, id)
	flag := byte(0)
	if more {
		flag = 1
	}
	dst = append(dst, 0, flag)
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(keys)))
	for _, key := range keys {
		dst = AppendRecord(dst, key)
	}
	return closeFrame(dst, start, FlagExtension)
}

// AppendListKeysRefused appends a refusal as a whole frame. Reason and wait have no place in this layout.
func AppendListKeysRefused(dst []byte, id RequestID, r *Refusal) []byte {
	dst, start := openFrame(dst)
	dst = append(dst, byte(ExtensionListKeysAnswer))
	dst = binary.BigEndian.AppendUint64(dst, id)
	dst = append(dst, 1)
	dst = binary.BigEndian.AppendUint16(dst, uint16(r.effectiveCode()))
	dst = append(dst, byte(r.EffectiveClass()))
	dst = appendText(dst, clipText(r.Message))
	return closeFrame(dst, start, FlagExtension)
}

// ParseListKeysAnswer reads the payload of an extension frame, kind byte included, into a. Errors:
// ErrExtensionKind, ErrTruncated, ErrCount, ErrNotUTF8, ErrStatus. An unknown class is fatal. Trailing bytes
// are ignored.
func ParseListKeysAnswer(payload []byte, a *ListKeysAnswer) error {
	*a = ListKeysAnswer{}
	b, err := takeExtension(ExtensionListKeysAnswer, payload, &a.RequestID)
	if err != nil {
		return err
	}
	status, b, ok := takeU8(b)
	switch {
	case !ok:
		return ErrTruncated
	case status == 0:
		a.OK = true
		return a.takePage(b)
	case status == 1:
		return a.takeRefusal(b)
	}
	return ErrStatus
}

func (a *ListKeysAnswer) takePage(b []byte) (err error) {
	more, b, ok := takeU8(b)
	if !ok {
		return ErrTruncated
	}
	if more > 1 {
		return ErrStatus
	}
	a.More = more == 1
	if a.Count, b, ok = takeU32(b); !ok {
		return ErrTruncated
	}
	if a.Keys, _, _, err = takeRecords(b, a.Count, 0); err != nil {
		return err
	}
	for key, rest, ok := NextRecord(a.Keys); ok; key, rest, ok = NextRecord(rest) {
		if !utf8.Valid(key) {
			return ErrNotUTF8
		}
	}
	return nil
}

func (a *ListKeysAnswer) takeRefusal(b []byte) (err error) {
	code, b, ok := takeU16(b)
	if !ok {
		return ErrTruncated
	}
	class, b, ok := takeU8(b)
	if !ok {
		return ErrTruncated
	}
	a.Code, a.Class = Code(code), classOfByte(class)
	a.Message, _, err = takeText(b)
	return err
}

// takeExtension checks the kind byte and cuts it and the request id off b.
func takeExtension(want ExtensionKind, b []byte, id *RequestID) (rest []byte, err error) {
	kind, err := ParseExtensionKind(b)
	if err != nil {
		return nil, err
	}
	if kind != want {
		return nil, ErrExtensionKind
	}
	v, rest, ok := takeU64(b[1:])
	if !ok {
		return nil, ErrTruncated
	}
	*id = v
	return rest, nil
}
