package knob

import "time"

const (
	kib = 1 << 10
	mib = 1 << 20
	gib = 1 << 30

	ms   = int64(time.Millisecond)
	hour = int64(time.Hour)
)

// table is every setting of a broker, grouped as its reference page is.
var table = []Knob{
	// Network and TLS.
	{Name: "quic_bind", Env: "FELIX_QUIC_BIND", Type: TypeString, Default: "0.0.0.0:5000", Text: "UDP address clients connect to; port 0 takes a free one"},
	{Name: "tls_cert", Env: "FELIX_TLS_CERT", Type: TypeString, Text: "PEM certificate, re-read when it changes; with tls_key"},
	{Name: "tls_key", Env: "FELIX_TLS_KEY", Type: TypeString, Text: "PEM key of tls_cert"},
	{Name: "tls_require_cert", Env: "FELIX_TLS_REQUIRE_CERT", Type: TypeBool, Default: "false", Text: "refuse to start with the generated certificate for localhost"},
	{Name: "tls_require_alpn", Env: "FELIX_TLS_REQUIRE_ALPN", Type: TypeBool, Default: "false", Text: "refuse clients that do not offer felix/1; shipped clients do not by default"},
	{Name: "metrics_bind", Env: "FELIX_BROKER_METRICS_BIND", Type: TypeString, Default: "0.0.0.0:8080", Text: "TCP address of health, metrics and profiles; empty serves none"},
	{Name: "admin_token_file", Env: "FELIX_ADMIN_TOKEN_FILE", Type: TypeString, Text: "file with the token that admits other machines to profiles and the log level"},
	{Name: "controlplane_url", Env: "FELIX_CONTROLPLANE_URL", Type: TypeString, Text: "control plane, http(s)://host:port"},
	{Name: "controlplane_ca", Env: "FELIX_CONTROLPLANE_CA", Type: TypeString, Text: "PEM file of the certificates to trust for an https control plane"},
	{Name: "controlplane_token_file", Env: "FELIX_CONTROLPLANE_TOKEN_FILE", Type: TypeString, Text: "file with the credential for the control plane"},
	{Name: "state_dir", Env: "FELIX_STATE_DIR", Type: TypeString, Text: "directory of the generated certificate and of the secret behind stateless resets"},
	{Name: "max_idle_timeout_ms", Env: "FELIX_MAX_IDLE_TIMEOUT_MS", Type: TypeDuration, Default: "6s", Min: 1000 * ms, Max: hour, Text: "close a connection on which nothing arrived for so long"},
	{Name: "handshakes_per_second", Env: "FELIX_HANDSHAKES_PER_SECOND", Type: TypeInt, Default: "500", Min: 1, Max: 1_000_000, Text: "above this rate clients prove their address first"},
	{Name: "udp_socket_buffer", Env: "FELIX_UDP_RECV_BUFFER", Type: TypeBytes, Default: "8MiB", Min: 64 * kib, Max: gib, Text: "UDP buffer asked of the kernel, each way"},
	{Name: "udp_gro", Env: "FELIX_UDP_GRO", Type: TypeBool, Default: "true", Text: "receive many datagrams per system call"},

	// Admission and limits.
	{Name: "max_frame_bytes", Env: "FELIX_MAX_FRAME_BYTES", Type: TypeBytes, Default: "16MiB", Min: kib, Max: 16 * mib, Text: "largest payload of a frame"},
	{Name: "preauth_max_frame_bytes", Env: "FELIX_PREAUTH_MAX_FRAME_BYTES", Type: TypeBytes, Default: "64KiB", Min: 4 * kib, Max: 64 * kib, Text: "largest payload before a login, and what a connection may send in all before its first one"},
	{Name: "preauth_max_streams_per_conn", Env: "FELIX_PREAUTH_MAX_STREAMS_PER_CONN", Type: TypeInt, Default: "16", Min: 1, Max: 1024, Text: "streams of a connection read at once before they log in"},
	{Name: "auth_timeout_ms", Env: "FELIX_AUTH_TIMEOUT_MS", Type: TypeDuration, Default: "10s", Min: 100 * ms, Max: hour, Text: "close a connection on which nobody logged in"},
	{Name: "answer_stall_timeout_ms", Env: "FELIX_ANSWER_STALL_TIMEOUT_MS", Type: TypeDuration, Default: "30s", Min: 1000 * ms, Max: hour, Text: "end a stream whose peer does not read its answers or leaves a frame half sent"},
	{Name: "max_client_connections", Env: "FELIX_MAX_CLIENT_CONNECTIONS", Type: TypeInt, Default: "8192", Min: 1, Max: 1_000_000, Text: "connections; more are refused before the handshake"},
	{Name: "max_connections_per_ip", Env: "FELIX_MAX_CONNECTIONS_PER_IP", Type: TypeInt, Default: "512", Min: 0, Max: 1_000_000, Text: "connections of one address; 0 is unlimited"},
	{Name: "max_subscriptions_per_conn", Env: "FELIX_MAX_SUBSCRIPTIONS_PER_CONN", Type: TypeInt, Default: "4096", Min: 1, Max: 1_000_000, Text: "live subscriptions of one connection"},

	// Publish path.
	{Name: "ack_on_commit", Env: "FELIX_ACK_ON_COMMIT", Type: TypeBool, Default: "false", Text: "acknowledge publishes after append and fan-out instead of when they are queued"},
	{Name: "pub_workers_per_conn", Env: "FELIX_BROKER_PUB_WORKERS_PER_CONN", Type: TypeInt, Default: "4", Min: 1, Max: 1024, Text: "executors of the process-wide publish scheduler"},
	{Name: "pub_queue_depth", Env: "FELIX_BROKER_PUB_QUEUE_DEPTH", Type: TypeInt, Default: "64", Min: 1, Max: 1 << 20, Text: "queued publishes guaranteed to each tenant"},
	{Name: "publish_queue_wait_timeout_ms", Env: "FELIX_PUBLISH_QUEUE_WAIT_MS", Type: TypeDuration, Default: "2s", Min: ms, Max: hour, Text: "how long a commit-acknowledged publish waits for room before it is refused"},
	{Name: "pub_inflight_bytes", Env: "FELIX_BROKER_PUBLISH_INFLIGHT_BYTES", Type: TypeBytes, Default: "64MiB", Min: mib, Max: 1024 * gib, Text: "publish bytes of the process between reader and append"},
	{Name: "pub_conn_inflight_bytes", Env: "FELIX_BROKER_PUBLISH_CONN_INFLIGHT_BYTES", Type: TypeBytes, Default: "16MiB", Min: 64 * kib, Max: 1024 * gib, Text: "the same of one connection"},
	{Name: "pub_conn_recv_window", Env: "FELIX_BROKER_PUB_CONN_RECV_WINDOW", Type: TypeBytes, Default: "64MiB", Min: 64 * kib, Max: 16 * gib, Text: "what a connection may have unread"},
	{Name: "pub_stream_recv_window", Env: "FELIX_BROKER_PUB_STREAM_RECV_WINDOW", Type: TypeBytes, Default: "16MiB", Min: 16 * kib, Max: 16 * gib, Text: "what a stream may have unread"},
	{Name: "ingress_window_bytes", Env: "FELIX_INGRESS_WINDOW_BYTES", Type: TypeBytes, Default: "256MiB", Min: mib, Max: 1024 * gib, Text: "what the receive windows of all connections grow to together"},
	{Name: "publish_window", Env: "FELIX_BROKER_PUBLISH_WINDOW", Type: TypeInt, Default: "256", Min: 1, Max: 65_536, Text: "unanswered requests of one stream; at the limit it is not read on"},
	{Name: "pub_ingress_wait", Env: "FELIX_PUB_INGRESS_WAIT", Type: TypeBool, Default: "false", Text: "let publishes wait for room instead of refusing or shedding them"},

	// Delivery.
	{Name: "subscriber_queue_capacity", Env: "FELIX_SUBSCRIBER_QUEUE_CAPACITY", Type: TypeInt, Default: "512", Min: 1, Max: 1 << 20, Text: "batches waiting for one subscriber"},
	{Name: "subscriber_queue_capacity_max", Env: "FELIX_SUBSCRIBER_QUEUE_CAPACITY_MAX", Type: TypeInt, Default: "4096", Min: 1, Max: 1 << 20, Text: "the most a client may ask for"},
	{Name: "subscriber_queue_bytes", Env: "FELIX_SUBSCRIBER_QUEUE_BYTES", Type: TypeBytes, Default: "4MiB", Min: kib, Max: 64 * gib, Text: "bytes waiting for one subscriber"},
	{Name: "subscriber_queue_policy", Env: "FELIX_SUB_QUEUE_POLICY", Type: TypeEnum, Default: "drop_new", Allowed: []string{"block", "drop_new"}, Text: "what a full subscriber queue does: hold up the publishers of the shard, or drop and count"},
	{Name: "subscriber_max_bytes_per_write", Env: "FELIX_SUB_MAX_BYTES_PER_WRITE", Type: TypeBytes, Default: "64KiB", Min: kib, Max: 16 * mib, Text: "how much one event-stream write combines"},
	{Name: "egress_bytes", Env: "FELIX_EGRESS_BYTES", Type: TypeBytes, Default: "256MiB", Min: mib, Max: 1024 * gib, Text: "bytes waiting in all subscriber queues together"},
	{Name: "replay_ring_records", Env: "FELIX_REPLAY_RING_RECORDS", Type: TypeInt, Default: "65536", Min: 0, Max: 1 << 30, Text: "records a shard of an in-memory stream keeps for late subscribers"},
	{Name: "replay_ring_bytes", Env: "FELIX_REPLAY_RING_BYTES", Type: TypeBytes, Default: "4MiB", Min: 0, Max: 64 * gib, Text: "the same in bytes"},
	{Name: "replay_total_bytes", Env: "FELIX_REPLAY_TOTAL_BYTES", Type: TypeBytes, Default: "256MiB", Min: mib, Max: 1024 * gib, Text: "bytes of all replay rings together"},

	// Cache.
	{Name: "cache_max_bytes", Env: "FELIX_CACHE_MAX_BYTES", Type: TypeBytes, Default: "auto", Min: 0, Max: 1024 * gib, Allowed: []string{"auto"}, Text: "memory of the cache; auto is a quarter of the memory limit, 0 is unlimited"},
	{Name: "cache_eviction", Env: "FELIX_CACHE_EVICTION", Type: TypeEnum, Default: "s3-fifo", Allowed: []string{"s3-fifo", "lru", "none"}, Text: "what leaves at the limit; none refuses puts instead"},

	// Process.
	{Name: "shutdown_predrain_ms", Env: "FELIX_SHUTDOWN_PREDRAIN_MS", Type: TypeDuration, Default: "0ms", Min: 0, Max: hour, Text: "serve on with readiness off for so long before draining"},
	{Name: "shutdown_drain_timeout_ms", Env: "FELIX_SHUTDOWN_DRAIN_TIMEOUT_MS", Type: TypeDuration, Default: "25s", Min: 100 * ms, Max: hour, Text: "one budget of the whole drain; half of it is the grace of work in flight"},
	{Name: "log_level", Env: "FELIX_LOG_LEVEL", Type: TypeEnum, Default: "info", Allowed: []string{"debug", "info", "warn", "error"}, Text: "least level that is logged"},
	{Name: "log_format", Env: "FELIX_LOG_FORMAT", Type: TypeEnum, Default: "auto", Allowed: []string{"auto", "text", "json"}, Text: "auto is text on a terminal and JSON elsewhere"},
}

