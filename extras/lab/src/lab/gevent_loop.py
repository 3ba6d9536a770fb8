"""gevent's loop for the MQTT client: the loop itself reads what comes in, without a switch to a greenlet."""

from collections.abc import Callable
from typing import Any

import gevent

READABLE, WRITABLE = 1, 2
"""Of libev; readable is also a connection that is closed."""


class GeventLoop:
    """Calls back when a socket can be read or written. Callbacks must not block."""

    def __init__(self) -> None:
        self._watchers: dict[tuple[int, int], Any] = {}

    def add_reader(self, handle: int, callback: Callable[[], object]) -> None:
        self._add(handle, READABLE, callback)

    def remove_reader(self, handle: int) -> None:
        self._remove(handle, READABLE)

    def add_writer(self, handle: int, callback: Callable[[], object]) -> None:
        self._add(handle, WRITABLE, callback)

    def remove_writer(self, handle: int) -> None:
        self._remove(handle, WRITABLE)

    def _add(self, handle: int, events: int, callback: Callable[[], object]) -> None:
        self._remove(handle, events)
        self._watchers[handle, events] = watcher = gevent.get_hub().loop.io(handle, events)
        watcher.start(callback)

    def _remove(self, handle: int, events: int) -> None:
        if (watcher := self._watchers.pop((handle, events), None)) is not None:
            watcher.stop()
            watcher.close()
