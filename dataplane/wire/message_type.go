package wire

// MessageType is the `type` of a JSON message (wire protocol section 8). The types a client may send come
// first, those that only a broker sends follow.
type MessageType uint8

// The message types. MsgUnknown stands for every type that this release does not know; Message.RawType has
// its name.
const (
	MsgUnknown               MessageType = iota
	MsgAuth                              // `auth`
	MsgPublish                           // `publish`
	MsgPublishBatch                      // `publish_batch`
	MsgPublishWidth                      // `publish_width`
	MsgProducerInit                      // `producer_init`
	MsgPublishIdempotent                 // `publish_idempotent`
	MsgPublishIf                         // `publish_if`
	MsgSubscribe                         // `subscribe`
	MsgCachePut                          // `cache_put`
	MsgCacheGet                          // `cache_get`
	MsgCacheDelete                       // `cache_delete`
	MsgCachePutIf                        // `cache_put_if`
	MsgCacheDeleteIf                     // `cache_delete_if`
	MsgCacheWatch                        // `cache_watch`
	MsgCounterAdd                        // `counter_add`
	MsgCounterGet                        // `counter_get`
	MsgGroupPoll                         // `group_poll`
	MsgGroupAck                          // `group_ack`
	MsgGroupNack                         // `group_nack`
	MsgGroupDeadLetter                   // `group_dead_letter`
	MsgGroupExtend                       // `group_extend`
	MsgGroupDeadLetters                  // `group_dead_letters`
	MsgGroupDiscard                      // `group_discard`
	MsgGroupRedrive                      // `group_redrive`
	MsgGroupSeek                         // `group_seek`
	MsgGroupDescribe                     // `group_describe`
	MsgGroupDelete                       // `group_delete`
	MsgCommit                            // `commit`
	MsgStateGet                          // `state_get`
	MsgOffsetForTime                     // `offset_for_time`
	MsgStreamRead                        // `stream_read`
	MsgTopology                          // `topology`
	MsgStreamShards                      // `stream_shards`
	MsgCacheShards                       // `cache_shards`
	MsgShardOwners                       // `shard_owners`
	MsgShardInspect                      // `shard_inspect`
	MsgSubscriptionsList                 // `subscriptions_list`
	MsgExtension                         // `extension`
	MsgAuthOK                            // `auth_ok`
	MsgOK                                // `ok`
	MsgError                             // `error`
	MsgUnsupported                       // `unsupported`
	MsgPublishOK                         // `publish_ok`
	MsgPublishError                      // `publish_error`
	MsgProducerInitOK                    // `producer_init_ok`
	MsgPublishRefused                    // `publish_refused`
	MsgSubscribed                        // `subscribed`
	MsgSubscribeCursorError              // `subscribe_cursor_error`
	MsgEventStreamHello                  // `event_stream_hello`
	MsgEvent                             // `event`
	MsgEventBatch                        // `event_batch`
	MsgShardMoved                        // `shard_moved`
	MsgSubscriptionLagged                // `subscription_lagged`
	MsgStreamDeleted                     // `stream_deleted`
	MsgCacheValue                        // `cache_value`
	MsgCacheOK                           // `cache_ok`
	MsgCacheConditionResult              // `cache_condition_result`
	MsgCacheWatchStarted                 // `cache_watch_started`
	MsgCacheEvent                        // `cache_event`
	MsgCacheWatchLagged                  // `cache_watch_lagged`
	MsgCounterValue                      // `counter_value`
	MsgGroupRecords                      // `group_records`
	MsgGroupExtended                     // `group_extended`
	MsgGroupDeadLetterList               // `group_dead_letter_list`
	MsgGroupPosition                     // `group_position`
	MsgGroupInfo                         // `group_info`
	MsgGroupDeleted                      // `group_deleted`
	MsgCommitOK                          // `commit_ok`
	MsgStateValue                        // `state_value`
	MsgOffsetValue                       // `offset_value`
	MsgStreamRecords                     // `stream_records`
	MsgTopologyView                      // `topology_view`
	MsgNotLeader                         // `not_leader`
	MsgStreamShardsView                  // `stream_shards_view`
	MsgCacheShardsView                   // `cache_shards_view`
	MsgShardOwnersView                   // `shard_owners_view`
	MsgShardInspectInfo                  // `shard_inspect_info`
	MsgSubscriptionsListInfo             // `subscriptions_list_info`
	messageTypes                         // how many there are
)

