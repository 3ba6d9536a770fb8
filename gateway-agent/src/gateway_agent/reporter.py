"""What the agent says of itself: status and health to the broker, its state to `doctor`, its pulse to systemd."""

import asyncio
import json
import logging
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gateway_agent import __version__, health, state, systemd
from gateway_agent.delivery import Delivery
from gateway_agent.health import Counters
from gateway_agent.intake import Intake
from gateway_agent.listening import Listening
from gateway_agent.record import message
from gateway_agent.rights import Sample
from gateway_agent.seldom import Seldom
from gateway_agent.store import Store, StoreError
from gateway_agent.timekeeper import Timekeeper
from gateway_agent.topics import Topics

log = logging.getLogger(__name__)

LOOK_EVERY_S = 1.0


class Reporter:
    """Asks every part and changes none."""

    def __init__(
        self, topics: Topics, timekeeper: Timekeeper, store: Store, intake: Intake, counters: Counters
    ) -> None:
        self._topics = topics
        self._time = timekeeper
        self._store = store
        self._intake = intake
        self._counters = counters
        self._seldom = Seldom()

    def status(self, value: str, reason: str = "") -> bytes:
        """The status message: ``online`` or ``offline``, and why where there is something to do about it."""
        body = {"state": value, "ts": self._time.now_ms(), "version": __version__}
        return json.dumps({**body, "reason": reason} if reason else body).encode()

    async def health(self) -> bytes:
        """The health message as of now; without what the outbox holds where that cannot be read."""
        try:
            depth = await self._store.do(lambda outbox: outbox.depth())
        except StoreError:
            depth = None
        return health.message(
            ts=self._time.now_ms(),
            version=__version__,
            counters=self._counters,
            adverts=self._intake.adverts,
            ignored=self._intake.ignored,
            unregistered_distinct=self._intake.unregistered_distinct,
            depth=depth,
            failing=self._store.error is not None,
            dropped=self._store.dropped,
            damaged=self._store.damaged,
            synchronised=self._time.sync.synchronised,
            clock_offset_ms=self._time.sync.offset_ms,
            clock_jumps=self._time.jumps,
            reception=self._intake.reception,
        )

    async def samples(self) -> list[Sample]:
        """True messages to ask the ACL with, before the connection: offline, how we are, what waits longest.

        While no time is known and nothing waits there is no true message for the topic of readings.
        """
        samples = [Sample(self._topics.status, self.status("offline"), retain=True)]
        now = self._time.stamp()
        if now is not None:
            samples.append(Sample(self._topics.health, await self.health()))
        try:
            waiting = await self._store.do(lambda outbox: outbox.waiting(0, 1))
        except StoreError:
            waiting = []
        if waiting:
            samples.append(Sample(self._topics.readings, message(waiting[0].ts, waiting[0].id, waiting[0].body)))
        elif now is not None:
            samples.append(Sample(self._topics.readings, message(now, 0, "[]")))
        return samples

    async def run(self, folder: Path, every_s: float, delivery: Delivery, listening: Listening) -> None:
        """Health every ``every_s`` and on connecting; the state for `doctor` then and whenever it changes."""
        said: dict[str, Any] = {}
        due = 0.0
        while True:
            now = {
                "online": delivery.online,
                "fault": asdict(delivery.fault) if delivery.fault else None,
                "denied": delivery.denied,
                "outbox_error": self._store.error,
                "scan_error": listening.error,
                "adapter": str(listening.adapter) if listening.adapter else None,
                "registered": None if self._intake.reception.allow is None else len(self._intake.reception.allow),
            }
            if now != said or time.monotonic() >= due:
                said, due = now, time.monotonic() + every_s
                await self._say(folder, now, delivery)
            await asyncio.sleep(LOOK_EVERY_S)

    async def _say(self, folder: Path, now: dict[str, Any], delivery: Delivery) -> None:
        try:
            payload = await self.health()
            if self._time.right:  # a wrong time would be refused, or worse, believed
                delivery.publish_health(payload)
            state.write(folder, {**now, "health": json.loads(payload)})
        except OSError as error:
            if self._seldom.worth_saying(str(error), time.monotonic()):
                log.warning("%s", error)


async def pulse(alive: Callable[[], bool], status: Callable[[], str]) -> None:
    """Tell systemd that we live for as long as ``alive`` says so, and what we do."""
    interval_s = systemd.watchdog_interval_s()
    while True:
        if alive():
            systemd.notify(f"WATCHDOG=1\nSTATUS={status()}")
        await asyncio.sleep(interval_s or 15.0)
