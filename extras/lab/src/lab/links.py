"""Connections between parts of a scratch stack that go through Toxiproxy, so that each can be delayed."""

import http.client
import json
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from stack import health
from stack.install import Part, Shell, go_install
from stack.layout import cache_dir, read_versions
from stack.wait import wait_for

VERSIONS = read_versions(Path(__file__).resolve().parents[2] / "versions.env")

LINKS = {
    ("node-red", "influxd"): "INFLUX_PORT",
    ("node-red", "mosquitto"): "MQTT_READERS_PORT",
    ("spool", "influxd"): "INFLUX_PORT",
    ("telegraf", "mosquitto"): "MQTT_PORT",
}
"""Who connects to what, and the setting with the port of the latter."""
SETTING = "LINK_PORTS"
"""`node-red-influxd=21000,…`: the port of the proxy between them. Without it parts connect directly."""
READY_WITHIN_S = 20.0
TIMEOUT_S = 10.0


def toxiproxy_program() -> Path:
    return cache_dir() / f"toxiproxy-{VERSIONS['TOXIPROXY_VERSION']}" / "server"


def toxiproxy_part() -> Part:
    version = VERSIONS["TOXIPROXY_VERSION"]

    def build(shell: Shell) -> None:
        go_install(shell, toxiproxy_program(), f"github.com/Shopify/toxiproxy/v2/cmd/server@v{version}")

    return Part(f"Toxiproxy {version}, which delays connections (about 20 s)", ("go",),
                lambda: toxiproxy_program().exists(), build)  # fmt: skip


class LinkError(Exception):
    """Toxiproxy refused; the message says what."""


class Links:
    """A running Toxiproxy. A delay holds answers back, each for the same time; requests go on at once."""

    def __init__(self, port: int) -> None:
        self._port = port

    def is_ready(self) -> bool:
        """Whether it answers."""
        return health.http(f"http://127.0.0.1:{self._port}/version").up

    def delay(self, link: str, ms: float) -> None:
        """Delay a link from now on; 0: no more. Raises LinkError."""
        self._call("DELETE", f"/proxies/{link}/toxics/delay", None)  # 404 if there was none
        if not ms:
            return
        toxic = {"name": "delay", "type": "latency", "stream": "downstream", "attributes": {"latency": round(ms)}}
        if (status := self._call("POST", f"/proxies/{link}/toxics", toxic)) != http.client.OK:
            raise LinkError(f"Toxiproxy did not delay {link}: HTTP {status}")

    def _call(self, method: str, path: str, body: object) -> int:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=TIMEOUT_S)
        try:
            connection.request(method, path, json.dumps(body) if body is not None else None)
            answer = connection.getresponse()
            answer.read()
            return answer.status
        finally:
            connection.close()


@contextmanager
def proxies(ways: Mapping[str, tuple[int, int]], port: int) -> Iterator[Links]:
    """Run Toxiproxy during the block.

    Args:
        ways: for each name the port on which it listens and the port to which it connects, on this machine.
        port: of its own interface.
    """
    with tempfile.TemporaryDirectory(prefix="sda-links-") as folder:
        configuration = Path(folder) / "proxies.json"
        configuration.write_text(json.dumps([
            {"name": name, "listen": f"127.0.0.1:{listen}", "upstream": f"127.0.0.1:{to}", "enabled": True}
            for name, (listen, to) in ways.items()
        ]))  # fmt: skip
        command = [str(toxiproxy_program()), "-host", "127.0.0.1", "-port", str(port), "-config", str(configuration)]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            links = Links(port)
            wait_for(links.is_ready, READY_WITHIN_S, "Toxiproxy")
            yield links
        finally:
            process.terminate()
            process.wait()
