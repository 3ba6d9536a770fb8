"""Collects adverts into windows and stores each window in the outbox, from where the sender takes it."""

import asyncio
import logging
import time
from collections import deque
from typing import NamedTuple

from gateway_agent import scan_settings
from gateway_agent.clock import ClockSync
from gateway_agent.health import Counters
from gateway_agent.log_throttle import LogThrottle
from gateway_agent.outbox import Store, StoreError
from gateway_agent.readings import pack
from gateway_agent.scan_settings import ConfigMessageError
from gateway_agent.window import Intake

log = logging.getLogger(__name__)

UNSAVED_WINDOWS = 120  # held in memory while the disk fails; the oldest are dropped first
RESTORE_AGAIN_AFTER_S = 5.0
_CONFIG = "config"  # key of the last `config` message in the outbox


class _Unsaved(NamedTuple):
    boot_ms: int
    ts: int | None
    bodies: list[tuple[int, str]]


class Collector:
    """Closes the windows of ``intake``, whose settings at first are the file's; `configure` changes them."""

    def __init__(self, intake: Intake, store: Store, clock_sync: ClockSync, counters: Counters) -> None:
        self._intake = intake
        self._store = store
        self._clock_sync = clock_sync
        self._counters = counters
        self._file_settings = intake.settings
        self._restored = False
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
        """Close the current window and store it, and those that the disk refused before."""
        boot_ms, ts = self._clock_sync.clock.boot_ms(), self._clock_sync.timestamp()
        bodies = list(pack(self._intake.close()))
        self.closed_at = time.monotonic()
        if bodies:
            self._unsaved.append(_Unsaved(boot_ms, ts, bodies))
        try:
            while self._unsaved:
                oldest = self._unsaved[0]
                await self._store.add(oldest.bodies, oldest.boot_ms, oldest.ts)
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

    def configure(self, payload: bytes) -> None:
        """Apply a `config` message from the next advert on and remember it; an empty one: the file's settings again."""
        restored, self._restored = self._restored, True  # a received message is newer than the stored one
        if restored and not payload and self._intake.settings == self._file_settings:
            return  # no `config` is in force anyway
        if self._apply(payload):
            self._store.remember(_CONFIG, payload.decode())

    async def restore(self) -> None:
        """Apply the stored `config` message: it is in force until the broker sends a newer one. Raises StoreError."""
        remembered = await self._store.run(lambda outbox: outbox.fact(_CONFIG))
        if self._restored:
            return
        self._restored = True
        if remembered:
            self._apply(remembered.encode())
        elif self._file_settings.allow is None and not self._intake.publishes_unregistered:
            log.warning(
                "no beacon is registered yet: nothing is sent until a `config` message or scan.allow names some"
            )

    async def restore_when_possible(self) -> None:
        """Retry `restore` while the disk fails."""
        while not self._restored:
            try:
                await self.restore()
            except StoreError:  # it is logged with the windows
                await asyncio.sleep(RESTORE_AGAIN_AFTER_S)

    def _apply(self, payload: bytes) -> bool:
        try:
            self._intake.settings = now = scan_settings.apply_config(self._file_settings, payload)
        except ConfigMessageError as error:
            self._counters.config_refused += 1
            # Shortened: the error may quote any part of 64 KiB.
            log.error("a config message is refused; the current settings stay in force: %.300s", error)  # noqa: TRY400
            return False
        listed = "no" if now.allow is None else len(now.allow)
        log.info(
            "scanning with windows of %d ms, RSSI from %d dBm after an offset of %d dB, %s registered beacons",
            now.window_ms,
            now.min_rssi,
            now.rssi_offset,
            listed,
        )
        return True
