package wire

// shape is what the value of a field has to be.
type shape uint8

const (
	shapeText         shape = iota // string
	shapeBase64                    // string, kept as base64 text
	shapeKey                       // string, base64 of UTF-8, decoded
	shapeU16                       // integer 0..2^16-1
	shapeU32                       // integer 0..2^32-1
	shapeU64                       // integer 0..2^64-1
	shapeI64                       // integer -2^63..2^63-1
	shapeBool                      // true or false
	shapeAck                       // "none", "per_message" or "per_batch"
	shapeRouting                   // "jump_hash"
	shapeKind                      // "stream" or "cache"
	shapePayloads                  // array of strings
	shapePorts                     // array of integers 0..2^16-1
	shapeStart                     // "latest", "earliest" or {"offset":u64}
	shapeCondition                 // "absent" or {"version":u64}
	shapeDetail                    // {"reason":string?,"retry_after_ms":u64?}
	shapeRefused                   // the reason of publish_refused
	shapeCursorReason              // "too_old" or "in_future"
	shapeOwners                    // array of shard owners
	shapeBrokers                   // array of brokers
)

// need says whether a field may be missing (the field classes of wire protocol section 6).
type need uint8

const (
	required need = iota // R: there and not null
	optional             // O: may be absent or null
	nullable             // N: there, may be null
)

// rule is one field of a message type.
type rule struct {
	field Field
	shape shape
	need  need
}

// Rules that many types share.
var (
	ruleRequestID    = rule{FieldRequestID, shapeU64, required}
	ruleMayRequestID = rule{FieldRequestID, shapeU64, optional}
	ruleSubscription = rule{FieldSubscriptionID, shapeU64, required}
	ruleKey          = rule{FieldKey, shapeText, required}
	ruleRoutingKey   = rule{FieldKey, shapeKey, optional}
	ruleAck          = rule{FieldAck, shapeAck, optional}
	ruleText         = rule{FieldText, shapeText, required}
	ruleShards       = rule{FieldShards, shapeU32, required}
	ruleRouting      = rule{FieldRouting, shapeRouting, optional}
	rulePayloads     = rule{FieldPayloads, shapePayloads, required}
)

// stream, cache and group scopes: T, C and G of wire protocol section 8.
func streamScope(rules ...rule) []rule {
	return append([]rule{
		{FieldTenant, shapeText, required},
		{FieldNamespace, shapeText, required},
		{FieldStream, shapeText, required},
	}, rules...)
}

func cacheScope(rules ...rule) []rule {
	return append([]rule{
		{FieldTenant, shapeText, required},
		{FieldNamespace, shapeText, required},
		{FieldCache, shapeText, required},
	}, rules...)
}

func groupScope() []rule {
	return streamScope(ruleRequestID,
		rule{FieldShard, shapeU32, required},
		rule{FieldGroup, shapeText, required})
}

// namedScope is the scope of the questions about a stream or a cache.
func namedScope(rules ...rule) []rule {
	return append([]rule{
		{FieldTenant, shapeText, required},
		{FieldNamespace, shapeText, required},
		{FieldName, shapeText, required},
		{FieldKind, shapeKind, required},
	}, rules...)
}

// refusalRules are the optional parts of a coded refusal.
func refusalRules(rules ...rule) []rule {
	return append(rules,
		rule{FieldCodeName, shapeText, optional},
		rule{FieldRetryName, shapeText, optional},
		rule{FieldDetail, shapeDetail, optional})
}

