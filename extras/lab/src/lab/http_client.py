"""HTTP of the generator: geventhttpclient, as Locust's FastHttpUser uses it, and retries that obey `Retry-After`."""

import json
import select
import ssl
import time
from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import urlsplit

import gevent
import gevent.ssl
from gevent import monkey
from geventhttpclient import HTTPClient

from lab.calls import RIGHT, HttpCall
from lab.target import Target

CONNECTIONS = 256
TIMEOUT_S = 60.0
LONGEST_WAIT_S = 10.0
"""A `Retry-After` above this is not waited for."""
BLOCK_BYTES = 65_536
"""Read at once: an answer of a megabyte in blocks of 4 KiB takes the generator 3 ms."""
_poll = monkey.get_original("select", "poll")
"""Without a turn for other greenlets, in which the connection could change."""
BUSY = (429, 503)
UNANSWERED = "no answer before the end of the run"


class Outcome(NamedTuple):
    """Of one request, retries included."""

    status: int
    fault: str
    retries: int
    bytes: int
    behind_ms: float
    answered_s: float
    """When the last byte came, on the monotonic clock; judging the answer comes after it."""


class Caller:
    """Calls one target. Connections are kept and shared by all greenlets."""

    def __init__(self, target: Target, retries: int, connections: int = CONNECTIONS) -> None:
        url = urlsplit(target.url)
        secure = url.scheme == "https"

        def context(**_: object) -> ssl.SSLContext:
            made: ssl.SSLContext = gevent.ssl.create_default_context(cafile=target.ca or None)
            return made

        self._url = target.url
        self._headers = {"X-API-Key": target.key} if target.key else {}
        self._retries = retries
        self._closed = False
        self._client = HTTPClient(
            url.hostname or "localhost",
            url.port,
            ssl=secure,
            ssl_context_factory=context if secure else None,
            block_size=BLOCK_BYTES,
            concurrency=connections,
            connection_timeout=TIMEOUT_S,
            network_timeout=TIMEOUT_S,
        )
        # The library's check takes no descriptor above 1,023: beside a thousand receivers each request had a connection
        # of its own.
        self._client._connection_pool._is_socket_alive = _is_idle  # type: ignore[method-assign] # noqa: SLF001

    def close(self) -> None:
        """Requests that are still open get the fault `UNANSWERED`."""
        self._closed = True
        self._client.close()

    def check(self) -> str:
        """Why the platform cannot be called from here; empty: it can."""
        fault = self.call(HttpCall("/api/v1/building", "building", lambda _: RIGHT)).fault
        hint = " (LAB_API_KEY is missing or wrong)" if fault in ("HTTP 401", "HTTP 403") else ""
        return f"{self._url} cannot be called from here: {fault}{hint}" if fault else ""

    def call(self, http_call: HttpCall, wait: Callable[[float], object] = gevent.sleep) -> Outcome:
        """One request with its retries. Never raises: what went wrong is the fault."""
        outcome = self._once(http_call)
        for retry in range(1, self._retries + 1):
            status, after_s = outcome[0].status, outcome[1]
            if status not in BUSY or after_s > LONGEST_WAIT_S:
                break
            wait(after_s)
            outcome = self._once(http_call)
            outcome = (outcome[0]._replace(retries=retry), outcome[1])
        return outcome[0]

    def _once(self, http_call: HttpCall) -> tuple[Outcome, float]:
        """The outcome of one request, and how long the platform wants us to wait."""
        try:
            own = {**self._headers, **http_call.headers}
            if http_call.etag_of:
                present = self._client.request("GET", http_call.etag_of, headers=self._headers)
                present.read()
                own["If-Match"] = str(present.get("etag", ""))
            answer = self._client.request(http_call.method, http_call.path, body=http_call.body or b"", headers=own)
            body = bytes(answer.read())
        except Exception as error:  # noqa: BLE001 - whatever a connection may raise is a fault of this one request
            fault = UNANSWERED if self._closed else f"{type(error).__name__}: {error}"[:120]
            return Outcome(0, fault, 0, 0, -1.0, time.monotonic()), 0.0
        answered_s = time.monotonic()
        status = int(answer.status_code)
        if status in http_call.right_statuses:
            return Outcome(status, "", 0, len(body), -1.0, answered_s), 0.0
        if status >= 400:
            after_s = _seconds(answer.get("retry-after"))
            return Outcome(status, f"HTTP {status}", 0, len(body), -1.0, answered_s), after_s
        try:
            fault, behind_ms = http_call.judge(body)
        except (ValueError, KeyError, TypeError, IndexError) as error:
            fault, behind_ms = f"not as described: {type(error).__name__}", -1.0
        return Outcome(status, fault, 0, len(body), behind_ms, answered_s), 0.0

    def get_json(self, path: str) -> object:
        """The JSON of a path, for preparation."""
        answer = self._client.request("GET", path, headers=self._headers)
        return json.loads(answer.read())


def _is_idle(sock: gevent.socket.socket) -> bool:
    """Whether a kept connection is open and has nothing to read."""
    if sock.fileno() < 0:
        return False
    poll = _poll()
    poll.register(sock.fileno(), select.POLLIN)
    return not poll.poll(0)


def _seconds(header: object) -> float:
    try:
        return max(0.0, float(str(header)))
    except ValueError:
        return 1.0
