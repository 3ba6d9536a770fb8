"""Keeps the scan running: a new scanner after silence, an adapter reset after longer silence.

A room without any beacon looks like a broken adapter. New scanners are cheap and are made as long as the silence lasts.
Resets disturb other users of the adapter, so each one waits twice as long as the one before, up to an hour.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from enum import Enum

from gateway_agent.bluez import Adapter
from gateway_agent.health import Counters
from gateway_agent.log_throttle import LogThrottle
from gateway_agent.scanner import ScanError, Scanner
from gateway_agent.window import Intake

log = logging.getLogger(__name__)

POLL_EVERY_S = 0.5
RETRY_AFTER_S = 3.0  # after an error of BlueZ; also the time to find an adapter that was just plugged in
_LONGEST_RESET_PAUSE_S = 3600.0
RESET_WITHIN_S = 120.0  # usually ten seconds; a hanging reset must not stop scanning


class Action(Enum):
    """The action that is due."""

    NOTHING = "nothing"
    RESTART = "restart"
    RESET = "reset"


class Watchdog:
    """Decides; monotonic seconds are an argument. Report adverts (`advert_seen`) and done actions (`restarted`,
    `reset`); ask for the next action (`due`)."""

    def __init__(self, restart_after_s: float, reset_after_s: float, now: float) -> None:
        self._restart_after_s = restart_after_s
        self._reset_after_s = reset_after_s
        self._reset_pause_s = reset_after_s
        self._last_advert = now
        self._last_restart = now
        self._last_reset = now

    def advert_seen(self, now: float) -> None:
        """Report the time of the latest advert."""
        if now > self._last_advert:
            self._last_advert = now
            self._reset_pause_s = self._reset_after_s

    def silence_s(self, now: float) -> float:
        """Seconds since the last advert."""
        return now - self._last_advert

    def due(self, now: float) -> Action:
        """The action that is due now."""
        if now - max(self._last_advert, self._last_reset) >= self._reset_pause_s:
            return Action.RESET
        if now - max(self._last_advert, self._last_restart, self._last_reset) >= self._restart_after_s:
            return Action.RESTART
        return Action.NOTHING

    def restarted(self, now: float) -> None:
        """Report that a new scanner is running."""
        self._last_restart = now

    def reset(self, now: float) -> None:
        """Report that the adapter was reset."""
        self._last_reset = self._last_restart = now
        self._reset_pause_s = min(self._reset_pause_s * 2, max(_LONGEST_RESET_PAUSE_S, self._reset_after_s))


class ScanSupervisor:
    """``reset`` resets the last used adapter (None: none yet) and returns a description of what it did.

    ``wanted``: name or address of an adapter; empty: see `bluez.choose`. BlueZ's errors never raise.
    """

    def __init__(
        self,
        intake: Intake,
        wanted: str,
        watchdog: Watchdog,
        counters: Counters,
        reset: Callable[[Adapter | None], Awaitable[str]],
    ) -> None:
        self._intake = intake
        self._wanted = wanted
        self._watchdog = watchdog
        self._counters = counters
        self._reset = reset
        self._errors, self._silences = LogThrottle(), LogThrottle()
        self.error: str | None = None
        self.adapter: Adapter | None = None

    async def run(self) -> None:
        """Scan until cancelled."""
        while True:
            action = await self._scan()
            if action is Action.RESET:
                log.warning("no advert for %.0f s: resetting the adapter", self._silence_s())
                self._counters.adapter_resets += 1
                log.warning("adapter reset: %s", await self._reset_with_timeout())
                self._watchdog.reset(time.monotonic())
            elif action is Action.RESTART and self._silences.should_log(
                str(self._intake.last_advert_at), time.monotonic()
            ):
                log.warning("no advert for %.0f s: starting a new scanner", self._silence_s())

    async def _scan(self) -> Action:
        """Run one scanner; returns the action that is due when it ends."""
        scanner = Scanner(self._intake.on_advert, self._wanted)
        try:
            await scanner.start()
            self._use_adapter(scanner.adapter)
        except ScanError as error:
            self._use_adapter(scanner.adapter)
            self._failed(error)
            await asyncio.sleep(RETRY_AFTER_S)
            return Action.RESET if self._due() is Action.RESET else Action.NOTHING
        self._watchdog.restarted(time.monotonic())
        self._counters.scan_starts += 1
        self.error = None
        try:
            while (action := self._due()) is Action.NOTHING:  # noqa: ASYNC110 - adverts come from another thread
                await asyncio.sleep(POLL_EVERY_S)
        finally:
            try:
                await scanner.stop()
            except ScanError as error:
                log.debug("%s; closing its connection ends the scan as well", error)
        return action

    async def _reset_with_timeout(self) -> str:
        try:
            async with asyncio.timeout(RESET_WITHIN_S):
                return await self._reset(self.adapter)
        except TimeoutError:
            return f"not finished within {RESET_WITHIN_S:.0f} s; scanning continues"

    def _use_adapter(self, adapter: Adapter | None) -> None:
        if adapter is None:
            return
        if self.adapter is None or (adapter.name, adapter.address) != (self.adapter.name, self.adapter.address):
            log.info("scanning with adapter %s", adapter)
        self.adapter = adapter

    def _due(self) -> Action:
        self._watchdog.advert_seen(self._intake.last_advert_at)
        return self._watchdog.due(time.monotonic())

    def _silence_s(self) -> float:
        return self._watchdog.silence_s(time.monotonic())

    def _failed(self, error: ScanError) -> None:
        self.error = str(error)
        self._counters.scan_errors += 1
        if self._errors.should_log(self.error, time.monotonic()):
            log.warning("%s; retrying every %.0f s", error, RETRY_AFTER_S)
