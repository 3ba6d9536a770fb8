"""Hands messages to Telegraf, and waits until Telegraf has written the points that it made of them.

The last line of each request is a mark. Telegraf keeps the order: when it writes the mark to the spool, everything
before the mark is written. The spool removes the marks.
"""

import base64
import http.client
import itertools
import re
import secrets
import select
import threading
import time
from collections.abc import Callable
from urllib.parse import urlsplit

from shipper import UnavailableError, halved

MAX_REQUEST_BYTES = 2 * 2**20
"""Size of one request: some 6,000 messages."""
WRITTEN_WITHIN_S = 20.0
"""After that the messages are handed over again: Telegraf may have lost them in a reload."""
TIMEOUT_S = 30.0
REFUSED = (400, 413)
MARK = re.compile(rb"^handed_over,run=([0-9a-f]+) id=(\d+)i \d+\n?", re.MULTILINE)


class Receipts:
    """Knows which requests Telegraf has written."""

    def __init__(self) -> None:
        self.run = secrets.token_hex(8).encode()
        """Identifies this process. A mark of an earlier process confirms nothing."""
        self._changed = threading.Condition()
        self._last = 0
        self._refused_s = 0.0

    def take(self, body: bytes) -> tuple[bytes, int]:
        """Returns a write of Telegraf without its marks, and the highest mark of this process. 0: it has none."""
        if b"handed_over," not in body:
            return body, 0
        own = [int(number) for run, number in MARK.findall(body) if run == self.run]
        return MARK.sub(b"", body), max(own, default=0)

    def confirm(self, number: int) -> None:
        """Note that everything up to this mark is on disk."""
        with self._changed:
            self._last = max(self._last, number)
            self._changed.notify_all()

    def refuse(self) -> None:
        """Note that a write was refused because there is no space. Telegraf keeps it and tries again."""
        with self._changed:
            self._refused_s = time.monotonic()

    def wait(self, number: int, within_s: float, lost: Callable[[], bool]) -> bool:
        """Wait for a mark. Each refused write starts the time again.

        False: the mark did not come within that time, or Telegraf has ended (`lost`).
        """
        began_s = time.monotonic()
        with self._changed:
            while self._last < number:
                if lost() or time.monotonic() - max(began_s, self._refused_s) > within_s:
                    return False
                self._changed.wait(0.1)
        return True


class TelegrafWriter:
    """Posts messages to Telegraf's listener at `url`."""

    def __init__(self, url: str, password: str, receipts: Receipts, log: Callable[[str], None]) -> None:
        self._url = urlsplit(url)
        credentials = base64.b64encode(f"spool:{password}".encode()).decode()
        self._headers = {"Authorization": f"Basic {credentials}"}
        self._receipts, self._log = receipts, log
        self._numbers = itertools.count(1)
        self._connection: http.client.HTTPConnection | None = None

    def __call__(self, bucket: str, body: bytes) -> int:
        """Hand the body over and wait. A refused body is halved until the bad message is alone."""
        number = next(self._numbers)
        status, answer = self._post(body + b"handed_over,run=%b id=%di\n" % (self._receipts.run, number))
        if status in REFUSED:
            if (halves := halved(body)) is None:
                self._log(f"Telegraf has refused a message: {answer[:300]!r}")
                return 1
            return self(bucket, halves[0]) + self(bucket, halves[1])
        if status >= 300:
            self._close()
            raise UnavailableError(f"Telegraf answers {status}")
        if not self._receipts.wait(number, WRITTEN_WITHIN_S, self._is_closed):
            self._close()
            raise UnavailableError("Telegraf has not written what it was given")
        return 0

    def _post(self, body: bytes) -> tuple[int, bytes]:
        try:
            if self._connection is None:
                host, port = self._url.hostname or "127.0.0.1", self._url.port
                self._connection = http.client.HTTPConnection(host, port, timeout=TIMEOUT_S)
            self._connection.request("POST", self._url.path, body, self._headers)
            answer = self._connection.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException) as error:
            self._close()
            raise UnavailableError(f"Telegraf does not answer: {error or type(error).__name__}") from error

    def _is_closed(self) -> bool:
        """Whether Telegraf has closed the connection. Without a request it sends nothing, so data means the end."""
        connection = self._connection
        return connection is None or connection.sock is None or bool(select.select([connection.sock], [], [], 0)[0])

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None
