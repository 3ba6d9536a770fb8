"""Watches the building file and decides what a run does when it changes."""

import asyncio
import contextlib
import hashlib
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Literal

from simulator.building import Building, BuildingError, load
from simulator.run_options import Stop

POLL_S = 1.0
WhenChanged = Literal["stay", "leave", "follow"]


class BuildingWatch:
    """Compares a building file's content with the remembered content; its formatting does not matter."""

    def __init__(
        self, file: Path, when_changed: WhenChanged, playable: Callable[[Building], bool] = lambda _: True
    ) -> None:
        self.changed = False
        self._file, self._when_changed, self._playable = file, when_changed, playable
        self._remembered: bytes | None = None
        self._bytes, self._digest = b"", b""

    @property
    def description(self) -> str:
        """The phones' next action, for the log."""
        return "the phones walk in it" if self._when_changed == "follow" else "the phones leave until it is as before"

    def remember(self) -> Path:
        """Remember the present content; returns the file's path."""
        self.changed, self._remembered = False, self._content()
        return self._file

    @contextlib.asynccontextmanager
    async def stop_on_change(self, stop: Stop) -> AsyncIterator[None]:
        """During the block, a changed file requests a stop."""
        task = asyncio.create_task(self._poll(stop)) if self._when_changed != "stay" else None
        try:
            yield
        finally:
            if task:
                task.cancel()

    async def wait_until_usable(self, stop_by_signal: Callable[[], Stop]) -> bool:
        """Wait until the building can be used; False: stopped meanwhile."""
        stop = stop_by_signal()
        while not self._is_usable():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.requested.wait(), POLL_S)
                return False
        return True

    async def _poll(self, stop: Stop) -> None:
        while not self.changed:
            await asyncio.sleep(POLL_S)
            content = self._content()
            self.changed = content is not None and content != self._remembered
        stop.request()

    def _is_usable(self) -> bool:
        if self._when_changed == "leave":
            return self._content() == self._remembered
        try:
            return self._playable(load(self._file))
        except BuildingError:
            return False

    def _content(self) -> bytes | None:
        """A digest of the parsed file; None if it cannot be read or is half written."""
        try:
            read = self._file.read_bytes()
            if read != self._bytes:
                canonical = json.dumps(json.loads(read), sort_keys=True)
                self._bytes, self._digest = read, hashlib.sha256(canonical.encode()).digest()
        except (OSError, ValueError, RecursionError):
            return None
        return self._digest
