"""Gives batches their time: at once when the wall clock is right, afterwards when it was not yet."""

import asyncio
import logging
from collections.abc import Callable

from gateway_agent.clock import Clock, Sync
from gateway_agent.store import Store, StoreError

log = logging.getLogger(__name__)

LOOK_EVERY_S = 1.0
_FACT = "clock_right_since_boot"


class Timekeeper:
    """Once right, the clock counts as right until the next boot: without its server it drifts by milliseconds an hour,
    while the kernel calls it unsynchronised again after some hours.
    """

    def __init__(self, clock: Clock, store: Store) -> None:
        self._clock = clock
        self._store = store
        self.right = False
        self.sync = Sync(False)

    async def begin(self) -> None:
        """Look for the first time, and at what an earlier run of the agent found in this boot."""
        known = await self._store.do(lambda outbox: outbox.fact(_FACT))
        self.right = known == self._clock.boot
        await self.look()
        if not self.right:
            log.warning("the clock is not synchronised yet: batches are kept and get their right time when it is")

    def stamp(self) -> int | None:
        """Epoch milliseconds of now; None while they are not known."""
        return self._clock.wall_ms() if self.right else None

    async def look(self) -> bool:
        """Ask whether the clock is right; whether it has just become so, or batches that had no time have one now."""
        self.sync = self._clock.sync()
        if not self.right and not self.sync.synchronised:
            return False
        news = not self.right
        if news:
            await self._store.do(lambda outbox: outbox.remember(_FACT, self._clock.boot))
            self.right = True
            log.info("the clock is synchronised")
        zero = self._clock.boot_epoch_ms()
        return await self._store.do(lambda outbox: outbox.set_times(zero)) > 0 or news

    async def run(self, timed: Callable[[], None]) -> None:
        """Look every second; call ``timed`` when the time is known from now on, or waiting batches have got theirs."""
        while True:
            try:
                if await self.look():
                    timed()
            except StoreError as error:
                log.warning("%s", error)
            await asyncio.sleep(LOOK_EVERY_S)
