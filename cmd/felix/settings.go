package main

import (
	"fmt"
	"log/slog"
	"maps"
	"math"
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/felix-go/felix/dataplane/broker"
	"github.com/felix-go/felix/dataplane/cache"
	"github.com/felix-go/felix/dataplane/fanout"
	"github.com/felix-go/felix/dataplane/ingress"
	"github.com/felix-go/felix/dataplane/shard"
	"github.com/felix-go/felix/dataplane/stream"
	"github.com/felix-go/felix/dataplane/transport"
	"github.com/felix-go/felix/profiles/knob"
)

// knobAnnotation marks flags that belong to the knob table, which reads their environment variables itself.
const knobAnnotation = "felix-knob"

// otherVariables are FELIX_ names that verbs other than the broker read.
var otherVariables = []string{"FELIX_TOKEN", "FELIX_CONTEXT", "FELIX_ADDR", "FELIX_TENANT", "FELIX_NAMESPACE",
	"FELIX_TOKEN_FILE", "FELIX_CA_FILE", "FELIX_SERVER_NAME", "FELIX_OUTPUT", "FELIX_TIMEOUT", "FELIX_CONFIG",
	"FELIX_DATA_DIR", "FELIX_BIND", "FELIX_ETCD_ENDPOINTS", "FELIX_CONTROLPLANE_BIND", "FELIX_CONTROLPLANE_CA_FILE",
	"FELIX_CONTROLPLANE_TOKEN_FILE", "FELIX_BROKER_CONFIG"}

// settings are the knob table as flags of one verb.
type settings struct {
	file  string
	knobs []knob.Knob
}

// addFlags gives the verb a flag for every knob but the named ones, which the verb sets itself.
func (s *settings) addFlags(c *cobra.Command, without ...string) {
	skip := make(map[string]bool)
	for _, n := range without {
		skip[n] = true
	}
	c.Flags().StringVar(&s.file, "config", "", "YAML file with settings; every flag below is a key in it")
	for _, k := range knob.All() {
		if skip[k.Name] {
			continue
		}
		s.knobs = append(s.knobs, k)
		c.Flags().String(k.Flag(), "", fmt.Sprintf("%s (default %s)", k.Text, k.Default))
		f := c.Flags().Lookup(k.Flag())
		f.Annotations = map[string][]string{knobAnnotation: {k.Name}}
	}
}

// load merges defaults, file, environment and flags. Preset are values that the verb gives and that everything else overrides;
// fixed are those that the verb decides itself.
func (s *settings) load(c *cobra.Command, preset, fixed map[string]string) (*knob.Values, error) {
	flags := maps.Clone(fixed)
	if flags == nil {
		flags = make(map[string]string)
	}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Changed && f.Annotations[knobAnnotation] != nil {
			flags[f.Annotations[knobAnnotation][0]] = f.Value.String()
		}
	})
	file := s.file
	if file == "" {
		file = os.Getenv("FELIX_BROKER_CONFIG")
	}
	v, err := knob.Load(knob.Sources{File: file, Env: os.Environ(), Flags: flags, Preset: preset, Ignore: otherVariables})
	if err != nil {
		return nil, usage("%w", err)
	}
	return v, nil
}

// newLogger writes text for people and JSON for machines.
func newLogger(v *knob.Values) (*slog.Logger, *slog.LevelVar) {
	level := new(slog.LevelVar)
	if err := level.UnmarshalText([]byte(v.String("log_level"))); err != nil {
		level.Set(slog.LevelInfo)
	}
	format := v.String("log_format")
	if format == "auto" {
		if format = "json"; onTerminal(os.Stderr) {
			format = "text"
		}
	}
	o := &slog.HandlerOptions{Level: level}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(os.Stderr, o)), level
	}
	return slog.New(slog.NewTextHandler(os.Stderr, o)), level
}

