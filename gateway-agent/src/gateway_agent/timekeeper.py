"""Gives batches their time: at once when the wall clock is right, afterwards when it was not yet."""

import asyncio
import logging
import time
from collections.abc import Callable

from gateway_agent.clock import Clock, Sync
from gateway_agent.seldom import Seldom
from gateway_agent.store import Store, StoreError

log = logging.getLogger(__name__)

LOOK_EVERY_S = 1.0
JUMP_MS = 60_000  # time servers slew what is less, or step it by seconds
AGE_JUDGED_AFTER_MS = 3_600_000  # a clock that has just jumped may jump back: it drops nothing for an hour
_FACT = "clock_right_since_boot"
_WRITE_AFTER_MS = 1000


class Timekeeper:
    """Once right, the clock counts as right until the next boot: without its server it drifts by milliseconds an hour,
    while the kernel calls it unsynchronised again after some hours.

    A wall clock that jumps is followed only when it is synchronised. Until then the clock since boot goes on from the
    time that was right.
    """

    def __init__(self, clock: Clock, store: Store) -> None:
        self._clock = clock
        self._store = store
        self._zero: int | None = None  # epoch ms of the boot clock's zero; None: not known yet
        self._written: int | None = None
        self._jumped_to: int | None = None
        self._followed_at: int | None = None  # boot_ms of the last jump that was followed
        self._late_stamps = False  # waiting batches may carry times of a clock that was ahead
        self._recalled = False
        self._seldom = Seldom()
        self.jumps = 0
        self.sync = Sync(False)

    @property
    def right(self) -> bool:
        """Whether the time is known."""
        return self._zero is not None

    async def begin(self) -> None:
        """Look for the first time. Raises StoreError."""
        try:
            await self.look()
        finally:
            if not self.right:
                log.warning("the clock is not synchronised yet: batches are kept and get their right time when it is")

    def stamp(self) -> int | None:
        """Epoch milliseconds of now; None while they are not known."""
        if self._zero is None:
            return None
        wall_zero = self._clock.boot_epoch_ms()
        return self._clock.boot_ms() + (self._zero if abs(wall_zero - self._zero) > JUMP_MS else wall_zero)

    def now_ms(self) -> int:
        """Epoch milliseconds of now, by the wall clock while nothing better is known."""
        stamp = self.stamp()
        return self._clock.wall_ms() if stamp is None else stamp

    def age_stamp(self) -> int | None:
        """Epoch milliseconds by which ages of earlier boots are judged; None while they are not known for certain."""
        if self._followed_at is not None and self._clock.boot_ms() - self._followed_at < AGE_JUDGED_AFTER_MS:
            return None
        return self.stamp()

    async def look(self) -> bool:
        """Ask whether the clock is right; whether it has just become so, or batches that had no time have one now.

        Raises StoreError, with the clock looked at all the same.
        """
        try:
            await self._recall()
        except StoreError:
            self._look_at_clock()
            raise
        news = self._look_at_clock()
        zero = self._zero
        if zero is None:
            return False
        await self._write_down(zero)
        return await self._store.do(lambda outbox: outbox.set_times(zero)) > 0 or news

    async def _recall(self) -> None:
        """Take over what an earlier run of the agent found in this boot."""
        if self._recalled:
            return
        known = await self._store.do(lambda outbox: outbox.fact(_FACT))
        self._recalled = True
        boot, _, zero = (known or "").partition(" ")
        if self._zero is None and boot == self._clock.boot:
            self._zero = self._written = int(zero) if zero else self._clock.boot_epoch_ms()

    def _look_at_clock(self) -> bool:
        """Whether the clock has just become right."""
        self.sync = self._clock.sync()
        if self._zero is None and not self.sync.synchronised:
            return False
        wall_zero = self._clock.boot_epoch_ms()
        news = self._zero is None
        if self._zero is None:
            log.info("the clock is synchronised")
            self._zero = wall_zero
        elif abs(wall_zero - self._zero) > JUMP_MS:
            self._jumped(wall_zero, wall_zero - self._zero)
        else:
            if self._jumped_to is not None:
                log.info("the clock is back at the time that was right")
            self._zero, self._jumped_to = wall_zero, None
        return news

    def _jumped(self, wall_zero: int, by_ms: int) -> None:
        if self._jumped_to is None or abs(wall_zero - self._jumped_to) > JUMP_MS:
            self._jumped_to = wall_zero
            self.jumps += 1
            log.warning("the clock jumped by %+.0f s", by_ms / 1000)
            if not self.sync.synchronised:
                log.warning("it is not synchronised: batches get their time by the clock since boot until it is")
        if self.sync.synchronised:
            log.warning("the clock is synchronised: batches get the new time from now on")
            self._zero, self._jumped_to, self._late_stamps = wall_zero, None, True
            self._followed_at = self._clock.boot_ms()

    async def _write_down(self, zero: int) -> None:
        if self._written is None or abs(zero - self._written) > _WRITE_AFTER_MS:
            await self._store.do(lambda outbox: outbox.remember(_FACT, f"{self._clock.boot} {zero}"))
            self._written = zero
        if self._late_stamps:
            corrected = await self._store.do(lambda outbox: outbox.correct_times(zero, JUMP_MS))
            self._late_stamps = False
            if corrected:
                log.warning("%d waiting batches had a time in the future and got the right one", corrected)

    async def run(self, timed: Callable[[], None]) -> None:
        """Look every second; call ``timed`` when the time is known from now on, or waiting batches have got theirs."""
        while True:
            was_right = self.right
            try:
                news = await self.look()
            except StoreError as error:
                news = self.right and not was_right
                if self._seldom.worth_saying(str(error), time.monotonic()):
                    log.warning("%s", error)
            if news:
                timed()
            await asyncio.sleep(LOOK_EVERY_S)
