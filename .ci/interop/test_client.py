"""What the blocking client does with a broker that keeps running."""
import threading
import time

import felix
import pytest


def client(b, **changes):
    settings = dict(tenant_id=b.tenant, token=b.token, ca_file=b.ca)
    settings.update(changes)
    return felix.Client(b.addr, **settings)


def refused(kind, code, call, *args, **kwargs):
    with pytest.raises(kind) as caught:
        call(*args, **kwargs)
    assert type(caught.value) is kind and caught.value.code == code, (caught.value, caught.value.code)
    return caught.value


def drain(sub, n):
    """The payloads of the next n events; the first event of a new stream is its probe."""
    got = []
    while len(got) < n:
        event = sub.next_event(timeout=10)
        assert event is not None, f"{len(got)} of {n} events"
        got.append(event.payload)
    return got


def test_connect_takes_milliseconds(broker):
    took = []
    for _ in range(5):
        at = time.monotonic()
        c = client(broker)
        took.append(time.monotonic() - at)
        del c
    print("connect:", ", ".join(f"{t * 1000:.1f} ms" for t in took), end=" ")
    assert max(took) < 0.5, "a lost first flight costs 1 s"


def test_alpn(broker):
    assert client(broker, offer_alpn=True).stream_shards(broker.tenant, broker.namespace, "demo") == 1


def test_publish_in_every_mode(broker):
    c, s = client(broker), broker.stream()
    sub = c.subscribe(broker.tenant, broker.namespace, s)
    for ack in ("none", "per_message", "per_batch"):
        for key in (None, b"key"):
            assert c.publish(broker.tenant, broker.namespace, s, f"{ack} {key}".encode(), ack=ack, key=key) is None
            event = sub.next_event(timeout=10)
            assert event.payload == f"{ack} {key}".encode()
            assert (event.tenant_id, event.namespace, event.stream) == (broker.tenant, broker.namespace, s)
            assert event.offset is None and event.skipped_before == 0
    c.publish(broker.tenant, broker.namespace, s, b"", at_least_once=True)
    assert sub.next_event(timeout=10).payload == b""
    assert sub.next_event(timeout=0.05) is None and not sub.closed
    with sub as same:
        assert iter(same) is not None
    sub.close()


def test_ten_subscribers_get_everything_in_order(broker):
    c, s = client(broker), broker.stream()
    records, ahead = 2000, 100
    subs = [c.subscribe(broker.tenant, broker.namespace, s) for _ in range(10)]
    seen, lock = [0] * len(subs), threading.Condition()
    wrong = []

    def read(i):
        for expected in range(records):
            event = subs[i].next_event(timeout=30)
            if event is None or int(event.payload) != expected:
                wrong.append((i, expected, event))
                return
            with lock:
                seen[i] += 1
                lock.notify()

    readers = [threading.Thread(target=read, args=(i,)) for i in range(len(subs))]
    for r in readers:
        r.start()
    for i in range(records):
        with lock:  # an in-memory subscription of this client keeps 256 unread events: they must keep up
            assert lock.wait_for(lambda: min(seen) + ahead > i or wrong, timeout=30)
        c.publish(broker.tenant, broker.namespace, s, str(i).encode(), ack="none" if i % 3 else "per_batch")
    for r in readers:
        r.join(60)
    assert not wrong and seen == [records] * len(subs)


def test_start_positions(broker):
    c, s = client(broker), broker.stream()  # one probe is in it
    for i in range(3):
        c.publish(broker.tenant, broker.namespace, s, str(i).encode())
    assert drain(c.subscribe(broker.tenant, broker.namespace, s, start="earliest"), 4) == [b"probe", b"0", b"1", b"2"]
    assert drain(c.subscribe(broker.tenant, broker.namespace, s, start=2), 2) == [b"1", b"2"]
    latest = c.subscribe(broker.tenant, broker.namespace, s, start="latest")
    c.publish(broker.tenant, broker.namespace, s, b"new")
    assert drain(latest, 1) == [b"new"]
    e = refused(felix.CursorError, None, c.subscribe, broker.tenant, broker.namespace, s, start=1000)
    assert "1000" in str(e)


def test_sharded_stream(broker):
    c, s = client(broker), broker.stream(shards=4)
    assert c.stream_shards(broker.tenant, broker.namespace, s) == 4
    sub = c.subscribe_sharded(broker.tenant, broker.namespace, s)
    assert sub.shards == 4 and not sub.closed
    keys = [f"key-{i}" for i in range(20)]
    for round_ in range(3):
        for k in keys:
            c.publish(broker.tenant, broker.namespace, s, f"{k} {round_}".encode(), key=k.encode())
    shard_of, last = {}, {}
    for _ in range(60):
        item = sub.next_event(timeout=10)
        assert isinstance(item, felix.ShardRecord), item
        key, round_ = item.event.payload.split()
        assert shard_of.setdefault(key, item.shard) == item.shard
        assert int(round_) == last.get(key, -1) + 1
        last[key] = int(round_)
    assert len(set(shard_of.values())) > 1
    assert isinstance(sub.positions(), dict)
    sub.close()


