package wire

import "strconv"

// CacheKey is the entry that a cache request is about, and the request's id.
type CacheKey struct {
	// Tenant, Namespace and Cache name the cache.
	Tenant, Namespace, Cache string
	// Key is any UTF-8 text, also the empty one.
	Key string
	// RequestID is echoed in the answer; this client always sends one.
	RequestID RequestID
}

func putCacheKey(dst []byte, k *CacheKey) []byte {
	dst = putScope(dst, k.Tenant, k.Namespace, "cache", k.Cache)
	return putText(dst, "key", k.Key)
}

// putTTL adds a time to live in milliseconds, or null for none: the field is always there.
func putTTL(dst []byte, ttlMillis uint64, hasTTL bool) []byte {
	if hasTTL {
		return putUint(dst, "ttl_ms", ttlMillis)
	}
	return append(putName(dst, "ttl_ms"), "null"...)
}

// AppendCachePut appends a `cache_put` frame. ttlMillis counts only with hasTTL.
//
//felix:hot
func AppendCachePut(dst []byte, k *CacheKey, value []byte, ttlMillis uint64, hasTTL bool) []byte {
	dst, start := openMessage(dst, MsgCachePut)
	dst = putCacheKey(dst, k)
	dst = putBase64(dst, "value", value)
	dst = putUint(dst, "request_id", k.RequestID)
	dst = putTTL(dst, ttlMillis, hasTTL)
	return closeMessage(dst, start)
}

// AppendCacheGet appends a `cache_get` frame.
//
//felix:hot
func AppendCacheGet(dst []byte, k *CacheKey) []byte {
	dst, start := openMessage(dst, MsgCacheGet)
	dst = putCacheKey(dst, k)
	dst = putUint(dst, "request_id", k.RequestID)
	return closeMessage(dst, start)
}

// AppendCacheDelete appends a `cache_delete` frame. Only to brokers that advertised FeatureCacheDelete.
//
//felix:hot
func AppendCacheDelete(dst []byte, k *CacheKey) []byte {
	dst, start := openMessage(dst, MsgCacheDelete)
	dst = putCacheKey(dst, k)
	dst = putUint(dst, "request_id", k.RequestID)
	return closeMessage(dst, start)
}

// AppendCachePutIf appends a `cache_put_if` frame. Only to brokers that advertised FeatureCacheConditional,
// as for AppendCacheDeleteIf.
func AppendCachePutIf(
	dst []byte, k *CacheKey, value []byte, ttlMillis uint64, hasTTL bool, c Condition,
) []byte {
	dst, start := openMessage(dst, MsgCachePutIf)
	dst = putCacheKey(dst, k)
	dst = putBase64(dst, "value", value)
	if hasTTL {
		dst = putUint(dst, "ttl_ms", ttlMillis)
	}
	if c.Absent {
		dst = putText(dst, "condition", "absent")
	} else {
		dst = append(putName(dst, "condition"), `{"version":`...)
		dst = append(strconv.AppendUint(dst, c.Version, 10), '}')
	}
	dst = putUint(dst, "request_id", k.RequestID)
	return closeMessage(dst, start)
}

// AppendCacheDeleteIf appends a `cache_delete_if` frame: delete the entry if it has this version.
func AppendCacheDeleteIf(dst []byte, k *CacheKey, version uint64) []byte {
	dst, start := openMessage(dst, MsgCacheDeleteIf)
	dst = putCacheKey(dst, k)
	dst = putUint(dst, "version", version)
	dst = putUint(dst, "request_id", k.RequestID)
	return closeMessage(dst, start)
}

// CacheValue answers a get or a delete.
type CacheValue struct {
	// Tenant, Namespace, Cache and Key repeat the request: real clients require them without comparing.
	Tenant, Namespace, Cache, Key []byte
	// HasValue means that there is, or on a delete was, an entry; a value of no bytes is one. Without it the
	// answer is null.
	HasValue bool
	Value    []byte
	// HasRequestID echoes RequestID.
	HasRequestID bool
	RequestID    RequestID
	// HasVersion sends Version: hits of a get only, to clients that offered FeatureCacheConditional.
	HasVersion bool
	Version    uint64
}

// AppendCacheValue appends a `cache_value` frame. The member `value` is always there.
//
//felix:hot
func AppendCacheValue(dst []byte, v *CacheValue) []byte {
	dst, start := openMessage(dst, MsgCacheValue)
	dst = putScope(dst, v.Tenant, v.Namespace, "cache", v.Cache)
	dst = putText(dst, "key", v.Key)
	if v.HasValue {
		dst = putBase64(dst, "value", v.Value)
	} else {
		dst = append(putName(dst, "value"), "null"...)
	}
	if v.HasRequestID {
		dst = putUint(dst, "request_id", v.RequestID)
	}
	if v.HasVersion {
		dst = putUint(dst, "version", v.Version)
	}
	return closeMessage(dst, start)
}

// AppendCacheOK appends a `cache_ok` frame.
//
//felix:hot
func AppendCacheOK(dst []byte, id RequestID) []byte {
	dst, start := openMessage(dst, MsgCacheOK)
	dst = putUint(dst, "request_id", id)
	return closeMessage(dst, start)
}

// AppendCacheConditionResult appends a `cache_condition_result` frame: whether the conditional write
// happened, and the entry's version now, if it has one.
func AppendCacheConditionResult(
	dst []byte, id RequestID, applied bool, version uint64, hasVersion bool,
) []byte {
	dst, start := openMessage(dst, MsgCacheConditionResult)
	dst = putBool(dst, "applied", applied)
	if hasVersion {
		dst = putUint(dst, "version", version)
	}
	dst = putUint(dst, "request_id", id)
	return closeMessage(dst, start)
}
