package ingress

import "github.com/felix-go/felix/dataplane/stat"

// counters are the numbers this room owns. Gauges are tied to object lifetimes and are exactly zero when every client has
// gone.
type counters struct {
	connections, streams, subscriptions, subConnections *stat.Gauge
	owed                                                *stat.Gauge // answers reserved and not yet written

	authOK, authRefused                                *stat.Counter
	published, publishedBytes, publishAcked            *stat.Counter
	publishRefused, publishDropped, ackedDropped       *stat.Counter
	cacheReads, cacheWrites, queries                   *stat.Counter
	badFrames, badJSON, badFlags, oversized, malformed *stat.Counter
	beforeAuth, brokerOnly, secondAuth, unknownType    *stat.Counter
	authTimeouts, stalled, answerWrites, answers       *stat.Counter
	disconnects, jsonPublishes                         *stat.Counter
}

func newCounters(s *stat.Set) *counters {
	bad := func(reason string) *stat.Counter {
		return s.Counter(`felix_bad_input_total{reason="`+reason+`"}`, "Frames refused or streams ended because of what the peer sent.")
	}
	req := func(result string) *stat.Counter {
		return s.Counter(`felix_publish_requests_total{result="`+result+`"}`, "Publish requests by result.")
	}
	return &counters{
		connections:   s.Gauge("felix_client_connections", "Client connections being served."),
		streams:       s.Gauge("felix_client_streams", "Client streams being served."),
		subscriptions: s.Gauge("felix_sub_connection_subscribers", "Live subscriptions."),
		subConnections: s.Gauge("felix_sub_active_connections",
			"Connections with at least one live subscription."),
		owed:           s.Gauge("felix_broker_out_ack_depth", "Answers owed and not yet written."),
		authOK:         s.Counter(`felix_auth_total{result="ok"}`, "Logins by result."),
		authRefused:    s.Counter(`felix_auth_total{result="refused"}`, "Logins by result."),
		published:      req("accepted"),
		publishRefused: req("error"),
		publishDropped: req("dropped"),
		publishedBytes: s.Counter("felix_publish_bytes_total", "Payload bytes of accepted publishes."),
		publishAcked:   s.Counter("felix_publish_acked_total", "Publishes that asked for an acknowledgement."),
		ackedDropped: s.Counter(`felix_broker_acked_publishes_dropped_total{reason="stream_deleted"}`,
			"Publishes acknowledged when queued and then not written."),
		cacheReads:    s.Counter(`felix_cache_requests_total{op="read"}`, "Cache requests by kind."),
		cacheWrites:   s.Counter(`felix_cache_requests_total{op="write"}`, "Cache requests by kind."),
		queries:       s.Counter("felix_query_requests_total", "Width, owner and other metadata questions."),
		jsonPublishes: s.Counter("felix_broker_json_publishes_total", "Publishes that came as JSON."),
		badFrames:     bad("header"),
		badJSON:       bad("json"),
		badFlags:      bad("flags"),
		oversized:     bad("frame_too_large"),
		malformed:     bad("malformed_batch"),
		beforeAuth:    bad("before_auth"),
		brokerOnly:    bad("broker_only"),
		secondAuth:    bad("second_auth"),
		unknownType:   bad("unknown_type"),
		authTimeouts:  s.Counter("felix_auth_timeouts_total", "Connections closed because nothing authenticated in time."),
		stalled: s.Counter("felix_streams_stalled_total",
			"Streams ended because the peer did not read its answers or finish its frame in time."),
		answerWrites: s.Counter("felix_answer_writes_total", "Stream writes that carried answers."),
		answers:      s.Counter("felix_answers_total", "Answers written."),
		disconnects:  s.Counter("felix_subscriber_disconnect_total", "Subscriptions that ended."),
	}
}
