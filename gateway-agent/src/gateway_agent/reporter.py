"""Reports the agent's status and health to the broker, its state to `doctor` and its liveness to systemd."""

import asyncio
import json
import logging
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gateway_agent import __version__, health, state, systemd
from gateway_agent.clock_sync import ClockSync
from gateway_agent.delivery import Delivery
from gateway_agent.health import Counters
from gateway_agent.intake import Intake
from gateway_agent.log_throttle import LogThrottle
from gateway_agent.readings import message
from gateway_agent.rights import Sample
from gateway_agent.scan_supervisor import ScanSupervisor
from gateway_agent.store import Store, StoreError
from gateway_agent.topics import Topics

log = logging.getLogger(__name__)

POLL_EVERY_S = 1.0


class Reporter:
    """Reads every part and changes none."""

    def __init__(self, topics: Topics, clock_sync: ClockSync, store: Store, intake: Intake, counters: Counters) -> None:
        self._topics = topics
        self._clock_sync = clock_sync
        self._store = store
        self._intake = intake
        self._counters = counters
        self._log_throttle = LogThrottle()

    def status(self, value: str, reason: str = "") -> bytes:
        """The status message: ``online`` or ``offline``, with a reason if somebody has to act."""
        body = {"state": value, "ts": self._clock_sync.now_ms(), "version": __version__}
        return json.dumps({**body, "reason": reason} if reason else body).encode()

    async def health(self) -> bytes:
        """The present health message; without the outbox's numbers if it cannot be read."""
        try:
            depth = await self._store.run(lambda outbox: outbox.depth())
        except StoreError:
            depth = None
        return health.message(
            ts=self._clock_sync.now_ms(),
            version=__version__,
            counters=self._counters,
            adverts=self._intake.adverts,
            ignored=self._intake.ignored,
            unregistered_distinct=self._intake.unregistered_distinct,
            depth=depth,
            failing=self._store.error is not None,
            dropped=self._store.dropped,
            damaged=self._store.damaged,
            synchronised=self._clock_sync.sync.synchronised,
            clock_offset_ms=self._clock_sync.sync.offset_ms,
            clock_jumps=self._clock_sync.jumps,
            settings=self._intake.settings,
        )

    async def samples(self) -> list[Sample]:
        """Valid messages to probe the ACL with: the status offline, health, and the oldest waiting batch.

        There is no valid message for the readings topic while the time is unknown and nothing waits.
        """
        samples = [Sample(self._topics.status, self.status("offline"), retain=True)]
        now = self._clock_sync.timestamp()
        if now is not None:
            samples.append(Sample(self._topics.health, await self.health()))
        try:
            waiting = await self._store.run(lambda outbox: outbox.waiting(0, 1))
        except StoreError:
            waiting = []
        if waiting:
            samples.append(Sample(self._topics.readings, message(waiting[0].ts, waiting[0].id, waiting[0].body)))
        elif now is not None:
            samples.append(Sample(self._topics.readings, message(now, 0, "[]")))
        return samples

    async def run(self, folder: Path, every_s: float, delivery: Delivery, scan_supervisor: ScanSupervisor) -> None:
        """Publish health every ``every_s`` and on connecting; write the state for `doctor` then and on changes."""
        reported: dict[str, Any] = {}
        due = 0.0
        while True:
            now = {
                "online": delivery.online,
                "fault": asdict(delivery.fault) if delivery.fault else None,
                "denied": delivery.denied,
                "outbox_error": self._store.error,
                "scan_error": scan_supervisor.error,
                "adapter": str(scan_supervisor.adapter) if scan_supervisor.adapter else None,
                "registered": None if self._intake.settings.allow is None else len(self._intake.settings.allow),
            }
            if now != reported or time.monotonic() >= due:
                reported, due = now, time.monotonic() + every_s
                await self._publish(folder, now, delivery)
            await asyncio.sleep(POLL_EVERY_S)

    async def _publish(self, folder: Path, now: dict[str, Any], delivery: Delivery) -> None:
        try:
            payload = await self.health()
            if self._clock_sync.known:  # the platform would refuse a wrong time, or trust it
                delivery.publish_health(payload)
            state.write(folder, {**now, "health": json.loads(payload)})
        except OSError as error:
            if self._log_throttle.should_log(str(error), time.monotonic()):
                log.warning("%s", error)


async def notify_systemd(alive: Callable[[], bool], status: Callable[[], str]) -> None:
    """Send systemd's watchdog notification and status while ``alive`` returns true."""
    interval_s = systemd.watchdog_interval_s()
    while True:
        if alive():
            systemd.notify(f"WATCHDOG=1\nSTATUS={status()}")
        await asyncio.sleep(interval_s or 15.0)