var messageNames = [messageTypes]string{
	MsgUnknown:               "unknown",
	MsgAuth:                  "auth",
	MsgPublish:               "publish",
	MsgPublishBatch:          "publish_batch",
	MsgPublishWidth:          "publish_width",
	MsgProducerInit:          "producer_init",
	MsgPublishIdempotent:     "publish_idempotent",
	MsgPublishIf:             "publish_if",
	MsgSubscribe:             "subscribe",
	MsgCachePut:              "cache_put",
	MsgCacheGet:              "cache_get",
	MsgCacheDelete:           "cache_delete",
	MsgCachePutIf:            "cache_put_if",
	MsgCacheDeleteIf:         "cache_delete_if",
	MsgCacheWatch:            "cache_watch",
	MsgCounterAdd:            "counter_add",
	MsgCounterGet:            "counter_get",
	MsgGroupPoll:             "group_poll",
	MsgGroupAck:              "group_ack",
	MsgGroupNack:             "group_nack",
	MsgGroupDeadLetter:       "group_dead_letter",
	MsgGroupExtend:           "group_extend",
	MsgGroupDeadLetters:      "group_dead_letters",
	MsgGroupDiscard:          "group_discard",
	MsgGroupRedrive:          "group_redrive",
	MsgGroupSeek:             "group_seek",
	MsgGroupDescribe:         "group_describe",
	MsgGroupDelete:           "group_delete",
	MsgCommit:                "commit",
	MsgStateGet:              "state_get",
	MsgOffsetForTime:         "offset_for_time",
	MsgStreamRead:            "stream_read",
	MsgTopology:              "topology",
	MsgStreamShards:          "stream_shards",
	MsgCacheShards:           "cache_shards",
	MsgShardOwners:           "shard_owners",
	MsgShardInspect:          "shard_inspect",
	MsgSubscriptionsList:     "subscriptions_list",
	MsgExtension:             "extension",
	MsgAuthOK:                "auth_ok",
	MsgOK:                    "ok",
	MsgError:                 "error",
	MsgUnsupported:           "unsupported",
	MsgPublishOK:             "publish_ok",
	MsgPublishError:          "publish_error",
	MsgProducerInitOK:        "producer_init_ok",
	MsgPublishRefused:        "publish_refused",
	MsgSubscribed:            "subscribed",
	MsgSubscribeCursorError:  "subscribe_cursor_error",
	MsgEventStreamHello:      "event_stream_hello",
	MsgEvent:                 "event",
	MsgEventBatch:            "event_batch",
	MsgShardMoved:            "shard_moved",
	MsgSubscriptionLagged:    "subscription_lagged",
	MsgStreamDeleted:         "stream_deleted",
	MsgCacheValue:            "cache_value",
	MsgCacheOK:               "cache_ok",
	MsgCacheConditionResult:  "cache_condition_result",
	MsgCacheWatchStarted:     "cache_watch_started",
	MsgCacheEvent:            "cache_event",
	MsgCacheWatchLagged:      "cache_watch_lagged",
	MsgCounterValue:          "counter_value",
	MsgGroupRecords:          "group_records",
	MsgGroupExtended:         "group_extended",
	MsgGroupDeadLetterList:   "group_dead_letter_list",
	MsgGroupPosition:         "group_position",
	MsgGroupInfo:             "group_info",
	MsgGroupDeleted:          "group_deleted",
	MsgCommitOK:              "commit_ok",
	MsgStateValue:            "state_value",
	MsgOffsetValue:           "offset_value",
	MsgStreamRecords:         "stream_records",
	MsgTopologyView:          "topology_view",
	MsgNotLeader:             "not_leader",
	MsgStreamShardsView:      "stream_shards_view",
	MsgCacheShardsView:       "cache_shards_view",
	MsgShardOwnersView:       "shard_owners_view",
	MsgShardInspectInfo:      "shard_inspect_info",
	MsgSubscriptionsListInfo: "subscriptions_list_info",
}

// String returns the wire name; "unknown" for MsgUnknown.
func (t MessageType) String() string {
	if t < messageTypes {
		return messageNames[t]
	}
	return messageNames[MsgUnknown]
}

// FromClient reports whether a client may send t. It is false for broker-only types, for `error`, and for
// MsgUnknown: what a broker answers to those differs (wire protocol sections 6 and 8.2).
func (t MessageType) FromClient() bool { return t > MsgUnknown && t <= MsgExtension }