// unavailable are names of the reference broker that this one does not have: they are accepted, with a warning.
var unavailable = map[string]string{
	"FELIX_INITIAL_CWND":            "this transport sets its own initial congestion window",
	"FELIX_ACK_ELICITING_THRESHOLD": "this transport acknowledges by its own rule",
	"FELIX_ACK_FREQ_DISABLE":        "this transport has no ACK-frequency extension",
	"FELIX_MTU_UPPER_BOUND":         "packets of this transport are at most 1452 bytes",
	"FELIX_INITIAL_MTU":             "packets of this transport are at most 1452 bytes",
	"FELIX_MAX_UDP_PAYLOAD":         "packets of this transport are at most 1452 bytes",
	"FELIX_CACHE_SEND_WINDOW":       "this transport has no send window",
	"FELIX_UDP_SEND_BUFFER":         "udp_socket_buffer sets both directions",
	"FELIX_IO_RUNTIME_THREADS":      "the Go runtime schedules I/O itself",
	"FELIX_WORKER_THREADS":          "the Go runtime schedules work itself",
	"FELIX_PUMP_COLOCATE":           "the Go runtime places goroutines itself",
	"FELIX_SUB_DEDICATED_THREAD":    "the Go runtime places goroutines itself",
	"FELIX_TIMING_SAMPLE_EVERY":     "per-stage timings are not built",
	"FELIX_CORE_SHARDS":             "pinned core shards are not built",
	"FELIX_SUB_WRITER_LANES":        "writer lanes are not built; one pump writes each event stream",
	"FELIX_KEEPALIVE_MS":            "the broker sends no keep-alives, clients do",
}
