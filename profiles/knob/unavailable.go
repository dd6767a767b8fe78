package knob

import "strings"

// unavailable are names of the reference broker that this one does not have: they are accepted, with a
// warning that says why they change nothing. A name moves to the table on the day it does something.
var unavailable = map[string]string{
	// Network and TLS.
	"FELIX_QUIC_LISTENERS":                "one listener serves all clients",
	"FELIX_TLS_CERT_EXPORT":               "the generated certificate is in state_dir",
	"FELIX_CONTROLPLANE_SYNC_INTERVAL_MS": "the control plane is followed by long polls",
	"FELIX_KEEPALIVE_MS":                  "the broker sends no keep-alives, clients do",
	"FELIX_INITIAL_MTU":                   mtu,
	"FELIX_MTU_UPPER_BOUND":               mtu,
	"FELIX_MAX_UDP_PAYLOAD":               mtu,
	"FELIX_MTU_BLACK_HOLE_COOLDOWN_MS":    "this transport probes the path by its own rule",
	"FELIX_INITIAL_CWND":                  "this transport sets its own initial congestion window",
	"FELIX_UDP_SEND_BUFFER":               "udp_socket_buffer (FELIX_UDP_RECV_BUFFER) sets both directions",
	"FELIX_ACK_ELICITING_THRESHOLD":       "this transport acknowledges by its own rule",
	"FELIX_ACK_FREQ_DISABLE":              "this transport has no ACK-frequency extension",
	"FELIX_CONN_STATS_MS":                 "path statistics are not logged",

	// Admission and limits.
	"FELIX_MAX_SUBSCRIPTIONS_PER_CONN_TOTAL": "max_subscriptions_per_conn is the one bound of a connection",
	"FELIX_TENANT_METRICS_MAX":               "the cap on tenant labels is fixed",

	// Publish path.
	"FELIX_ACK_WAIT_TIMEOUT_MS":                      "an acknowledgement waits for its publish",
	"FELIX_BROKER_PUBLISH_CONN_TOTAL_INFLIGHT_BYTES": "pub_conn_inflight_bytes bounds the whole connection",
	"FELIX_BROKER_PUB_FLUSH_CONCURRENCY":             "nothing is flushed to disk",
	"FELIX_CORE_SHARDS":                              "pinned core shards are not built",
	"FELIX_PUBLISH_QUORUM_TIMEOUT_MS":                "nothing is replicated",
	"FELIX_RECORD_PUBLISHERS":                        "publishers are not recorded",
	"FELIX_IO_RUNTIME_THREADS":                       "the Go runtime schedules I/O itself",
	"FELIX_WORKER_THREADS":                           "the Go runtime schedules work itself",
	"FELIX_PUMP_COLOCATE":                            "the Go runtime places goroutines itself",
	"FELIX_SUB_DEDICATED_THREAD":                     "the Go runtime places goroutines itself",
	"FELIX_TIMING_SAMPLE_EVERY":                      "per-stage timings are not built",
	"FELIX_DISABLE_TIMINGS":                          "per-stage timings are not built",

	// Delivery.
	"FELIX_SUB_WRITER_LANES":                lanes,
	"FELIX_SUB_EGRESS_LANES":                lanes,
	"FELIX_MAX_SUB_WRITER_LANES":            lanes,
	"FELIX_SUB_LANE_QUEUE_DEPTH":            lanes,
	"FELIX_SUB_QUEUE_BOUND":                 lanes,
	"FELIX_SUB_QUEUE_MODE":                  lanes,
	"FELIX_SUB_LANE_QUEUE_POLICY":           lanes,
	"FELIX_SUB_LANE_SHARD":                  lanes,
	"FELIX_SUB_SINGLE_WRITER_PER_CONN":      lanes,
	"FELIX_SUB_FLUSH_MAX_ITEMS":             lanes,
	"FELIX_SUB_FLUSH_DELAY_US":              lanes,
	"FELIX_SUB_DEDICATED_QUEUE_CAPACITY":    lanes,
	"FELIX_SUB_DELIVERY_SHAPING":            lanes,
	"FELIX_SUB_STREAM_MODE":                 "every subscription has an event stream of its own",
	"FELIX_SUB_STREAMS_PER_CONN":            "every subscription has an event stream of its own",
	"FELIX_EVENT_BATCH_MAX_EVENTS":          batches,
	"FELIX_EVENT_BATCH_MAX_BYTES":           batches,
	"FELIX_EVENT_BATCH_MAX_DELAY_US":        batches,
	"FELIX_FANOUT_BATCH":                    batches,
	"FELIX_CACHE_SEND_WINDOW":               "this transport has no send window",
	"FELIX_CACHE_CONN_RECV_WINDOW":          "pub_conn_recv_window covers cache traffic",
	"FELIX_CACHE_STREAM_RECV_WINDOW":        "pub_stream_recv_window covers cache traffic",
	"FELIX_CONTROL_STREAM_DRAIN_TIMEOUT_MS": "shutdown_drain_timeout_ms is the one budget of the drain",

	// Between brokers.
	"FELIX_CLIENT_ADVERTISE_ADDR":    alone,
	"FELIX_LEADER_SUSPECT_AFTER_MS":  alone,
	"FELIX_QUORUM_READS":             alone,
	"FELIX_SHARD_MOVE_HOLD_MS":       alone,
	"FELIX_SHARD_MOVE_HOLD_MAX":      alone,
	"FELIX_SHARD_MOVE_BYTES_PER_SEC": alone,

	// Shutdown.
	"FELIX_SHUTDOWN_HANDOFF_TIMEOUT_MS": "there is no other broker to hand shards to",
}

