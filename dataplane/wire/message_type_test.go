package wire

import (
	"strings"
	"testing"
)

func TestNamesAgree(t *testing.T) {
	for typ := MsgUnknown + 1; typ < messageTypes; typ++ {
		if got := messageTypeOf([]byte(typ.String())); got != typ {
			t.Errorf("type %d is %q, which maps to %d", typ, typ, got)
		}
	}
	if MsgUnknown.String() != "unknown" || messageTypes.String() != "unknown" ||
		messageTypeOf([]byte("unknown")) != MsgUnknown {
		t.Error("the unknown type has no wire name")
	}
	for f := Field(0); f < fieldCount; f++ {
		if got := fieldOf([]byte(f.String())); got != f {
			t.Errorf("field %d is %q, which maps to %d", f, f, got)
		}
	}
	if fieldCount.String() != "none" || fieldOf([]byte("none")) != fieldCount {
		t.Error("no field has a name")
	}
}

// The directions of wire protocol section 8, spelled out once more.
func TestFromClient(t *testing.T) {
	fromClient := strings.Fields(`
		auth extension publish publish_batch publish_width producer_init publish_idempotent publish_if
		subscribe cache_put cache_get cache_delete cache_put_if cache_delete_if cache_watch counter_add
		counter_get group_poll group_ack group_nack group_dead_letter group_extend group_dead_letters
		group_discard group_redrive group_seek group_describe group_delete commit state_get offset_for_time
		stream_read topology stream_shards cache_shards shard_owners shard_inspect subscriptions_list`)
	fromBroker := strings.Fields(`
		auth_ok ok error unsupported publish_ok publish_error producer_init_ok publish_refused subscribed
		subscribe_cursor_error event_stream_hello event event_batch shard_moved subscription_lagged
		stream_deleted cache_value cache_ok cache_condition_result cache_watch_started cache_event
		cache_watch_lagged counter_value group_records group_extended group_dead_letter_list group_position
		group_info group_deleted commit_ok state_value offset_value stream_records topology_view not_leader
		stream_shards_view cache_shards_view shard_owners_view shard_inspect_info subscriptions_list_info`)
	if n := len(fromClient) + len(fromBroker); n != int(messageTypes)-1 {
		t.Errorf("section 8 has %d types, this package %d", n, messageTypes-1)
	}
	for _, name := range fromClient {
		if typ := messageTypeOf([]byte(name)); typ == MsgUnknown || !typ.FromClient() {
			t.Errorf("%s is type %d, not from a client", name, typ)
		}
	}
	for _, name := range fromBroker {
		if typ := messageTypeOf([]byte(name)); typ == MsgUnknown || typ.FromClient() {
			t.Errorf("%s is type %d, not broker only", name, typ)
		}
	}
	if MsgUnknown.FromClient() {
		t.Error("an unknown type is handled apart")
	}
}
