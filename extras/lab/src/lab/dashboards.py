"""Open dashboard pages without their browsers: sockets that are logged in and watch a topic, as the page's script does.

python-socketio carries them, as in Locust's own SocketIOUser; gevent makes greenlets of its threads."""

import contextlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import gevent
import gevent.event
import requests
import socketio

from lab.target import Target

PATH = "/dashboard/socket.io"
WITHIN_S = 15.0
UNCHECKED = {"skip_utf8_validation": True}
"""websocket-client checks each byte in Python, 20 ms for a frame of 130 KiB; decoding the text checks it anyway."""
SIZE = "_bytes"
"""Added to each frame: its length as it came."""


class Changes:
    """Finds what is new in each snapshot. Pure."""

    def __init__(self, senders: str) -> None:
        self._senders = senders
        self._ts: dict[str, int] | None = None

    def delay_ms(self, people: Sequence[Mapping[str, Any]], now_ms: float) -> float:
        """Age of the oldest change that a snapshot brings: from when its message was due. -1: it brings none.

        All is new in the first snapshot of a page; it counts as none."""
        there = {str(one["id"]): int(one["ts"]) for one in people if str(one["id"]).startswith(self._senders)}
        before, self._ts = self._ts, there
        if before is None:
            return -1.0
        return max((now_ms - ts for who, ts in there.items() if ts > before.get(who, 0)), default=-1.0)


class SizedJson:
    """JSON for python-socketio that notes how long a frame was. Pages of one topic get the same frame: it is parsed
    once, or the generator would need a browser's time for each."""

    dumps = staticmethod(json.dumps)
    _last: tuple[str, Any] = ("", None)

    @classmethod
    def loads(cls, text: str) -> Any:
        if text == cls._last[0]:
            value = cls._last[1]
        else:
            value = json.loads(text)
            if isinstance(value, list) and len(value) > 1 and isinstance(value[1], dict):
                value[1][SIZE] = len(text)
            cls._last = (text, value)
        return list(value) if isinstance(value, list) else value


def log_in(target: Target) -> str:
    """The cookie of a login, for all pages of a worker. Raises RuntimeError, OSError."""
    form = {"user": target.viewer, "password": target.viewer_password}
    answer = requests.post(
        f"{target.url}/login", data=form, allow_redirects=False, timeout=WITHIN_S, verify=target.ca or True
    )
    if answer.status_code != 303:
        raise RuntimeError(f"login as {target.viewer!r}: HTTP {answer.status_code}")
    return "; ".join(f"{name}={value}" for name, value in answer.cookies.items())


Frame = Callable[[float, int], None]
"""Gets the delay in ms of what the frame shows (-1: nothing new), and its bytes."""


class OpenPage:
    """One page. It connects again by itself; each end of a connection that it did not want is reported."""

    def __init__(
        self, target: Target, cookie: str, topic: str, senders: str, frame: Frame, lost: Callable[[str], None]
    ) -> None:
        self._target, self._cookie, self._topic = target, cookie, topic
        self._changes = Changes(senders)
        self._frame, self._lost = frame, lost
        self._first = gevent.event.Event()
        self._closing = False
        session = requests.Session()
        session.verify = target.ca or True
        self._client = client = socketio.Client(
            http_session=session, handle_sigint=False, json=SizedJson, reconnection_delay=0.5,
            websocket_extra_options=dict(UNCHECKED),
        )  # fmt: skip
        client.on("connect", self._watch)
        client.on("sda:snapshot", self._shown)
        client.on("disconnect", self._ended)

    def open(self) -> str:
        """Connect and wait for the first snapshot; returns a fault, or nothing."""
        url = urlsplit(self._target.url)
        try:
            self._client.connect(
                f"{url.scheme}://{url.netloc}", headers={"Cookie": self._cookie}, transports=["websocket"],
                socketio_path=PATH, wait_timeout=WITHIN_S,
            )  # fmt: skip
        except (socketio.exceptions.SocketIOError, OSError, ValueError) as error:
            return f"{type(error).__name__}: {error}"[:120]
        return "" if self._first.wait(WITHIN_S) else f"no snapshot within {WITHIN_S:g} s"

    def close(self) -> None:
        self._closing = True
        with contextlib.suppress(AttributeError, OSError, socketio.exceptions.SocketIOError):  # it still connects
            self._client.disconnect()

    def _watch(self) -> None:
        self._client.emit("sda:watch", {"topic": self._topic, "building": None})

    def _shown(self, snapshot: Mapping[str, Any]) -> None:
        if snapshot.get("topic") != self._topic:
            return
        self._first.set()
        delay_ms = self._changes.delay_ms(snapshot.get("people", ()), time.time() * 1000)
        self._frame(delay_ms, int(snapshot.get(SIZE, 0)))

    def _ended(self, reason: object = "") -> None:
        if not self._closing:
            self._lost(f"connection lost: {reason}"[:120])