// families are beginnings of such names whose whole area this broker does not have.
var families = []struct{ prefix, why string }{
	{"FELIX_DURABLE_", inMemory},
	{"FELIX_STORAGE_", inMemory},
	{"FELIX_GROUP_", "consumer groups are not built"},
	{"FELIX_NODE_", alone},
	{"FELIX_REGION_", alone},
	{"FELIX_INTERNAL_", alone},
	{"FELIX_REPLICATION_", alone},
	{"FELIX_KAFKA_", "there is no Kafka listener"},
}

// whyNot says why a name of the reference broker has no effect here, "" for a name that it does not have.
func whyNot(variable string) string {
	if why := unavailable[variable]; why != "" {
		return why
	}
	for _, f := range families {
		if strings.HasPrefix(variable, f.prefix) {
			return f.why
		}
	}
	return ""
}

// dishonoured are names of the reference broker that promise protection or durability which this one does not
// give: whoever sets them relies on it, so the start fails instead of going on without.
var dishonoured = map[string]string{
	"FELIX_TLS_CLIENT_CA":                "client certificates are not checked",
	"FELIX_TLS_CLIENT_CERT_BIND_SUBJECT": "client certificates are not checked",
	"FELIX_TENANT_PUBLISH_BYTES_PER_SEC": "publish rates of tenants are not limited",
	"FELIX_TENANT_PUBLISH_MSGS_PER_SEC":  "publish rates of tenants are not limited",
	"FELIX_TENANT_PUBLISH_QUOTAS":        "publish rates of tenants are not limited",
	"FELIX_TENANT_PUBLISH_BURST_MS":      "publish rates of tenants are not limited",
	"FELIX_DURABLE_STORAGE_DIR":          inMemory,
	"FELIX_DURABLE_FSYNC_MODE":           inMemory,
}

const (
	alone    = "this broker is a cluster of one"
	inMemory = "streams and caches are kept in memory"

	mtu     = "packets of this transport are at most 1452 bytes"
	lanes   = "writer lanes are not built; one pump writes each event stream"
	batches = "what waits is sent together up to subscriber_max_bytes_per_write"
)
