"""A minimal client of InfluxDB 2's HTTP API, on the standard library."""

import json
import re
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

TIMEOUT_S = 10.0
REPORTED = re.compile(rb"^,?error,reference", re.MULTILINE)
"""Header of an error in the middle of an answer to Flux."""


class ApiError(Exception):
    """InfluxDB refused or did not answer. ``status`` is the HTTP status, 0 when there was no answer."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Api:
    """InfluxDB at ``url`` (http://host:port), with ``token``."""

    url: str
    token: str

    def call(self, method: str, path: str, body: object = None, **query: str) -> Any:
        """The decoded JSON answer (None when it is empty). Raises ApiError if refused or unreachable."""
        data = None if body is None else json.dumps(body).encode()
        text = self._send(method, path, data, "application/json", TIMEOUT_S, query)
        return json.loads(text) if text.strip() else None

    def query(self, flux: str, organisation: str, timeout_s: float) -> bytes:
        """The answer to a Flux query as CSV. Raises ApiError, also for an error that is reported in the answer."""
        path = "/api/v2/query"
        text = self._send("POST", path, flux.encode(), "application/vnd.flux", timeout_s, {"org": organisation})
        if REPORTED.search(text):
            raise ApiError(400, f"POST {path}: {text.decode(errors='replace').strip()[:300]}")
        return text

    def _send(
        self, method: str, path: str, data: bytes | None, content: str, timeout_s: float, query: Mapping[str, str]
    ) -> bytes:
        address = f"{self.url}{path}" + (f"?{urlencode(query)}" if query else "")
        headers = {"Authorization": f"Token {self.token}", "Content-Type": content}
        request = urllib.request.Request(address, data, headers, method=method)  # noqa: S310 - the operator's own URL
        try:
            with urllib.request.urlopen(request, timeout=timeout_s) as answer:  # noqa: S310 - as above
                return bytes(answer.read())
        except urllib.error.HTTPError as error:
            with error:
                detail = error.read().decode(errors="replace").strip()
            raise ApiError(error.code, f"{method} {path}: {error.code} {detail}") from error
        except OSError as error:
            raise ApiError(0, f"{method} {path}: {error}") from error

    def wait(self, seconds: float) -> None:
        """Wait until InfluxDB is healthy. Raises ApiError after ``seconds``."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                if self.call("GET", "/health")["status"] == "pass":
                    return
            except ApiError as error:
                if time.monotonic() > deadline:
                    raise ApiError(
                        0, f"InfluxDB at {self.url} did not become healthy within {seconds:g} s ({error}); see its log"
                    ) from error
            time.sleep(0.2)
