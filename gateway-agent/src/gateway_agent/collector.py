"""Closes each window and puts it on disk before it is handed over."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from gateway_agent.clock import Clock
from gateway_agent.intake import Intake
from gateway_agent.outbox_view import Batch
from gateway_agent.record import pack
from gateway_agent.seldom import Seldom
from gateway_agent.store import Store, StoreError
from gateway_agent.timekeeper import Timekeeper

log = logging.getLogger(__name__)

UNSAVED_WINDOWS = 120  # what is held in memory while the disk refuses; then the oldest go


class _Unsaved(NamedTuple):
    boot_ms: int
    ts: int | None
    bodies: list[tuple[int, str]]


class Collector:
    """``live`` gets the batches of a window as soon as they are on disk and their time is known."""

    def __init__(
        self, intake: Intake, store: Store, clock: Clock, timekeeper: Timekeeper, live: Callable[[list[Batch]], None]
    ) -> None:
        self._intake = intake
        self._store = store
        self._clock = clock
        self._time = timekeeper
        self._live = live
        self._unsaved: deque[_Unsaved] = deque()
        self._seldom = Seldom()
        self.closed_at = time.monotonic()

    async def run(self) -> None:
        """One window after the other, until cancelled."""
        due = time.monotonic()
        while True:
            due = max(due + self._intake.reception.window_ms / 1000, time.monotonic())
            await asyncio.sleep(due - time.monotonic())
            await self.close_window()

    async def close_window(self) -> None:
        """The window that was collected until now goes to disk, then out."""
        boot_ms, ts = self._clock.boot_ms(), self._time.stamp()
        bodies = list(pack(self._intake.close()))
        self.closed_at = time.monotonic()
        if bodies:
            self._unsaved.append(_Unsaved(boot_ms, ts, bodies))
        try:
            while self._unsaved:
                await self._save(self._unsaved[0])
                self._unsaved.popleft()
            self._seldom.forget()
        except StoreError as error:
            if self._seldom.worth_saying(str(error), time.monotonic()):
                log.error("%s; windows are held in memory, %d at most", error, UNSAVED_WINDOWS)  # noqa: TRY400 - a sentence
            while len(self._unsaved) > UNSAVED_WINDOWS:
                self._store.dropped["disk"] += sum(readings for readings, _ in self._unsaved.popleft().bodies)

    async def finish(self) -> None:
        """The last window, before the end. What the disk refuses until then is lost, and said."""
        await self.close_window()
        lost = sum(readings for window in self._unsaved for readings, _ in window.bodies)
        if lost:
            self._store.dropped["disk"] += lost
            self._unsaved.clear()
            log.error("%d readings are lost: the disk did not take them until the end", lost)

    async def _save(self, window: _Unsaved) -> None:
        batches = await self._store.do(lambda outbox: outbox.add(window.bodies, window.boot_ms, window.ts))
        if window.ts is not None:
            self._live(batches)
