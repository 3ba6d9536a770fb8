"""Trims the outbox to its limits and stores facts in it."""

import asyncio
import logging
import time

from gateway_agent.clock import Clock
from gateway_agent.clock_sync import ClockSync
from gateway_agent.log_throttle import LogThrottle
from gateway_agent.store import Store, StoreError
from gateway_agent.tasks import wait_for_event

log = logging.getLogger(__name__)

TRIM_EVERY_S = 15.0  # at 200 readings/s the file grows by less than a megabyte in between


class OutboxMaintenance:
    """``max_age_h``: older batches are dropped. Age goes by the boot clock; for batches of earlier boots by the wall
    clock, if it is right.
    """

    def __init__(self, store: Store, clock: Clock, clock_sync: ClockSync, max_age_h: float) -> None:
        self._store = store
        self._clock = clock
        self._clock_sync = clock_sync
        self._max_age_ms = int(max_age_h * 3_600_000)
        self._facts: dict[str, str] = {}
        self._changed = asyncio.Event()
        self._log_throttle = LogThrottle()

    def remember(self, name: str, value: str) -> None:
        """Store a fact soon."""
        self._facts[name] = value
        self._changed.set()

    async def run(self) -> None:
        """Maintain the outbox until cancelled."""
        logged: dict[str, int] = {}
        while True:
            self._changed.clear()
            try:
                await self._maintain()
                self._log_throttle.forget()
            except StoreError as error:
                if self._log_throttle.should_log(str(error), time.monotonic()):
                    log.warning("%s", error)
            lost = {reason: count for reason, count in self._store.dropped.items() if count}
            if lost != logged:
                log.warning("readings lost so far, by reason: %s", lost)
                logged = lost
            await wait_for_event(self._changed, TRIM_EVERY_S)

    async def finish(self) -> None:
        """Store pending facts before the agent stops."""
        try:
            await self._persist_facts()
        except StoreError as error:
            log.warning("%s", error)

    async def _persist_facts(self) -> None:
        while self._facts:
            name, value = next(iter(self._facts.items()))
            await self._store.run(lambda outbox, name=name, value=value: outbox.remember(name, value))  # type: ignore[misc]
            if self._facts.get(name) == value:
                del self._facts[name]

    async def _maintain(self) -> None:
        await self._persist_facts()
        oldest_boot_ms = self._clock.boot_ms() - self._max_age_ms
        now = self._clock_sync.age_timestamp()
        oldest_ts = None if now is None else now - self._max_age_ms
        await self._store.run(lambda outbox: outbox.trim(oldest_boot_ms, oldest_ts))
