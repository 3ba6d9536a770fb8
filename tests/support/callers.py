"""Callers that poll continuously, and their answers."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from . import web
from .running import RunningStack


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer; `at_s` of the monotonic clock when it was asked for, `status` 0 where there was none."""

    at_s: float
    took_s: float
    status: int
    retry_after: str | None
    content: bytes

    @property
    def body(self) -> Any:
        """Decoded lazily: decoding blocks the other callers of this process."""
        return json.loads(self.content)


ANSWER_WITHIN_S = 25
"""Longer than any bound of a test, and than a large answer takes on a busy machine."""


class Caller:
    """Asks again and again, each time with parameters of that moment."""

    def __init__(
        self, stack: RunningStack, path: str, parameters: Callable[[], dict[str, Any]], every_s: float
    ) -> None:
        self._url, self._parameters, self._every_s = f"{stack.http_url}{path}", parameters, every_s
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._ask, daemon=True)
        self.answers: list[Answer] = []

    def since(self, at_s: float) -> list[Answer]:
        """Answers since then."""
        return [answer for answer in list(self.answers) if answer.at_s >= at_s]

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        self._thread.join(30)

    def _ask(self) -> None:
        with web.Client(timeout=ANSWER_WITHIN_S, retry_503=False) as client:
            while not self._over.wait(self._every_s):
                at_s = time.monotonic()
                try:
                    answer = client.get(self._url, params=self._parameters())
                    said = (answer.status_code, answer.headers.get("retry-after"), answer.content)
                except httpx.HTTPError as error:
                    said = (0, None, json.dumps(repr(error)).encode())
                self.answers.append(Answer(at_s, time.monotonic() - at_s, *said))


@contextmanager
def calling(*callers: Caller) -> Iterator[None]:
    """Run the callers during the block."""
    for caller in callers:
        caller.start()
    try:
        yield
    finally:
        for caller in callers:
            caller.stop()