// brokerConfig maps the settings onto the rooms, makes the logger and logs what the settings warn of.
func brokerConfig(v *knob.Values) (broker.Config, error) {
	policy, err := fanout.ParsePolicy(v.String("subscriber_queue_policy"))
	if err != nil {
		return broker.Config{}, usage("subscriber_queue_policy: %w", err)
	}
	eviction, err := cache.ParsePolicy(v.String("cache_eviction"))
	if err != nil {
		return broker.Config{}, usage("cache_eviction: %w", err)
	}
	c := broker.Config{
		Version:         version(),
		StateDir:        v.String("state_dir"),
		ControlPlaneURL: v.String("controlplane_url"),
		ControlPlaneCA:  v.String("controlplane_ca"),
		TLSCert:         v.String("tls_cert"),
		TLSKey:          v.String("tls_key"),
		RequireCert:     v.Bool("tls_require_cert"),
		AdminBind:       v.String("metrics_bind"),
		PublishBytes:    v.Bytes("pub_inflight_bytes"),
		EgressBytes:     v.Bytes("egress_bytes"),
		ReplayBytes:     v.Bytes("replay_total_bytes"),
		Predrain:        v.Duration("shutdown_predrain_ms"),
		DrainTimeout:    v.Duration("shutdown_drain_timeout_ms"),
		Transport:       transportConfig(v),
		Ingress:         ingressConfig(v, policy),
		Scheduler: shard.Config{
			Executors:      v.Int("pub_workers_per_conn"),
			DepthPerTenant: v.Int("pub_queue_depth"),
		},
		Stream: stream.Config{RingMaxRecords: v.Int("replay_ring_records"), RingMaxBytes: v.Bytes("replay_ring_bytes")},
		Cache:  cache.Config{Policy: eviction},
	}
	if c.Cache.MaxBytes = v.Bytes("cache_max_bytes"); v.String("cache_max_bytes") == "auto" {
		c.Cache.MaxBytes = memoryLimit() / 4
	}
	for _, f := range []struct {
		to         *string
		file, what string
	}{{&c.ControlPlaneToken, v.String("controlplane_token_file"), "controlplane_token_file"},
		{&c.AdminToken, v.String("admin_token_file"), "admin_token_file"}} {
		if f.file == "" {
			continue
		}
		if *f.to, err = readSecret(f.file); err != nil {
			return c, usage("%s: %w", f.what, err)
		}
	}
	c.Logger, c.LogLevel = newLogger(v)
	for _, w := range v.Warnings() {
		c.Logger.Warn(w)
	}
	return c, nil
}

func transportConfig(v *knob.Values) transport.ListenConfig {
	perIP := v.Int("max_connections_per_ip")
	if perIP == 0 {
		perIP = -1 // unlimited
	}
	return transport.ListenConfig{
		Addr:                v.String("quic_bind"),
		RequireALPN:         v.Bool("tls_require_alpn"),
		MaxIdle:             v.Duration("max_idle_timeout_ms"),
		HandshakesPerSecond: v.Int("handshakes_per_second"),
		StreamWindow:        uint64(v.Bytes("pub_stream_recv_window")),
		ConnWindow:          uint64(v.Bytes("pub_conn_recv_window")),
		WindowBudget:        transport.NewWindowBudget(v.Bytes("ingress_window_bytes")),
		MaxConnections:      v.Int("max_client_connections"),
		MaxPerIP:            perIP,
		SocketBuffer:        int(v.Bytes("udp_socket_buffer")),
		DisableGRO:          !v.Bool("udp_gro"),
	}
}

func ingressConfig(v *knob.Values, policy fanout.Policy) ingress.Config {
	return ingress.Config{
		MaxFrameBytes:           int(v.Bytes("max_frame_bytes")),
		PreauthMaxFrameBytes:    int(v.Bytes("preauth_max_frame_bytes")),
		PreauthMaxStreams:       v.Int("preauth_max_streams_per_conn"),
		AuthTimeout:             v.Duration("auth_timeout_ms"),
		AnswerStallTimeout:      v.Duration("answer_stall_timeout_ms"),
		PublishWindow:           v.Int("publish_window"),
		ConnPublishBytes:        v.Bytes("pub_conn_inflight_bytes"),
		PublishQueueWait:        v.Duration("publish_queue_wait_timeout_ms"),
		IngressWait:             v.Bool("pub_ingress_wait"),
		AckOnCommit:             v.Bool("ack_on_commit"),
		MaxSubscriptionsPerConn: v.Int("max_subscriptions_per_conn"),
		QueueItems:              v.Int("subscriber_queue_capacity"),
		QueueItemsMax:           v.Int("subscriber_queue_capacity_max"),
		QueueBytes:              v.Bytes("subscriber_queue_bytes"),
		QueuePolicy:             policy,
		MaxBytesPerWrite:        int(v.Bytes("subscriber_max_bytes_per_write")),
	}
}

// memoryLimit is GOMEMLIMIT, the memory cgroup's limit, or half of the machine's memory.
func memoryLimit() int64 {
	if limit := debug.SetMemoryLimit(-1); limit < math.MaxInt64 {
		return limit
	}
	for _, path := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		b, err := os.ReadFile(path)
		var n int64
		if err == nil {
			if _, err := fmt.Sscan(strings.TrimSpace(string(b)), &n); err == nil && n > 0 && n < 1<<50 {
				return n
			}
		}
	}
	return machineMemory() / 2
}
