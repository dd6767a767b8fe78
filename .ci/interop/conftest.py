"""Starts the broker under test and stops it in every way a broker can stop."""
import json
import os
import signal
import subprocess
import tempfile
import threading
import time
import uuid

import pytest

BIN = os.environ["FELIX_BIN"]


class Broker:
    """A `felix dev` process on a state directory of its own; a restart takes the same state and port."""

    def __init__(self, state):
        self.state = state
        self.quic = "127.0.0.1:0"
        self.process = None
        self.start()

    def start(self):
        env = {k: v for k, v in os.environ.items() if not k.startswith("FELIX_")}
        self.process = subprocess.Popen(
            [BIN, "dev", "-o", "json", "--state-dir", self.state, "--quic-bind", self.quic,
             "--metrics-bind", "127.0.0.1:0", "--controlplane-bind", "127.0.0.1:0"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=env)
        document = ""
        for line in self.process.stdout:
            document += line
            if line == "}\n":
                break
        assert document, "felix dev announced nothing"
        self.ready = time.monotonic()
        self.info = json.loads(document)
        self.addr = self.quic = self.info["addr"]
        self.tenant, self.namespace = self.info["tenant"], self.info["namespace"]
        self.ca, self.token = self.info["ca_file"], self.info["token"]

    def stop(self, how=signal.SIGTERM):
        """Ends the process; returns its exit code and how long it took."""
        at = time.monotonic()
        self.process.send_signal(how)
        code = self.process.wait(timeout=60)
        self.process.stdout.close()
        return code, time.monotonic() - at

    def verb(self, *args):
        """Runs a felix verb against this broker and returns what it printed."""
        env = {k: v for k, v in os.environ.items() if not k.startswith("FELIX_")}
        return subprocess.run([BIN, *args, "--context", self.info["context_file"]], check=True, env=env,
                              capture_output=True, text=True, timeout=60).stdout.strip()

    def stream(self, shards=1):
        """Creates a stream with a name of its own and waits until the broker serves it."""
        return self._create("stream", shards)

    def cache(self, shards=2):
        return self._create("cache", shards)

    def _create(self, kind, shards):
        name = f"{kind}-{uuid.uuid4().hex[:8]}"
        self.verb(kind, "create", name, "--shards", str(shards))
        probe = ("pub", name, "probe") if kind == "stream" else ("cache", "keys", name)
        for _ in range(200):
            try:
                self.verb(*probe)
                return name
            except subprocess.CalledProcessError:
                time.sleep(0.01)
        raise AssertionError(f"{kind} {name} did not appear")

    def mint(self, *permissions, ttl="1h"):
        args = ["token", "mint", "--principal", "interop", "--ttl", ttl]
        for p in permissions:
            args += ["--permission", p]
        return self.verb(*args)


@pytest.fixture(scope="session")
def broker():
    """One broker for every test that leaves it running."""
    with tempfile.TemporaryDirectory() as state:
        b = Broker(state)
        yield b
        code, _ = b.stop()
        assert code == 0


@pytest.fixture
def mortal():
    """A broker that the test stops, kills and starts again."""
    with tempfile.TemporaryDirectory() as state:
        b = Broker(state)
        yield b
        if b.process.poll() is None:
            b.stop(signal.SIGKILL)


class Sender(threading.Thread):
    """Calls something over and over and notes when it failed and when it worked again."""

    def __init__(self, call):
        super().__init__(daemon=True)
        self.call, self.stopping = call, threading.Event()
        self.calls, self.failures, self.worked = 0, [], []

    def run(self):
        while not self.stopping.is_set():
            try:
                self.call()
                self.worked.append(time.monotonic())
            except Exception as e:  # noqa: BLE001 every failure is judged by the test
                self.failures.append((time.monotonic(), e))
            self.calls += 1

    def end(self):
        self.stopping.set()
        self.join(60)

    def first_success_after(self, when, limit=30):
        end = time.monotonic() + limit
        while time.monotonic() < end:
            for at in list(self.worked):
                if at > when:
                    return at
            time.sleep(0.001)
        raise AssertionError(f"no success within {limit} s; failures: {self.failures[-3:]}")
