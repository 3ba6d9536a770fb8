"""Runs a campus on free ports in a temporary folder, as `make campus` does, without simulated people."""

import asyncio
import itertools
import json
import shutil
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nats
import nats.errors
import paho.mqtt.client as mqtt
import psutil
from campus import topology
from campus.run import campus_down, campus_up
from campus.topology import Topology
from stack.supervisor import Supervisor
from support.running import RunningStack
from support.stack_client import batch, connect, end, eventually
from unused_ports import unused_ports

PORTS = 60
"""Of a campus with three sites at most, from its first one on."""
ANSWER_WITHIN_S = 5.0


@dataclass(frozen=True, slots=True)
class RunningCampus:
    """Addresses and control of a running campus."""

    topology: Topology
    folder: Path
    sites: dict[str, RunningStack]

    @property
    def url(self) -> str:
        """The entry behind HAProxy."""
        return f"http://127.0.0.1:{self.topology.port}"

    @property
    def authority(self) -> Path:
        return self.folder / "cluster" / "broker" / "tls" / "ca.crt"

    @property
    def nodes(self) -> list[str]:
        """Names of the broker's nodes."""
        assert self.topology.cluster
        return [node.name for node in self.topology.cluster.nodes]

    def pid(self, name: str) -> int:
        """The process id of a part of the cluster, 0 when it does not run."""
        return int(self._cluster.info(name).get("pid", 0))

    def crash(self, name: str) -> None:
        """SIGKILL a part of the cluster; supervisord starts it again."""
        self._cluster.signal(name, signal.SIGKILL)

    def suspend(self, name: str) -> None:
        """SIGSTOP."""
        self._cluster.signal(name, signal.SIGSTOP)

    def resume(self, name: str) -> None:
        """SIGCONT."""
        self._cluster.signal(name, signal.SIGCONT)

    def log(self, name: str, lines: int = 60) -> str:
        return self._cluster.tail(name, lines)

    def leader(self, site: str) -> str:
        """The node that leads a site's message queue; empty during an election."""
        return str(self._queue(site).get("cluster", {}).get("leader", ""))

    def meta_leader(self) -> str:
        """The node that leads the cluster itself: it places queues and sessions. Empty during an election."""
        answer = self._ask("system", "$SYS.REQ.SERVER.PING.JSZ")
        return str(answer.get("data", {}).get("meta_cluster", {}).get("leader", ""))

    def is_whole(self, site: str) -> bool:
        """Whether every node has all of a site's message queue."""
        cluster = self._queue(site).get("cluster", {})
        replicas = cluster.get("replicas", [])
        return bool(cluster.get("leader")) and all(one["current"] and not one.get("offline") for one in replicas)

    def cpu_s(self, name: str) -> float:
        """CPU time that a part of the cluster has used, in seconds."""
        return float(sum(psutil.Process(self.pid(name)).cpu_times()[:2]))

    @property
    def _cluster(self) -> Supervisor:
        return Supervisor(self.folder / "cluster")

    def _queue(self, site: str) -> dict[str, Any]:
        """What the cluster says of the queue; empty while it does not answer."""
        return self._ask(site, "$JS.API.STREAM.INFO.$MQTT_msgs")

    def _ask(self, account: str, subject: str) -> dict[str, Any]:
        keys = json.loads((self.folder / "cluster" / "broker" / "nats" / "keys.json").read_text())
        seed = keys["system"] if account == "system" else keys["sites"][account]
        assert self.topology.cluster
        servers = [f"nats://127.0.0.1:{node.nats_port}" for node in self.topology.cluster.nodes]
        return asyncio.run(_asked(servers, seed, subject))


async def _asked(servers: list[str], seed: str, subject: str) -> dict[str, Any]:
    async def ignore(_: Exception) -> None:
        """A node that is away; the others are asked."""

    try:
        client = await nats.connect(servers, nkeys_seed_str=seed, error_cb=ignore, connect_timeout=2)
        try:
            answer = await client.request(subject, b"", timeout=ANSWER_WITHIN_S)
        finally:
            await client.close()
    except (nats.errors.Error, OSError):
        return {}
    found: dict[str, Any] = json.loads(answer.data)
    return found


@contextmanager
def running_campus(text: str) -> Iterator[RunningCampus]:
    """Run the campus of this campus.toml during the block."""
    folder = Path(tempfile.mkdtemp(prefix="sda-campus-"))
    file = folder / "campus.toml"
    file.write_text(text)
    campus = topology.read(file, str(_first_of_free_ports()))
    try:
        settings = campus_up(campus, folder / "run", leave_out=("simulator",))
        yield RunningCampus(campus, folder / "run", {name: RunningStack(one) for name, one in settings.items()})
    finally:
        campus_down(folder / "run")
        shutil.rmtree(folder, ignore_errors=True)


def _first_of_free_ports() -> int:
    def free(first: int) -> bool:
        with ExitStack() as held:
            try:
                for port in range(first, first + PORTS):
                    held.enter_context(socket.create_server(("127.0.0.1", port)))
            except OSError:
                return False
        return True

    return eventually(lambda: next(filter(free, unused_ports(5)), 0), what=f"{PORTS} free ports in a row")


@dataclass(slots=True)
class Sender:
    """A phone at a site that publishes batches at a steady rate, and what the broker acknowledged to it."""

    stack: RunningStack
    receiver: str
    beacon: str
    rate_per_s: float
    sent: dict[int, int] = field(default_factory=dict)
    """Number of the MQTT message -> time of its batch, epoch ms."""
    acked: dict[int, float] = field(default_factory=dict)
    """Number of the MQTT message -> when it was acknowledged, monotonic seconds."""
    _ended: threading.Event = field(default_factory=threading.Event)

    @property
    def acknowledged(self) -> set[int]:
        """Times of the batches that were acknowledged, epoch ms."""
        return {self.sent[number] for number in list(self.acked)}

    def longest_pause_s(self, since_s: float) -> float:
        """The longest time without an acknowledgement from then on, monotonic seconds."""
        times = [since_s, *sorted(one for one in list(self.acked.values()) if one > since_s)]
        return max((after - before for before, after in itertools.pairwise(times)), default=0.0)

    @contextmanager
    def publishing(self) -> Iterator[None]:
        """Publish during the block; at its end wait until all are acknowledged."""
        client = connect(self.stack)

        def on_publish(_client: mqtt.Client, _data: object, number: int, *_more: object) -> None:
            self.acked[number] = time.monotonic()

        def publish() -> None:
            while not self._ended.wait(1 / self.rate_per_s):
                ts = max(round(time.time() * 1000), next(reversed(self.sent.values()), 0) + 1)
                body = json.dumps(batch((self.beacon, -55), ts=ts))
                self.sent[client.publish(f"sda/v1/phone/{self.receiver}/readings", body, qos=1).mid] = ts

        client.on_publish = on_publish
        thread = threading.Thread(target=publish)
        thread.start()
        try:
            yield
        finally:
            self._ended.set()
            thread.join()
            eventually(lambda: len(self.acked) >= len(self.sent), within_s=120, what="all batches acknowledged")
            end(client)


def idle_cpu(campus: RunningCampus, seconds: float) -> dict[str, float]:
    """Share of a core that each node takes while nobody publishes, over so many seconds."""
    before = {name: campus.cpu_s(name) for name in campus.nodes}
    time.sleep(seconds)
    return {name: (campus.cpu_s(name) - before[name]) / seconds for name in campus.nodes}
