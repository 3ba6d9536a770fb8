"""Closes each window and stores it on disk before it is sent."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from gateway_agent.clock import Clock
from gateway_agent.clock_sync import ClockSync
from gateway_agent.intake import Intake
from gateway_agent.log_throttle import LogThrottle
from gateway_agent.outbox_view import Batch
from gateway_agent.readings import pack
from gateway_agent.store import Store, StoreError

log = logging.getLogger(__name__)

UNSAVED_WINDOWS = 120  # held in memory while the disk fails; the oldest are dropped first


class _Unsaved(NamedTuple):
    boot_ms: int
    ts: int | None
    bodies: list[tuple[int, str]]


class Collector:
    """``send_live`` gets the batches of a window once they are on disk and their time is known."""

    def __init__(
        self,
        intake: Intake,
        store: Store,
        clock: Clock,
        clock_sync: ClockSync,
        send_live: Callable[[list[Batch]], None],
    ) -> None:
        self._intake = intake
        self._store = store
        self._clock = clock
        self._clock_sync = clock_sync
        self._send_live = send_live
        self._unsaved: deque[_Unsaved] = deque()
        self._log_throttle = LogThrottle()
        self.closed_at = time.monotonic()

    async def run(self) -> None:
        """Close one window after the other, until cancelled."""
        due = time.monotonic()
        while True:
            due = max(due + self._intake.settings.window_ms / 1000, time.monotonic())
            await asyncio.sleep(due - time.monotonic())
            await self.close_window()

    async def close_window(self) -> None:
        """Close the current window, store it, then send it."""
        boot_ms, ts = self._clock.boot_ms(), self._clock_sync.timestamp()
        bodies = list(pack(self._intake.close()))
        self.closed_at = time.monotonic()
        if bodies:
            self._unsaved.append(_Unsaved(boot_ms, ts, bodies))
        try:
            while self._unsaved:
                await self._save(self._unsaved[0])
                self._unsaved.popleft()
            self._log_throttle.forget()
        except StoreError as error:
            if self._log_throttle.should_log(str(error), time.monotonic()):
                log.error("%s; windows are held in memory, %d at most", error, UNSAVED_WINDOWS)  # noqa: TRY400
            while len(self._unsaved) > UNSAVED_WINDOWS:
                self._store.dropped["disk"] += sum(readings for readings, _ in self._unsaved.popleft().bodies)

    async def finish(self) -> None:
        """Store the last window. Readings that the disk still refuses are lost, counted and logged."""
        await self.close_window()
        lost = sum(readings for window in self._unsaved for readings, _ in window.bodies)
        if lost:
            self._store.dropped["disk"] += lost
            self._unsaved.clear()
            log.error("%d readings are lost: the disk refused them until the agent stopped", lost)

    async def _save(self, window: _Unsaved) -> None:
        batches = await self._store.run(lambda outbox: outbox.add(window.bodies, window.boot_ms, window.ts))
        if window.ts is not None:
            self._send_live(batches)