// schemas lists the fields of every message type. Types that this release answers with a refusal, or never
// asks for, list what the answer needs: the names for the permission check and the request id.
var schemas = [messageTypes][]rule{
	MsgAuth: {
		{FieldTenant, shapeText, required},
		{FieldToken, shapeText, required},
		{FieldClientFlags, shapeU16, optional},
		{FieldClientFeatures, shapeU32, optional},
		{FieldClientFeaturesHi, shapeU32, optional},
	},
	MsgAuthOK: {
		{FieldServerFlags, shapeU16, required},
		{FieldServerFeatures, shapeU32, optional},
		{FieldServerFeaturesHi, shapeU32, optional},
		{FieldListenerPorts, shapePorts, optional},
		{FieldPublishWindow, shapeU32, optional},
	},
	MsgError: refusalRules(ruleText),
	MsgUnsupported: {
		{FieldRequestType, shapeText, required},
		{FieldExtension, shapeText, optional},
		ruleMayRequestID,
	},
	MsgExtension: {{FieldName, shapeText, required}, ruleMayRequestID},

	MsgPublish: streamScope(ruleRoutingKey, ruleMayRequestID, ruleAck,
		rule{FieldPayload, shapeBase64, required}),
	MsgPublishBatch:      streamScope(rulePayloads, ruleRoutingKey, ruleMayRequestID, ruleAck),
	MsgPublishWidth:      streamScope(ruleShards, ruleRouting),
	MsgPublishOK:         {ruleRequestID, {FieldOffset, shapeU64, optional}},
	MsgPublishError:      refusalRules(ruleRequestID, ruleText),
	MsgPublishRefused:    {ruleRequestID, {FieldReason, shapeRefused, required}, ruleText},
	MsgProducerInit:      {ruleRequestID},
	MsgProducerInitOK:    {ruleRequestID},
	MsgPublishIdempotent: streamScope(ruleRequestID),
	MsgPublishIf:         streamScope(ruleRequestID),

	MsgSubscribe: streamScope(
		rule{FieldSubscriptionID, shapeU64, optional},
		rule{FieldStart, shapeStart, optional},
		rule{FieldShard, shapeU32, optional},
		rule{FieldQueueCapacity, shapeU32, optional}),
	MsgSubscribed: {
		ruleSubscription,
		{FieldStartOffset, shapeU64, optional},
		{FieldLiveOffset, shapeU64, optional},
		{FieldQueueCapacity, shapeU32, optional},
	},
	MsgSubscribeCursorError: {
		{FieldReason, shapeCursorReason, required},
		{FieldRequested, shapeU64, required},
		{FieldAvailable, shapeU64, required},
	},
	MsgEventStreamHello: {ruleSubscription},
	MsgEvent: streamScope(rule{FieldPayload, shapeBase64, required},
		rule{FieldOffset, shapeU64, optional}),
	MsgEventBatch: streamScope(rulePayloads, rule{FieldBaseOffset, shapeU64, optional}),
	MsgShardMoved: {
		ruleSubscription,
		{FieldResumeFrom, shapeU64, optional},
		{FieldNodeID, shapeText, optional},
		{FieldAddr, shapeText, optional},
		{FieldGeneration, shapeU64, required},
	},
	MsgSubscriptionLagged: {ruleSubscription, {FieldResumeFrom, shapeU64, required}},
	MsgStreamDeleted:      {ruleSubscription},

	MsgCachePut: cacheScope(ruleKey, ruleMayRequestID,
		rule{FieldValue, shapeBase64, required},
		rule{FieldTTLMillis, shapeU64, optional}),
	MsgCacheGet:    cacheScope(ruleKey, ruleMayRequestID),
	MsgCacheDelete: cacheScope(ruleKey, ruleMayRequestID),
	MsgCacheValue: cacheScope(ruleKey, ruleMayRequestID,
		rule{FieldValue, shapeBase64, nullable},
		rule{FieldVersion, shapeU64, optional}),
	MsgCacheOK: {ruleRequestID},
	MsgCachePutIf: cacheScope(ruleKey, ruleRequestID,
		rule{FieldValue, shapeBase64, required},
		rule{FieldTTLMillis, shapeU64, optional},
		rule{FieldCondition, shapeCondition, required}),
	MsgCacheDeleteIf: cacheScope(ruleKey, ruleRequestID,
		rule{FieldVersion, shapeU64, required}),
	MsgCacheConditionResult: {
		ruleRequestID,
		{FieldApplied, shapeBool, required},
		{FieldVersion, shapeU64, optional},
	},
	MsgCacheWatch:   cacheScope(),
	MsgCounterAdd:   cacheScope(ruleKey, ruleRequestID, rule{FieldDelta, shapeI64, required}),
	MsgCounterGet:   cacheScope(ruleKey, ruleRequestID),
	MsgCounterValue: {ruleRequestID},

	MsgGroupPoll:        groupScope(),
	MsgGroupAck:         groupScope(),
	MsgGroupNack:        groupScope(),
	MsgGroupDeadLetter:  groupScope(),
	MsgGroupExtend:      groupScope(),
	MsgGroupDeadLetters: groupScope(),
	MsgGroupDiscard:     groupScope(),
	MsgGroupRedrive:     groupScope(),
	MsgGroupSeek:        groupScope(),
	MsgGroupDescribe:    groupScope(),
	MsgGroupDelete:      groupScope(),

	MsgGroupRecords:        {ruleRequestID},
	MsgGroupExtended:       {ruleRequestID},
	MsgGroupDeadLetterList: {ruleRequestID},
	MsgGroupPosition:       {ruleRequestID},
	MsgGroupInfo:           {ruleRequestID},
	MsgGroupDeleted:        {ruleRequestID},

	MsgCommit:        streamScope(ruleRequestID),
	MsgCommitOK:      {ruleRequestID},
	MsgStateGet:      streamScope(ruleRequestID),
	MsgStateValue:    {ruleRequestID},
	MsgOffsetForTime: streamScope(ruleRequestID),
	MsgOffsetValue:   {ruleRequestID},
	MsgStreamRead:    streamScope(ruleRequestID),
	MsgStreamRecords: {ruleRequestID},

	MsgTopologyView: {{FieldBrokers, shapeBrokers, required}},
	MsgNotLeader: {
		{FieldNodeID, shapeText, required},
		{FieldAddr, shapeText, optional},
		{FieldGeneration, shapeU64, required},
	},
	MsgStreamShards:     streamScope(ruleRequestID),
	MsgStreamShardsView: {ruleShards, ruleRequestID, ruleRouting},
	MsgCacheShards:      cacheScope(ruleRequestID),
	MsgCacheShardsView:  {ruleShards, ruleRequestID},
	MsgShardOwners:      namedScope(ruleRequestID),
	MsgShardOwnersView:  {{FieldOwners, shapeOwners, required}, ruleRequestID},

	MsgShardInspect:          namedScope(rule{FieldShard, shapeU32, required}, ruleRequestID),
	MsgShardInspectInfo:      {ruleRequestID},
	MsgSubscriptionsList:     {ruleRequestID},
	MsgSubscriptionsListInfo: {ruleRequestID},
}
