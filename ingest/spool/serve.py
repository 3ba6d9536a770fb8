#!/usr/bin/env python3
"""Keeps on disk what waits for Telegraf and for InfluxDB, and passes it on in order.

    serve.py --data .data/spool --port 8087

Readings come from the broker and go to Telegraf; what Telegraf writes comes back and goes to InfluxDB. Both are
acknowledged when the disk has them: from then on neither an absent service nor a kill loses them. Each bucket has a
queue, a thread and a connection of its own: where InfluxDB takes nothing into one, the others go on.
Environment: MQTT_URL, MQTT_TELEGRAF_PASSWORD, TELEGRAF_NAME (default telegraf), TELEGRAF_READINGS_URL, INFLUX_URL,
INFLUX_WRITE_TOKEN (or _FILE). Ends on SIGTERM.
"""

import argparse
import hmac
import json
import os
import signal
import sys
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedIOBase
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from broker_reader import Account, BrokerReader
from disk_queue import DiskQueue, Outlets, QueueFullError, Space
from segments import MAX_BODY_BYTES
from shipper import GATHER_S, InfluxWriter, Shipper
from telegraf import MAX_REQUEST_BYTES, Receipts, TelegrafWriter

ORGANIZATION = "sda"
BUCKETS = ("readings", "locations", "health")
TOPICS = ("sda/v1/gateway/+/readings", "sda/v1/phone/+/readings")
TELEGRAF_PAUSE_S = 1.0
"""Longest pause between attempts to reach Telegraf, which starts within seconds."""
IDLE_S = 60.0
RESERVE_BYTES = 2**29
"""Disk space that stays free for InfluxDB. With less, InfluxDB stops in the middle of a write."""
STOPS_WITHIN_S = 5.0


class BadRequestError(Exception):
    """The request is refused for good; the text says why."""


class Handler(BaseHTTPRequestHandler):
    """`POST /api/v2/write` as InfluxDB has it, for three buckets, and `GET /status`."""

    protocol_version = "HTTP/1.1"
    timeout = IDLE_S
    server: "Server"

    def do_GET(self) -> None:
        """Answer with counters. They have no readings, so a token is not needed."""
        if self.path != "/status":
            return self._answer(404, b'{"message":"there is /status and /api/v2/write"}')
        return self._answer(200, json.dumps(self.server.status()).encode())

    def do_POST(self) -> None:
        """Put a write into the queue."""
        try:
            body = _body(self.rfile, self.headers.get("Content-Length"), self.headers.get("Transfer-Encoding"))
            bucket = self._bucket()
            body, mark = self.server.receipts.take(body)
            if body:
                self.server.keep(bucket, body)
            self.server.receipts.confirm(mark)
        except BadRequestError as error:
            self.close_connection = True
            return self._answer(400, json.dumps({"message": str(error)}).encode())
        except PermissionError:
            return self._answer(401, b'{"message":"unauthorized access"}')
        except QueueFullError as error:
            self.server.receipts.refuse()
            return self._answer(503, json.dumps({"message": str(error)}).encode())
        return self._answer(204, b"")

    def _bucket(self) -> str:
        given = self.headers.get("Authorization", "")
        if not hmac.compare_digest(given.encode(), f"Token {self.server.token}".encode()):
            raise PermissionError
        url = urlsplit(self.path)
        query = parse_qs(url.query)
        bucket = query.get("bucket", [""])[0]
        if url.path != "/api/v2/write" or bucket not in BUCKETS or query.get("org") != [ORGANIZATION]:
            raise BadRequestError("only /api/v2/write of the organisation's buckets is served")
        if query.get("precision", ["ns"]) != ["ns"] or self.headers.get("Content-Encoding", "identity") != "identity":
            raise BadRequestError("times are in nanoseconds, bodies are not compressed")
        return bucket

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's name
        """No line for each request."""


class Server(ThreadingHTTPServer):
    """The endpoint for Telegraf, over `queue` of what waits for InfluxDB; `messages` is what waits for Telegraf."""

    daemon_threads = True

    def __init__(self, address: tuple[str, int], queue: DiskQueue | Outlets, messages: DiskQueue, token: str) -> None:
        super().__init__(address, Handler)
        self.queue, self.messages, self.token = queue, messages, token
        self.receipts = Receipts()
        self.parts: dict[str, tuple[Shipper | BrokerReader, ...]] = {"messages": (), "writes": ()}
        """The reader and the shippers of each queue. Their `fault` says why nothing goes on."""
        self.shippers: dict[str, Shipper] = {}
        """Those of the buckets."""
        self._full: dict[str, tuple[str, int]] = {}
        """Why the disk takes nothing for a bucket, and since when, epoch ms."""

    def keep(self, bucket: str, body: bytes) -> None:
        """Put a write into the queue. Raises QueueFullError, and then `status` says so until the disk takes one."""
        try:
            self.queue.append(bucket, body)
        except QueueFullError as error:
            began_ms = self._full[bucket][1] if bucket in self._full else time.time_ns() // 1_000_000
            self._full[bucket] = f"the disk takes nothing more: {error}", began_ms
            raise
        self._full.pop(bucket, None)

    def status(self) -> dict[str, object]:
        """The status that the flows read: all queues together, and what waits in each.

        `fault` says why InfluxDB takes nothing into a bucket; under `outlets` there is one for each.
        """
        queues = {"messages": self.messages.status(), "writes": self.queue.status()}
        faults = {name: next((one.fault for one in parts if one.fault), "") for name, parts in self.parts.items()}
        both = queues.values()
        oldest = [one["oldest_ms"] for one in both if one["oldest_ms"] is not None]
        return {
            **{name: sum((Counter(one[name]) for one in both), Counter()) for name in self.queue.counters},
            **{name: sum(one[name] for one in both) for name in ("waiting_bytes", "waiting_lines")},
            "oldest_ms": min(oldest, default=None),
            "free_bytes": queues["writes"]["free_bytes"],
            "fault": faults["writes"],
            "queues": {
                name: {"waiting_lines": one["waiting_lines"], "oldest_ms": one["oldest_ms"], "fault": faults[name]}
                for name, one in queues.items()
            },
            "outlets": {
                bucket: {**one, **self._fault(bucket)} for bucket, one in queues["writes"].get("outlets", {}).items()
            },
        }

    def _fault(self, bucket: str) -> dict[str, object]:
        shipper = self.shippers[bucket]
        fault, since_ms = self._full.get(bucket) or (shipper.fault, shipper.fault_ms)
        return {"fault": fault, "fault_ms": since_ms if fault else None}


