"""Both parsers as processes: Telegraf with ingest's own configuration, and the flows' reader of messages."""

import base64
import json
import os
import re
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import IO, Any

import mqtt_packets as mqtt
import serve
from http_server import serving
from shipper import UnavailableError
from stack.install import telegraf_program
from stack.layout import ROOT, node_folder
from support.stack_client import eventually
from telegraf import Receipts, TelegrafWriter
from unused_ports import unused_ports

INGEST = ROOT / "ingest"
SECRET = "fuzz"
POINT = re.compile(r"^(batch|measured),(\S+) (.*) (\d+)$", re.MULTILINE)
BATCH = re.compile(r'readings="([^"]*)"')
NS_OF_A_MS = 1_000_000
VALUE = re.compile(r"(battery_mv|temperature_c|humidity_pct)=(-?[0-9.e+-]+)i?")
RECEIVER = re.compile(r'receiver="?([^",]+)')


@dataclass(slots=True)
class Taken:
    """What a parser takes of a message: its time, readings in order, and values as (beacon, name, value), sorted."""

    ts: int | None = None
    readings: list[tuple[str, int]] = field(default_factory=list)
    values: list[tuple[str, str, float]] = field(default_factory=list)


class Ingest:
    """The spool's code, Telegraf, and an endpoint in place of InfluxDB."""

    def __init__(self, server: "_Writes", write: TelegrafWriter, refused: list[str]) -> None:
        self._server, self._write, self.refused = server, write, refused
        """`refused`: what the spool logs of lines that Telegraf does not take."""

    def take(self, payloads: Sequence[bytes]) -> list[Taken]:
        """Hand the messages over, each from a receiver of its own, and wait for their points."""
        reader = mqtt.PacketReader()
        for number, payload in enumerate(payloads):
            topic = b"sda/v1/phone/%d/readings" % number
            body = len(topic).to_bytes(2, "big") + topic + b"\0\1" + payload
            reader.feed(b"\x32" + mqtt._length(len(body)) + body)
        self._write("messages", b"".join(reader.lines))
        return _points(self._server.taken(), len(payloads))


class Flows:
    """`read.js`."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def take(self, payloads: Sequence[bytes], now_ms: int, registered: frozenset[str]) -> list[Taken]:
        """What the flows take of the messages, as far as ingest stores it: readings of registered beacons."""
        sender = threading.Thread(target=self._send, args=(payloads, now_ms))
        sender.start()
        out: IO[str] = self._process.stdout  # type: ignore[assignment]
        found = [_of_registered(json.loads(out.readline()), registered) for _ in payloads]
        sender.join()
        return found

    def _send(self, payloads: Sequence[bytes], now_ms: int) -> None:
        into: IO[str] = self._process.stdin  # type: ignore[assignment]
        for payload in payloads:
            into.write(f'["{base64.b64encode(payload).decode()}",{now_ms}]\n')
        into.flush()


@contextmanager
def flows() -> Iterator[Flows]:
    """The flows' reader, until the block ends."""
    command = [node_folder() / "node", Path(__file__).with_name("read.js")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Flows(process)
        finally:
            process.kill()


@contextmanager
def ingest(building: Path) -> Iterator[Ingest]:
    """Telegraf with the registry of this building, until the block ends."""
    port = unused_ports(1)[0]
    receipts, refused = Receipts(), list[str]()
    with tempfile.TemporaryDirectory() as folder, serving(_Writes(receipts)) as server:
        registry: list[str | Path] = [node_folder() / "node", ROOT / "flows/bin/registry.js", building, folder]
        subprocess.run(registry, check=True, stdout=subprocess.DEVNULL)
        log = Path(folder) / "log"
        write = TelegrafWriter(f"http://127.0.0.1:{port}/readings", SECRET, receipts, refused.append)
        with log.open("w") as output, _telegraf(Path(folder), port, server.server_port, output):
            try:
                eventually(lambda: _listens(write), within_s=60, what=f"Telegraf listening; its log: {log}")
                yield Ingest(server, write, refused)
            finally:
                write._close()


def _listens(write: TelegrafWriter) -> bool:
    try:
        return write("messages", b"") == 0
    except UnavailableError:
        return False


@contextmanager
def _telegraf(folder: Path, port: int, spool: int, output: IO[str]) -> Iterator[None]:
    environment = {
        **os.environ,
        "READINGS_ADDRESS": f"tcp://127.0.0.1:{port}",
        "MQTT_TELEGRAF_PASSWORD": SECRET,
        "SPOOL_URL": f"http://127.0.0.1:{spool}",
        "INFLUX_WRITE_TOKEN": SECRET,
        "SDA_INGEST_DIR": str(INGEST),
        "SDA_REGISTRY_DIR": str(folder),
    }
    plugins = [INGEST / "telegraf.d" / f"{name}-readings.conf" for name in ("input", "output")]
    command = [str(telegraf_program())]
    for file in (INGEST / "telegraf.conf", *plugins, folder / "registry.conf"):
        command += ["--config", str(file)]
    with subprocess.Popen(command, env=environment, stdout=output, stderr=subprocess.STDOUT) as process:
        try:
            yield
        finally:
            process.terminate()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "_Writes"

    def do_POST(self) -> None:
        """Keep what Telegraf writes, and confirm its mark."""
        body, mark = self.server.receipts.take(
            serve._body(self.rfile, self.headers.get("Content-Length"), self.headers.get("Transfer-Encoding"))
        )
        self.server.keep(body)
        self.server.receipts.confirm(mark)
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


class _Writes(ThreadingHTTPServer):
    """Takes Telegraf's writes."""

    daemon_threads = True

    def __init__(self, receipts: Receipts) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.receipts = receipts
        self._lock = threading.Lock()
        self._bodies: list[bytes] = []

    def keep(self, body: bytes) -> None:
        with self._lock:
            self._bodies.append(body)

    def taken(self) -> str:
        """All that was written since the last call."""
        with self._lock:
            bodies, self._bodies = self._bodies, []
        return b"".join(bodies).decode()


def _points(text: str, count: int) -> list[Taken]:
    found = [Taken() for _ in range(count)]
    for name, tags, fields, ns in POINT.findall(text):
        receiver = RECEIVER.search(tags) if name == "batch" else RECEIVER.search(fields)
        assert receiver is not None, (tags, fields)
        taken = found[int(receiver[1])]
        taken.ts = int(ns) // NS_OF_A_MS
        if name == "batch":
            (readings,) = BATCH.findall(fields)
            taken.readings = [(beacon, int(rssi)) for beacon, rssi in (one.split(" ") for one in readings.split(","))]
        else:
            beacon = tags.removeprefix("beacon=")
            taken.values += [(beacon, value, float(written)) for value, written in VALUE.findall(fields)]
    for one in found:
        one.values.sort()
    return found


def _of_registered(taken: list[Any] | None, registered: frozenset[str]) -> Taken:
    if taken is None:
        return Taken()
    ts, readings, values = taken
    kept = [(beacon, rssi) for beacon, rssi in readings if beacon in registered]
    said = sorted((beacon, *one) for beacon, of in values if beacon in registered for one in of.items())
    return Taken(ts, kept, said) if kept or said else Taken()
