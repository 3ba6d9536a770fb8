#!/usr/bin/env python3
"""Takes what Telegraf writes to InfluxDB, keeps it on disk, and passes it on in order.

    serve.py --data .data/spool --port 8087

A write is acknowledged when the disk has it: from then on neither an absent InfluxDB nor a kill loses it.
Environment: INFLUX_URL, INFLUX_WRITE_TOKEN (or _FILE). Ends on SIGTERM.
"""

import argparse
import hmac
import json
import os
import signal
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedIOBase
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from disk_queue import DiskQueue, QueueFullError
from segments import MOST_BODY_BYTES
from shipper import InfluxWriter, Shipper

ORGANIZATION = "sda"
BUCKETS = ("readings", "locations", "health")
IDLE_S = 60.0
RESERVE_BYTES = 2**29
"""Disk space that stays free, for InfluxDB: with less it stops in the middle of a write."""


class BadRequestError(Exception):
    """The request is refused for good; the text says why."""


class Handler(BaseHTTPRequestHandler):
    """`POST /api/v2/write` as InfluxDB has it, for three buckets, and `GET /status`."""

    protocol_version = "HTTP/1.1"
    timeout = IDLE_S
    server: "Server"

    def do_GET(self) -> None:
        """Counters without any reading; needs no token."""
        if self.path != "/status":
            return self._answer(404, b'{"message":"there is /status and /api/v2/write"}')
        return self._answer(200, json.dumps(self.server.status()).encode())

    def do_POST(self) -> None:
        """Keep a write."""
        try:
            body = _body(self.rfile, self.headers.get("Content-Length"), self.headers.get("Transfer-Encoding"))
            bucket = self._bucket()
            if body:
                self.server.queue.append(bucket, body)
        except BadRequestError as error:
            self.close_connection = True
            return self._answer(400, json.dumps({"message": str(error)}).encode())
        except PermissionError:
            return self._answer(401, b'{"message":"unauthorized access"}')
        except QueueFullError as error:
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
    """The endpoint for Telegraf, over `queue`."""

    daemon_threads = True

    def __init__(self, address: tuple[str, int], queue: DiskQueue, token: str) -> None:
        super().__init__(address, Handler)
        self.queue, self.token = queue, token
        self.shipper: Shipper | None = None

    def status(self) -> dict[str, object]:
        """What the flows read; `fault` is empty while InfluxDB takes everything."""
        return {**self.queue.status(), "fault": self.shipper.fault if self.shipper else ""}


def _body(stream: BufferedIOBase, length: str | None, encoding: str | None) -> bytes:
    """The request's body; Telegraf sends it in chunks. Raises BadRequestError."""
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
    if count < 0 or before + count > MOST_BODY_BYTES:
        raise BadRequestError(f"a body has at most {MOST_BODY_BYTES} bytes")
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
    parser.add_argument("--most-mib", type=int, default=0, help="size at most; 0: as much as the disk has")
    return parser.parse_args(arguments)


def read_token() -> str:
    """The token for InfluxDB, which Telegraf shows as well. Raises SystemExit."""
    file = os.environ.get("INFLUX_WRITE_TOKEN_FILE")
    token = Path(file).read_text().strip() if file else os.environ.get("INFLUX_WRITE_TOKEN", "")
    if not token:
        raise SystemExit("spool: INFLUX_WRITE_TOKEN is not set")
    return token


def main() -> None:
    """Serve until SIGTERM."""
    os.umask(0o077)
    options, token, stopped = parse(), read_token(), threading.Event()
    queue = DiskQueue(options.data.absolute(), RESERVE_BYTES, options.most_mib * 2**20)
    server = Server((options.bind, options.port), queue, token)
    writer = InfluxWriter(os.environ.get("INFLUX_URL", "http://127.0.0.1:8086"), token, ORGANIZATION, log)
    server.shipper = Shipper(queue, writer, stopped, log)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())
    shipping = threading.Thread(target=server.shipper.run, daemon=True)
    for thread in (shipping, threading.Thread(target=server.serve_forever, daemon=True)):
        thread.start()
    stopped.wait()
    server.shutdown()
    shipping.join(timeout=5)
    queue.close()


if __name__ == "__main__":
    main()
