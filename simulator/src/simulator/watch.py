"""What becomes of a play when its building file is another one."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, Literal

from simulator.building import BuildingError, load
from simulator.manner import Stop

LOOK_S = 1.0
Manner = Literal["stay", "leave", "follow"]


class Watch:
    """Looks whether a building file still says what it said when it was taken; how it is written does not matter."""

    def __init__(self, file: Path, manner: Manner) -> None:
        self.changed = False
        self._file, self._manner = file, manner
        self._taken: Any = None

    @property
    def says(self) -> str:
        """What comes next, in words."""
        return "these people walk there" if self._manner == "follow" else "these people leave, until it is as before"

    def take(self) -> Path:
        """From now on this content counts."""
        self.changed, self._taken = False, self._content()
        return self._file

    @contextlib.asynccontextmanager
    async def asking(self, stop: Stop) -> AsyncIterator[None]:
        """For the length of the block: a changed file asks to stop."""
        looking = asyncio.create_task(self._look(stop)) if self._manner != "stay" else None
        try:
            yield
        finally:
            if looking:
                looking.cancel()

    async def until_again(self, stop_by_signal: Callable[[], Stop]) -> bool:
        """Wait until there is something to walk in; False: stopped meanwhile."""
        stop = stop_by_signal()
        while not self._fits():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.asked.wait(), LOOK_S)
                return False
        return True

    async def _look(self, stop: Stop) -> None:
        while not self.changed:
            await asyncio.sleep(LOOK_S)
            content = self._content()
            self.changed = content is not None and content != self._taken
        stop.ask()

    def _fits(self) -> bool:
        if self._manner == "leave":
            return bool(self._content() == self._taken)
        try:
            return bool(load(self._file).beacons)
        except BuildingError:
            return False

    def _content(self) -> Any:
        """None: it cannot be read, or is half written."""
        try:
            return json.loads(self._file.read_text())
        except (OSError, ValueError):
            return None
