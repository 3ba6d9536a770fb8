"""Sends the records of a queue to a receiver, in order. A record is forgotten when the receiver has it."""

import http.client
import re
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Protocol
from urllib.parse import urlencode, urlsplit

from disk_queue import DiskQueue
from segments import Record

MAX_WRITE_BYTES = 2**20
"""Size of one write: some thousand points, which InfluxDB takes in a tenth of a second."""
GATHER_S = 0.4
"""Time from one write to the next. A point of a large write costs InfluxDB a fifth less than one of a small write."""
TIMEOUT_S = 30.0
SLOW_S = 3.0
"""An answer takes a tenth of a second. After this time the receiver is called slow, or it is frozen."""
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.2, 5.0
REFUSED = (400, 413, 422)
"""InfluxDB will never take this body as it is."""
PARTIAL = re.compile(rb"dropped=(\d{1,9})")


class UnavailableError(Exception):
    """The receiver takes nothing at present. The text says why."""


class Writer(Protocol):
    """Writes lines into a bucket; returns how many were refused for good. Raises UnavailableError."""

    def __call__(self, bucket: str, body: bytes) -> int: ...


class InfluxWriter:
    """Writes to InfluxDB at `url` with `token`, over one connection."""

    def __init__(self, url: str, token: str, organization: str, log: Callable[[str], None]) -> None:
        parts = urlsplit(url)
        self._host, self._port = parts.hostname or "127.0.0.1", parts.port or 8086
        self._headers = {"Authorization": f"Token {token}", "Content-Type": "text/plain; charset=utf-8"}
        self._organization, self._log = organization, log
        self._connection: http.client.HTTPConnection | None = None

    def __call__(self, bucket: str, body: bytes) -> int:
        """Write the body. A refused body is halved until each bad line is alone."""
        status, answer = self._post(bucket, body)
        if status < 300:
            return 0
        if status not in REFUSED:
            raise UnavailableError(f"InfluxDB answers {status}: {answer[:200].decode(errors='replace').strip()}")
        if b"partial write: " in answer and (dropped := PARTIAL.findall(answer)):  # all others are stored
            self._log(f"InfluxDB has refused {dropped[-1].decode()} lines of {bucket}: {_text(answer)}")
            return int(dropped[-1])
        if (halves := halved(body)) is None:
            self._log(f"InfluxDB has refused a line of {bucket}: {_text(answer)}")
            return 1
        return self(bucket, halves[0]) + self(bucket, halves[1])

    def _post(self, bucket: str, body: bytes) -> tuple[int, bytes]:
        query = urlencode({"org": self._organization, "bucket": bucket, "precision": "ns"})
        try:
            if self._connection is None:
                self._connection = http.client.HTTPConnection(self._host, self._port, timeout=TIMEOUT_S)
            self._connection.request("POST", f"/api/v2/write?{query}", body, self._headers)
            answer = self._connection.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException) as error:
            if self._connection is not None:
                self._connection.close()
            self._connection = None
            raise UnavailableError(f"InfluxDB does not answer: {error or type(error).__name__}") from error


class Shipper:
    """Moves records from `queue` to `write` until `stopped`.

    Args:
        receiver: its name in log lines.
        max_bytes: size of the records that are read at once.
        gather_s: time from one write to the next, unless `max_bytes` wait.
        longest_pause_s: longest pause between attempts while the receiver is away.
    """

    def __init__(
        self,
        queue: DiskQueue,
        write: Writer,
        stopped: threading.Event,
        log: Callable[[str], None],
        *,
        receiver: str = "InfluxDB",
        max_bytes: int = MAX_WRITE_BYTES,
        gather_s: float = 0.0,
        longest_pause_s: float = LONGEST_PAUSE_S,
    ) -> None:
        self._queue, self._write, self._stopped, self._log = queue, write, stopped, log
        self._receiver, self._max_bytes, self._longest_pause_s = receiver, max_bytes, longest_pause_s
        self._gather_s, self._next_s = gather_s, 0.0
        self._fault = ""
        self._began_s = 0.0
        self._asked_s: float | None = None
        self._answered_after_s = 0.0

    @property
    def fault(self) -> str:
        """Why nothing is written at present, or only slowly. Empty: writing works."""
        if self._fault:
            return self._fault
        if (waited_s := self._waited_s()) >= SLOW_S:
            return f"{self._receiver} has not answered for {waited_s:.0f} s"
        slow_s = self._answered_after_s
        return f"{self._receiver} answers after {slow_s:.0f} s" if slow_s >= SLOW_S else ""

    @property
    def fault_ms(self) -> int | None:
        """Since when there is a fault, epoch ms. None: there is none."""
        if not self.fault:
            return None
        is_first = not self._fault and self._answered_after_s < SLOW_S
        ago_s = self._waited_s() if is_first else time.monotonic() - self._began_s
        return time.time_ns() // 1_000_000 - int(ago_s * 1000)

    def _waited_s(self) -> float:
        """For how long an answer has been waited for. 0: for none."""
        asked_s = self._asked_s
        return 0.0 if asked_s is None else time.monotonic() - asked_s

    def run(self) -> None:
        """Ship until stopped."""
        pause_s = FIRST_PAUSE_S
        while not self._stopped.is_set():
            if not self._queue.wait(timeout_s=0.5):
                continue
            self._queue.wait(self._next_s - time.monotonic(), self._max_bytes)
            self._next_s = time.monotonic() + self._gather_s
            try:
                if not self.ship_once():
                    self._stopped.wait(self._longest_pause_s)  # what is left cannot be read; the next start cuts it off
            except UnavailableError as error:
                if not self._fault:
                    self._log(f"{error}; what comes is kept on disk")
                    self._began_s = time.monotonic()
                self._fault = str(error)
                self._stopped.wait(pause_s)
                pause_s = min(2 * pause_s, self._longest_pause_s)
                continue
            if self._fault:
                self._log(f"{self._receiver} takes what is kept")
            self._fault, pause_s = "", FIRST_PAUSE_S

    def ship_once(self) -> bool:
        """Write the oldest records, one write a bucket, and forget them.

        Returns whether there were any. Raises UnavailableError: the next call writes all of them, also those that are
        written already.
        """
        records, position = self._queue.peek(self._max_bytes)
        if not records:
            return False
        asked_s = self._asked_s = time.monotonic()
        try:
            refused = {bucket: self._write(bucket, body) for bucket, body in _bodies(records).items()}
            took_s = time.monotonic() - asked_s
            if self._answered_after_s < SLOW_S <= took_s:
                self._began_s = asked_s
            self._answered_after_s = took_s
        finally:
            self._asked_s = None
        self._queue.advance(records, position, refused)
        return True


def halved(body: bytes) -> tuple[bytes, bytes] | None:
    """The first and the second half of the body's lines. None: there is only one line."""
    lines = body.splitlines(keepends=True)
    middle = len(lines) // 2
    return (b"".join(lines[:middle]), b"".join(lines[middle:])) if middle else None


def _bodies(records: list[Record]) -> dict[str, bytes]:
    """The records' lines by bucket, in their order."""
    parts: dict[str, list[bytes]] = defaultdict(list)
    for one in records:
        parts[one.bucket].append(one.body if one.body.endswith(b"\n") else one.body + b"\n")
    return {bucket: b"".join(bodies) for bucket, bodies in parts.items()}


def _text(answer: bytes) -> str:
    return answer[:300].decode(errors="replace").strip()