def _body(stream: BufferedIOBase, length: str | None, encoding: str | None) -> bytes:
    """The request's body. Telegraf sends it in chunks. Raises BadRequestError."""
    try:
        if encoding is None:
            return _exactly(stream, int(length or 0), 0)
        body = bytearray()
        while count := int(stream.readline(64).split(b";")[0], 16):
            body += _exactly(stream, count, len(body))
            stream.readline(64)
        stream.readline(64)
        return bytes(body)
    except ValueError:
        raise BadRequestError("the length of the body is not clear") from None


def _exactly(stream: BufferedIOBase, count: int, before: int) -> bytes:
    if count < 0 or before + count > MAX_BODY_BYTES:
        raise BadRequestError(f"a body has at most {MAX_BODY_BYTES} bytes")
    data = stream.read(count)
    if len(data) < count:
        raise BadRequestError("the body is cut off")
    return data


def log(text: str) -> None:
    """One line for the service's log."""
    sys.stderr.write(f"spool: {text}\n")
    sys.stderr.flush()


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Command-line options."""
    parser = argparse.ArgumentParser(
        prog="serve.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder of the queue; created when missing")
    parser.add_argument("--port", type=int, default=8087, help="(default %(default)s)")
    parser.add_argument("--bind", default="127.0.0.1", help="(default %(default)s; 0.0.0.0 only inside a container)")
    parser.add_argument(
        "--most-mib", type=int, default=0, help="size of all queues together at most; 0: as much as the disk has"
    )
    return parser.parse_args(arguments)


def read_token() -> str:
    """The token for InfluxDB. Telegraf sends the same token to the spool. Raises SystemExit."""
    file = os.environ.get("INFLUX_WRITE_TOKEN_FILE")
    token = Path(file).read_text().strip() if file else os.environ.get("INFLUX_WRITE_TOKEN", "")
    if not token:
        raise SystemExit("spool: INFLUX_WRITE_TOKEN is not set")
    return token


def broker_account() -> Account:
    """Telegraf's account for readings. Raises SystemExit."""
    name = os.environ.get("TELEGRAF_NAME", "telegraf")
    url = os.environ.get("MQTT_URL", "tcp://127.0.0.1:1883")
    return Account(url, f"{name}/readings", f"{name}-readings", _password())


def telegraf_writer(receipts: Receipts) -> TelegrafWriter:
    """The writer that hands messages to Telegraf. Raises SystemExit."""
    url = os.environ.get("TELEGRAF_READINGS_URL", "http://127.0.0.1:8089/readings")
    return TelegrafWriter(url, _password(), receipts, log)


def _password() -> str:
    password = os.environ.get("MQTT_TELEGRAF_PASSWORD", "")
    if not password:
        raise SystemExit("spool: MQTT_TELEGRAF_PASSWORD is not set")
    return password


def main() -> None:
    """Serve until SIGTERM."""
    os.umask(0o077)
    options, token, stopped = parse(), read_token(), threading.Event()
    folder, max_bytes = options.data.absolute(), options.most_mib * 2**20
    space = Space(RESERVE_BYTES, max_bytes)
    queue, messages = Outlets(folder, BUCKETS, space), DiskQueue(folder / "messages", space=space)
    server = Server((options.bind, options.port), queue, messages, token)
    url = os.environ.get("INFLUX_URL", "http://127.0.0.1:8086")
    server.shippers = {
        bucket: Shipper(one, InfluxWriter(url, token, ORGANIZATION, log), stopped, log, receiver=f"InfluxDB ({bucket})",
                        gather_s=GATHER_S)
        for bucket, one in queue.queues.items()
    }  # fmt: skip
    account, telegraf = broker_account(), telegraf_writer(server.receipts)
    handing = Shipper(messages, telegraf, stopped, log, receiver="Telegraf", max_bytes=MAX_REQUEST_BYTES,
                      longest_pause_s=TELEGRAF_PAUSE_S)  # fmt: skip
    reading = BrokerReader(account, TOPICS, messages, stopped, log)
    server.parts = {"messages": (handing, reading), "writes": tuple(server.shippers.values())}
    works = [*(one.run for one in server.shippers.values()), handing.run, reading.run]
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())
    threads = [threading.Thread(target=work, daemon=True) for work in works]
    for thread in (*threads, threading.Thread(target=server.serve_forever, daemon=True)):
        thread.start()
    stopped.wait()
    ends_s = time.monotonic() + STOPS_WITHIN_S
    for thread in threads:
        thread.join(timeout=max(ends_s - time.monotonic(), 0))
    server.shutdown()
    for one in (queue, messages):
        one.close()


if __name__ == "__main__":
    main()
