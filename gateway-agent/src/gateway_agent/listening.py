"""Keeps a scan going for as long as the agent lives: a fresh scanner after silence, an adapter reset after more."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable

from gateway_agent.bluez import Adapter
from gateway_agent.health import Counters
from gateway_agent.intake import Intake
from gateway_agent.scanner import ScanError, Scanner
from gateway_agent.seldom import Seldom
from gateway_agent.watchdog import Action, Watchdog

log = logging.getLogger(__name__)

LOOK_EVERY_S = 0.5
RETRY_AFTER_S = 3.0  # BlueZ said no: an adapter that was just plugged in is found within this
RESET_WITHIN_S = 120.0  # ten seconds or so, longest when every step times out; what hangs must not end the scanning


class Listening:
    """``reset`` resets the adapter that was used last (None: none was yet) and returns what it did, in words.

    ``wanted``: name or address of an adapter, empty: see `bluez.choose`. Never raises for anything BlueZ does.
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
        self._errors, self._silences = Seldom(), Seldom()
        self.error: str | None = None
        self.adapter: Adapter | None = None

    async def run(self) -> None:
        """Scan until cancelled."""
        while True:
            action = await self._scan()
            if action is Action.RESET:
                log.warning("nothing heard for %.0f s: resetting the adapter", self._silence_s())
                self._counters.adapter_resets += 1
                log.warning("adapter reset: %s", await self._reset_within())
                self._watchdog.reset(time.monotonic())
            elif action is Action.RESTART and self._silences.worth_saying(
                str(self._intake.last_heard), time.monotonic()
            ):
                log.warning("nothing heard for %.0f s: a fresh scanner", self._silence_s())

    async def _scan(self) -> Action:
        """One scanner's life; returns what its end asks for."""
        scanner = Scanner(self._intake.heard, self._wanted)
        try:
            await scanner.start()
            self._uses(scanner.adapter)
        except ScanError as error:
            self._uses(scanner.adapter)
            self._failed(error)
            await asyncio.sleep(RETRY_AFTER_S)
            return Action.RESET if self._due() is Action.RESET else Action.NOTHING
        self._watchdog.restarted(time.monotonic())
        self._counters.scan_starts += 1
        self.error = None
        try:
            while (action := self._due()) is Action.NOTHING:  # noqa: ASYNC110 - adverts come from another thread
                await asyncio.sleep(LOOK_EVERY_S)
        finally:
            try:
                await scanner.stop()
            except ScanError as error:
                log.debug("%s; its connection is closed, which ends the scan as well", error)
        return action

    async def _reset_within(self) -> str:
        try:
            async with asyncio.timeout(RESET_WITHIN_S):
                return await self._reset(self.adapter)
        except TimeoutError:
            return f"not done within {RESET_WITHIN_S:.0f} s; scanning goes on"

    def _uses(self, adapter: Adapter | None) -> None:
        if adapter is None:
            return
        if self.adapter is None or (adapter.name, adapter.address) != (self.adapter.name, self.adapter.address):
            log.info("scanning with adapter %s", adapter)
        self.adapter = adapter

    def _due(self) -> Action:
        self._watchdog.heard(self._intake.last_heard)
        return self._watchdog.due(time.monotonic())

    def _silence_s(self) -> float:
        return self._watchdog.silence_s(time.monotonic())

    def _failed(self, error: ScanError) -> None:
        self.error = str(error)
        self._counters.scan_errors += 1
        if self._errors.worth_saying(self.error, time.monotonic()):
            log.warning("%s; trying again every %.0f s", error, RETRY_AFTER_S)
