"""The client over the ends of a broker: SIGTERM, kill -9, and its return on the same state, certificate and port."""
import signal
import time

import felix
import pytest
from conftest import Sender
from test_client import client


def test_carries_on_after_sigterm(mortal):
    c = client(mortal)
    sub = c.subscribe(mortal.tenant, mortal.namespace, "demo")
    sender = Sender(lambda: c.publish(mortal.tenant, mortal.namespace, "demo", b"x"))
    sender.start()
    sender.first_success_after(0)
    code, took = mortal.stop(signal.SIGTERM)
    assert code == 0
    mortal.start()
    recovered = sender.first_success_after(mortal.ready) - mortal.ready
    sender.end()
    assert all(type(e) is felix.ConnectionError for _, e in sender.failures), sender.failures[:3]
    print(f"SIGTERM: ended in {took * 1000:.0f} ms, {len(sender.failures)} failed calls,", f"served {recovered * 1000:.0f} ms after ready", end=" ")
    with pytest.raises(felix.ConnectionError) as lost:  # an in-memory subscription says that it was lost, once
        while sub.next_event(timeout=10) is not None:
            pass
    assert "broker shutting down" in str(lost.value)
    assert sub.next_event(timeout=10) is None and sub.closed
    again = c.subscribe(mortal.tenant, mortal.namespace, "demo")
    c.publish(mortal.tenant, mortal.namespace, "demo", b"after")
    assert again.next_event(timeout=10).payload == b"after"


@pytest.mark.parametrize("round_", range(3))
def test_carries_on_after_kill_9(mortal, round_):
    c = client(mortal)
    sender = Sender(lambda: c.publish(mortal.tenant, mortal.namespace, "demo", b"x"))
    sender.start()
    sender.first_success_after(0)
    sub = c.subscribe(mortal.tenant, mortal.namespace, "demo")
    mortal.stop(signal.SIGKILL)
    killed = time.monotonic()
    mortal.start()
    recovered = sender.first_success_after(killed)
    sender.end()
    print(f"kill -9: ready {(mortal.ready - killed) * 1000:.0f} ms after the kill, first success {(recovered - mortal.ready) * 1000:+.0f} ms from there,",
          f"{len(sender.failures)} failed calls", end=" ")
    assert recovered - mortal.ready < 1, "the stateless reset did not reach the client"
    assert all(type(e) is felix.ConnectionError for _, e in sender.failures), sender.failures[:3]
    with pytest.raises(felix.ConnectionError):
        while sub.next_event(timeout=10) is not None:
            pass
    c.cache_put(mortal.tenant, mortal.namespace, "demo", "k", b"v")
    assert c.cache_get(mortal.tenant, mortal.namespace, "demo", "k") == b"v"
