package wire

// Field names a member of a JSON message that some schema reads. Which fields a message has depends on its
// type: a member that the type does not have is skipped whatever its value is.
type Field uint8

// The fields, by their wire names.
const (
	FieldType             Field = iota // `type`
	FieldTenant                        // `tenant_id`
	FieldNamespace                     // `namespace`
	FieldStream                        // `stream`
	FieldCache                         // `cache`
	FieldName                          // `name`
	FieldKind                          // `kind`
	FieldKey                           // `key`
	FieldGroup                         // `group`
	FieldToken                         // `token`
	FieldText                          // `message`
	FieldCodeName                      // `code`
	FieldRetryName                     // `retry`
	FieldDetail                        // `detail`
	FieldReason                        // `reason`
	FieldRetryAfterMillis              // `retry_after_ms`
	FieldRequestID                     // `request_id`
	FieldClientFlags                   // `client_flags`
	FieldClientFeatures                // `client_features`
	FieldClientFeaturesHi              // `client_features_hi`
	FieldServerFlags                   // `server_flags`
	FieldServerFeatures                // `server_features`
	FieldServerFeaturesHi              // `server_features_hi`
	FieldListenerPorts                 // `listener_ports`
	FieldPublishWindow                 // `publish_window`
	FieldAck                           // `ack`
	FieldPayload                       // `payload`
	FieldPayloads                      // `payloads`
	FieldValue                         // `value`
	FieldTTLMillis                     // `ttl_ms`
	FieldVersion                       // `version`
	FieldCondition                     // `condition`
	FieldApplied                       // `applied`
	FieldDelta                         // `delta`
	FieldShard                         // `shard`
	FieldShards                        // `shards`
	FieldRouting                       // `routing`
	FieldStart                         // `start`
	FieldSubscriptionID                // `subscription_id`
	FieldQueueCapacity                 // `queue_capacity`
	FieldStartOffset                   // `start_offset`
	FieldLiveOffset                    // `live_offset`
	FieldRequested                     // `requested`
	FieldAvailable                     // `available`
	FieldOffset                        // `offset`
	FieldBaseOffset                    // `base_offset`
	FieldResumeFrom                    // `resume_from`
	FieldNodeID                        // `node_id`
	FieldAddr                          // `addr`
	FieldGeneration                    // `generation`
	FieldRequestType                   // `request_type`
	FieldExtension                     // `extension`
	FieldOwners                        // `owners`
	FieldBrokers                       // `brokers`
	fieldCount                         // how many there are; also "no field"
)

var fieldNames = [fieldCount]string{
	FieldType:             "type",
	FieldTenant:           "tenant_id",
	FieldNamespace:        "namespace",
	FieldStream:           "stream",
	FieldCache:            "cache",
	FieldName:             "name",
	FieldKind:             "kind",
	FieldKey:              "key",
	FieldGroup:            "group",
	FieldToken:            "token",
	FieldText:             "message",
	FieldCodeName:         "code",
	FieldRetryName:        "retry",
	FieldDetail:           "detail",
	FieldReason:           "reason",
	FieldRetryAfterMillis: "retry_after_ms",
	FieldRequestID:        "request_id",
	FieldClientFlags:      "client_flags",
	FieldClientFeatures:   "client_features",
	FieldClientFeaturesHi: "client_features_hi",
	FieldServerFlags:      "server_flags",
	FieldServerFeatures:   "server_features",
	FieldServerFeaturesHi: "server_features_hi",
	FieldListenerPorts:    "listener_ports",
	FieldPublishWindow:    "publish_window",
	FieldAck:              "ack",
	FieldPayload:          "payload",
	FieldPayloads:         "payloads",
	FieldValue:            "value",
	FieldTTLMillis:        "ttl_ms",
	FieldVersion:          "version",
	FieldCondition:        "condition",
	FieldApplied:          "applied",
	FieldDelta:            "delta",
	FieldShard:            "shard",
	FieldShards:           "shards",
	FieldRouting:          "routing",
	FieldStart:            "start",
	FieldSubscriptionID:   "subscription_id",
	FieldQueueCapacity:    "queue_capacity",
	FieldStartOffset:      "start_offset",
	FieldLiveOffset:       "live_offset",
	FieldRequested:        "requested",
	FieldAvailable:        "available",
	FieldOffset:           "offset",
	FieldBaseOffset:       "base_offset",
	FieldResumeFrom:       "resume_from",
	FieldNodeID:           "node_id",
	FieldAddr:             "addr",
	FieldGeneration:       "generation",
	FieldRequestType:      "request_type",
	FieldExtension:        "extension",
	FieldOwners:           "owners",
	FieldBrokers:          "brokers",
}

// String returns the wire name.
func (f Field) String() string {
	if f < fieldCount {
		return fieldNames[f]
	}
	return "none"
}

// fieldOf maps a member name to its field, fieldCount if no schema reads it.
//
//felix:hot
func fieldOf(name []byte) Field {
	switch string(name) {
	case "type":
		return FieldType
	case "tenant_id":
		return FieldTenant
	case "namespace":
		return FieldNamespace
	case "stream":
		return FieldStream
	case "cache":
		return FieldCache
	case "name":
		return FieldName
	case "kind":
		return FieldKind
	case "key":
		return FieldKey
	case "group":
		return FieldGroup
	case "token":
		return FieldToken
	case "message":
		return FieldText
	case "code":
		return FieldCodeName
	case "retry":
		return FieldRetryName
	case "detail":
		return FieldDetail
	case "reason":
		return FieldReason
	case "retry_after_ms":
		return FieldRetryAfterMillis
	case "request_id":
		return FieldRequestID
	case "client_flags":
		return FieldClientFlags
	case "client_features":
		return FieldClientFeatures
	case "client_features_hi":
		return FieldClientFeaturesHi
	case "server_flags":
		return FieldServerFlags
	case "server_features":
		return FieldServerFeatures
	case "server_features_hi":
		return FieldServerFeaturesHi
	case "listener_ports":
		return FieldListenerPorts
	case "publish_window":
		return FieldPublishWindow
	case "ack":
		return FieldAck
	case "payload":
		return FieldPayload
	case "payloads":
		return FieldPayloads
	case "value":
		return FieldValue
	case "ttl_ms":
		return FieldTTLMillis
	case "version":
		return FieldVersion
	case "condition":
		return FieldCondition
	case "applied":
		return FieldApplied
	case "delta":
		return FieldDelta
	case "shard":
		return FieldShard
	case "shards":
		return FieldShards
	case "routing":
		return FieldRouting
	case "start":
		return FieldStart
	case "subscription_id":
		return FieldSubscriptionID
	case "queue_capacity":
		return FieldQueueCapacity
	case "start_offset":
		return FieldStartOffset
	case "live_offset":
		return FieldLiveOffset
	case "requested":
		return FieldRequested
	case "available":
		return FieldAvailable
	case "offset":
		return FieldOffset
	case "base_offset":
		return FieldBaseOffset
	case "resume_from":
		return FieldResumeFrom
	case "node_id":
		return FieldNodeID
	case "addr":
		return FieldAddr
	case "generation":
		return FieldGeneration
	case "request_type":
		return FieldRequestType
	case "extension":
		return FieldExtension
	case "owners":
		return FieldOwners
	case "brokers":
		return FieldBrokers
	}
	return fieldCount
}
