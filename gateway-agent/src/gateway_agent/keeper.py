"""Housekeeping of the outbox: its bounds, and facts to remember."""

import asyncio
import logging
import time

from gateway_agent.clock import Clock
from gateway_agent.seldom import Seldom
from gateway_agent.store import Store, StoreError
from gateway_agent.timekeeper import Timekeeper

log = logging.getLogger(__name__)

TRIM_EVERY_S = 15.0  # at 200 readings/s the file grows by less than a megabyte in between


class Keeper:
    """``max_age_h``: age in hours at which a batch is dropped: by the clock since boot, for earlier boots by the wall
    clock where it is right.
    """

    def __init__(self, store: Store, clock: Clock, timekeeper: Timekeeper, max_age_h: float) -> None:
        self._store = store
        self._clock = clock
        self._time = timekeeper
        self._max_age_ms = int(max_age_h * 3_600_000)
        self._facts: dict[str, str] = {}
        self._changed = asyncio.Event()
        self._seldom = Seldom()

    def remember(self, name: str, value: str) -> None:
        """Have a fact written down soon."""
        self._facts[name] = value
        self._changed.set()

    async def run(self) -> None:
        """Look after the outbox until cancelled."""
        said: dict[str, int] = {}
        while True:
            self._changed.clear()
            try:
                await self._work()
                self._seldom.forget()
            except StoreError as error:
                if self._seldom.worth_saying(str(error), time.monotonic()):
                    log.warning("%s", error)
            lost = {reason: count for reason, count in self._store.dropped.items() if count}
            if lost != said:
                log.warning("readings lost so far, by reason: %s", lost)
                said = lost
            try:
                async with asyncio.timeout(TRIM_EVERY_S):
                    await self._changed.wait()
            except TimeoutError:
                continue

    async def finish(self) -> None:
        """Write down what is not yet: the end may come right after a fact."""
        try:
            await self._write_down()
        except StoreError as error:
            log.warning("%s", error)

    async def _write_down(self) -> None:
        while self._facts:
            name, value = next(iter(self._facts.items()))
            await self._store.do(lambda outbox, name=name, value=value: outbox.remember(name, value))  # type: ignore[misc]
            if self._facts.get(name) == value:
                del self._facts[name]

    async def _work(self) -> None:
        await self._write_down()
        oldest_boot_ms = self._clock.boot_ms() - self._max_age_ms
        now = self._time.age_stamp()
        oldest_ts = None if now is None else now - self._max_age_ms
        await self._store.do(lambda outbox: outbox.trim(oldest_boot_ms, oldest_ts))
