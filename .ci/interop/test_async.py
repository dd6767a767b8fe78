"""The asyncio client."""
import asyncio

import felix
import pytest


def run(main):
    return asyncio.run(asyncio.wait_for(main, 60))


async def connect(b, **changes):
    settings = dict(tenant_id=b.tenant, token=b.token, ca_file=b.ca)
    settings.update(changes)
    return await felix.AsyncClient.connect(b.addr, **settings)


def test_async_publish_and_subscribe(broker):
    s = broker.stream()

    async def main():
        c = await connect(broker)
        subs = [await c.subscribe(broker.tenant, broker.namespace, s) for _ in range(10)]
        for ack in ("none", "per_message", "per_batch"):
            await c.publish(broker.tenant, broker.namespace, s, ack.encode(), ack=ack)
        for sub in subs:
            got = [(await sub.next_event(timeout=10)).payload for _ in range(3)]
            assert got == [b"none", b"per_message", b"per_batch"]
            assert not await sub.closed
            await sub.close()
        await c.publish(broker.tenant, broker.namespace, s, b"sure", at_least_once=True)
        async for event in await c.subscribe(broker.tenant, broker.namespace, s, start="earliest"):
            assert event.payload == b"probe"
            break
        assert await c.endpoints() == [broker.addr]

    run(main())


def test_async_cache(broker):
    name = broker.cache()

    async def main():
        async with await connect(broker) as c:
            scope = (broker.tenant, broker.namespace, name)
            keys = [f"k{i}" for i in range(100)]
            await asyncio.gather(*(c.cache_put(*scope, k, k.encode()) for k in keys))
            assert await asyncio.gather(*(c.cache_get(*scope, k) for k in keys)) == [k.encode() for k in keys]
            assert await c.cache_delete(*scope, "k0") == b"k0"
            assert await c.cache_get(*scope, "k0") is None
            await c.cache_put(*scope, "brief", b"v", ttl=0.1)
            for _ in range(200):
                if await c.cache_get(*scope, "brief") is None:
                    break
                await asyncio.sleep(0.01)
            else:
                raise AssertionError("the entry does not expire")

    run(main())


def test_async_refusals_are_typed(broker):
    async def main():
        c = await connect(broker)
        for kind, code, call in (
            (felix.NotFoundError, "not_found", c.publish(broker.tenant, broker.namespace, "nostream", b"x")),
            (felix.NotFoundError, "not_found", c.subscribe(broker.tenant, broker.namespace, "nostream")),
            (felix.AuthError, "forbidden", c.publish("foreign", broker.namespace, "demo", b"x")),
            (felix.AuthError, "unauthenticated", connect(broker, token="bad")),
        ):
            with pytest.raises(kind) as caught:
                await call
            assert caught.value.code == code
        other = await c.with_identity(broker.tenant, broker.token)
        await other.publish(broker.tenant, broker.namespace, "demo", b"x")

    run(main())


def test_async_sharded(broker):
    s = broker.stream(shards=4)

    async def main():
        c = await connect(broker)
        assert await c.stream_shards(broker.tenant, broker.namespace, s) == 4
        sub = await c.subscribe_sharded(broker.tenant, broker.namespace, s)
        for i in range(40):
            await c.publish(broker.tenant, broker.namespace, s, str(i).encode(), key=f"k{i}".encode())
        got = sorted([int((await sub.next_event(timeout=10)).event.payload) for _ in range(40)])
        assert got == list(range(40))
        assert isinstance(await sub.positions(), dict)
        await sub.close()

    run(main())