// messageTypeOf maps a wire name to its type, MsgUnknown if there is none. A switch, because the compiler
// turns it into a search by length and value that neither hashes nor allocates.
//
//felix:hot
func messageTypeOf(name []byte) MessageType {
	switch string(name) {
	case "auth":
		return MsgAuth
	case "publish":
		return MsgPublish
	case "publish_batch":
		return MsgPublishBatch
	case "publish_width":
		return MsgPublishWidth
	case "producer_init":
		return MsgProducerInit
	case "publish_idempotent":
		return MsgPublishIdempotent
	case "publish_if":
		return MsgPublishIf
	case "subscribe":
		return MsgSubscribe
	case "cache_put":
		return MsgCachePut
	case "cache_get":
		return MsgCacheGet
	case "cache_delete":
		return MsgCacheDelete
	case "cache_put_if":
		return MsgCachePutIf
	case "cache_delete_if":
		return MsgCacheDeleteIf
	case "cache_watch":
		return MsgCacheWatch
	case "counter_add":
		return MsgCounterAdd
	case "counter_get":
		return MsgCounterGet
	case "group_poll":
		return MsgGroupPoll
	case "group_ack":
		return MsgGroupAck
	case "group_nack":
		return MsgGroupNack
	case "group_dead_letter":
		return MsgGroupDeadLetter
	case "group_extend":
		return MsgGroupExtend
	case "group_dead_letters":
		return MsgGroupDeadLetters
	case "group_discard":
		return MsgGroupDiscard
	case "group_redrive":
		return MsgGroupRedrive
	case "group_seek":
		return MsgGroupSeek
	case "group_describe":
		return MsgGroupDescribe
	case "group_delete":
		return MsgGroupDelete
	case "commit":
		return MsgCommit
	case "state_get":
		return MsgStateGet
	case "offset_for_time":
		return MsgOffsetForTime
	case "stream_read":
		return MsgStreamRead
	case "topology":
		return MsgTopology
	case "stream_shards":
		return MsgStreamShards
	case "cache_shards":
		return MsgCacheShards
	case "shard_owners":
		return MsgShardOwners
	case "shard_inspect":
		return MsgShardInspect
	case "subscriptions_list":
		return MsgSubscriptionsList
	case "extension":
		return MsgExtension
	case "auth_ok":
		return MsgAuthOK
	case "ok":
		return MsgOK
	case "error":
		return MsgError
	case "unsupported":
		return MsgUnsupported
	case "publish_ok":
		return MsgPublishOK
	case "publish_error":
		return MsgPublishError
	case "producer_init_ok":
		return MsgProducerInitOK
	case "publish_refused":
		return MsgPublishRefused
	case "subscribed":
		return MsgSubscribed
	case "subscribe_cursor_error":
		return MsgSubscribeCursorError
	case "event_stream_hello":
		return MsgEventStreamHello
	case "event":
		return MsgEvent
	case "event_batch":
		return MsgEventBatch
	case "shard_moved":
		return MsgShardMoved
	case "subscription_lagged":
		return MsgSubscriptionLagged
	case "stream_deleted":
		return MsgStreamDeleted
	case "cache_value":
		return MsgCacheValue
	case "cache_ok":
		return MsgCacheOK
	case "cache_condition_result":
		return MsgCacheConditionResult
	case "cache_watch_started":
		return MsgCacheWatchStarted
	case "cache_event":
		return MsgCacheEvent
	case "cache_watch_lagged":
		return MsgCacheWatchLagged
	case "counter_value":
		return MsgCounterValue
	case "group_records":
		return MsgGroupRecords
	case "group_extended":
		return MsgGroupExtended
	case "group_dead_letter_list":
		return MsgGroupDeadLetterList
	case "group_position":
		return MsgGroupPosition
	case "group_info":
		return MsgGroupInfo
	case "group_deleted":
		return MsgGroupDeleted
	case "commit_ok":
		return MsgCommitOK
	case "state_value":
		return MsgStateValue
	case "offset_value":
		return MsgOffsetValue
	case "stream_records":
		return MsgStreamRecords
	case "topology_view":
		return MsgTopologyView
	case "not_leader":
		return MsgNotLeader
	case "stream_shards_view":
		return MsgStreamShardsView
	case "cache_shards_view":
		return MsgCacheShardsView
	case "shard_owners_view":
		return MsgShardOwnersView
	case "shard_inspect_info":
		return MsgShardInspectInfo
	case "subscriptions_list_info":
		return MsgSubscriptionsListInfo
	}
	return MsgUnknown
}
