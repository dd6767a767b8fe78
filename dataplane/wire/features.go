package wire

// Features is the set of capabilities a peer advertised: the low 32 bits are the first feature word, the high
// 32 bits the extended word (wire protocol section 7.4). The extended word counts only when FeatureExtended
// is set.
type Features uint64

// Feature bits of the first word.
const (
	FeatureTopology            Features = 1 << 0  // `topology`
	FeatureRedirect            Features = 1 << 1  // `not_leader` instead of a coded error
	FeatureCacheDelete         Features = 1 << 2  // `cache_delete`
	FeatureConsumerGroup       Features = 1 << 3  // group poll, ack and nack
	FeatureGroupDeadLetters    Features = 1 << 4  // dead letters: list, discard, redrive
	FeatureStreamShards        Features = 1 << 5  // `stream_shards`
	FeatureCacheWatch          Features = 1 << 6  // `cache_watch`
	FeatureCacheWatchRetained  Features = 1 << 7  // `retained` on `cache_watch`
	FeatureCounters            Features = 1 << 8  // `counter_add`, `counter_get`
	FeatureIdempotentProducer  Features = 1 << 9  // producer ids and sequences
	FeatureCacheShards         Features = 1 << 10 // `cache_shards`
	FeatureErrorCodes          Features = 1 << 11 // code, retry and detail on JSON errors
	FeatureShardMoved          Features = 1 << 12 // `shard_moved` ends an event stream
	FeatureUnsupported         Features = 1 << 13 // unknown requests are answered, the stream stays
	FeatureSequenceReused      Features = 1 << 14 // reason `sequence_reused`
	FeaturePublishPipeline     Features = 1 << 15 // publish window, answers in order
	FeatureAtomicCommit        Features = 1 << 16 // `commit`, `state_get`
	FeatureStreamPublishWindow Features = 1 << 17 // the publish window is per stream
	FeatureShardOwners         Features = 1 << 18 // `shard_owners`
	FeatureAckOnCommit         Features = 1 << 19 // acked publishes answered after the write
	FeatureGroupConsumer       Features = 1 << 20 // `consumer`, `reclaim` on `group_poll`
	FeatureSubscriptionLagged  Features = 1 << 21 // `subscription_lagged` ends a durable subscription
	FeatureGroupSkipped        Features = 1 << 22 // `skipped_before` on group records
	FeatureGroupPublisher      Features = 1 << 23 // `publisher` on group records
	FeatureGroupAdmin          Features = 1 << 24 // group seek, describe, delete
	FeatureCacheConditional    Features = 1 << 25 // `cache_put_if`, `cache_delete_if`, `version` on gets
	FeatureRecordTimestamps    Features = 1 << 26 // `offset_for_time`, timestamps on group records
	FeatureGroupClaimControl   Features = 1 << 27 // group extend, dead letter, delays
	FeaturePublishConditional  Features = 1 << 28 // `publish_if`
	FeatureStreamRead          Features = 1 << 29 // `stream_read`
	FeatureSubscribeQueue      Features = 1 << 30 // `queue_capacity`
	FeatureExtended            Features = 1 << 31 // an extended word follows; never advertised on its own
)

// Feature bits of the extended word that the v1 protocol defines.
const (
	FeatureInspect       Features = 1 << 32 // `shard_inspect`, `subscriptions_list`
	FeatureStreamDeleted Features = 1 << 33 // `stream_deleted` ends an event stream
	FeaturePublishWidth  Features = 1 << 34 // `publish_width`, code `stale_width`
	FeatureExplicitShard Features = 1 << 35 // `shard` on publishes
)

// Feature bits of the extended word that are ours; the layouts behind them are sent only when both sides set
// the bit (decisions section 4).
const (
	FeatureBinaryCache   Features = 1 << 63 // binary cache requests and answers
	FeatureMultiKeys     Features = 1 << 62 // multi-get, multi-put, multi-delete; list keys
	FeatureLossReports   Features = 1 << 61 // in-memory batches carry offsets and skip counts
	FeaturePooledStreams Features = 1 << 60 // several subscriptions share one event stream
	FeatureDelayed       Features = 1 << 59 // delayed delivery
	FeatureIncarnation   Features = 1 << 58 // incarnation in positions
	FeatureCounterDedup  Features = 1 << 57 // counter adds with producer id and sequence
	FeatureTokenRenewal  Features = 1 << 56 // token renewal on live streams
)

// FeaturesFromWords joins the two feature words of a handshake; hi counts only if lo has the EXTENDED bit
// (wire protocol section 7.3).
func FeaturesFromWords(lo, hi uint32) Features {
	f := Features(lo)
	if f&FeatureExtended != 0 {
		f |= Features(hi) << 32
	}
	return f
}

// Words splits f as it is advertised: the EXTENDED bit of lo is set exactly when hi is not zero.
func (f Features) Words() (lo, hi uint32) {
	hi = uint32(f >> 32)
	lo = uint32(f &^ FeatureExtended)
	if hi != 0 {
		lo |= uint32(FeatureExtended)
	}
	return lo, hi
}

// Has reports whether every bit of want is set.
//
//felix:hot
func (f Features) Has(want Features) bool { return f&want == want }