def test_cache(broker):
    c, name = client(broker), broker.cache()
    scope = (broker.tenant, broker.namespace, name)
    assert c.cache_get(*scope, "k") is None
    for key in ("k", "", "ключ ø 🎈", 'quote " \\ \n', "a/b*"):
        c.cache_put(*scope, key, key.encode())
        assert c.cache_get(*scope, key) == key.encode()
    c.cache_put(*scope, "empty", b"")
    assert c.cache_get(*scope, "empty") == b""
    big = bytes(range(256)) * 8192  # 2 MiB
    c.cache_put(*scope, "big", big)
    assert c.cache_get(*scope, "big") == big
    assert c.cache_delete(*scope, "k") == b"k"
    assert c.cache_delete(*scope, "k") is None and c.cache_get(*scope, "k") is None


def test_cache_expiry(broker):
    c, name = client(broker), broker.cache()
    scope = (broker.tenant, broker.namespace, name)
    c.cache_put(*scope, "k", b"v", ttl=0.2)
    assert c.cache_get(*scope, "k") == b"v"
    end = time.monotonic() + 20
    while c.cache_get(*scope, "k") is not None:
        assert time.monotonic() < end
    c.cache_put(*scope, "k", b"v", ttl=0.2)
    c.cache_put(*scope, "k", b"w")  # each put replaces the expiry with its own
    time.sleep(0.4)
    assert c.cache_get(*scope, "k") == b"w"
    refused(felix.FelixError, "invalid_request", c.cache_put, *scope, "k", b"v", ttl=0)
    assert c.cache_get(*scope, "k") == b"w"


def test_refusals_are_typed(broker):
    c = client(broker)
    ns = broker.namespace
    refused(felix.NotFoundError, "not_found", c.publish, broker.tenant, ns, "nostream", b"x")
    refused(felix.NotFoundError, "not_found", c.subscribe, broker.tenant, ns, "nostream")
    refused(felix.NotFoundError, "not_found", c.cache_get, broker.tenant, ns, "nocache", "k")
    refused(felix.NotFoundError, "not_found", c.cache_put, broker.tenant, ns, "nocache", "k", b"v")
    refused(felix.AuthError, "forbidden", c.publish, "foreign", ns, "demo", b"x")
    refused(felix.AuthError, "forbidden", c.cache_get, "foreign", ns, "demo", "k")
    c.publish(broker.tenant, ns, "demo", b"still here")
    refused(felix.AuthError, "unauthenticated", client, broker, token="bad")
    refused(felix.AuthError, "unauthenticated", client, broker, tenant_id="foreign")
    brief = broker.mint(f"stream.publish:stream:{broker.tenant}/*/*", ttl="1s")
    time.sleep(1.5)
    refused(felix.AuthError, "unauthenticated", client, broker, token=brief)
    narrow = client(broker, token=broker.mint(f"cache.read:cache:{broker.tenant}/{ns}/demo/room1/*"))
    assert narrow.cache_get(broker.tenant, ns, "demo", "room1/a") is None
    refused(felix.AuthError, "forbidden", narrow.cache_get, broker.tenant, ns, "demo", "room2/a")
    refused(felix.AuthError, "forbidden", narrow.cache_put, broker.tenant, ns, "demo", "room1/a", b"v")
    refused(felix.AuthError, "forbidden", narrow.publish, broker.tenant, ns, "demo", b"x")
    refused(felix.AuthError, "forbidden", narrow.subscribe, broker.tenant, ns, "demo")


def test_identities_and_providers(broker):
    asked = []

    def provider():
        asked.append(1)
        return broker.token

    c = felix.Client(broker.addr, tenant_id=broker.tenant, token_provider=provider, ca_file=broker.ca)
    assert asked
    reader = c.with_identity(broker.tenant, broker.mint(f"cache.read:cache:{broker.tenant}/*/*"))
    assert reader.cache_get(broker.tenant, broker.namespace, "demo", "absent") is None
    refused(felix.AuthError, "forbidden", reader.publish, broker.tenant, broker.namespace, "demo", b"x")
    c.publish(broker.tenant, broker.namespace, "demo", b"x")
    assert c.endpoints() == [broker.addr]
    with c as same:
        assert same is c


def test_deleted_stream_ends_its_subscription(broker):
    c, s = client(broker), broker.stream()
    sub = c.subscribe(broker.tenant, broker.namespace, s)
    broker.verb("stream", "delete", s, "--yes")
    assert sub.next_event(timeout=10) is None and sub.closed


def test_what_is_not_built_is_refused_and_harms_nothing(broker):
    c = client(broker)
    t, ns = broker.tenant, broker.namespace
    for call in (
        lambda: c.counter_add(t, ns, "demo", "k", 1),
        lambda: c.counter_get(t, ns, "demo", "k"),
        lambda: c.watch_cache(t, ns, "demo", felix.CacheWatchFilter.prefix("")),
        lambda: c.group_poll(t, ns, "demo", 0, "g", wait=0.1),
        lambda: c.commit(t, ns, b"e", [felix.CommitOp.publish("demo", b"x")]),
        lambda: c.state_get(t, ns, "demo", b"e", "k"),
    ):
        with pytest.raises(felix.FelixError):
            call()
        c.publish(t, ns, "demo", b"still here")
