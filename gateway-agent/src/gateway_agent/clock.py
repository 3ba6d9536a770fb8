"""The clocks of this machine: the boot clock, which is never wrong, and the wall clock, which may be wrong until it is
synchronised. A Pi without a battery clock boots in the past; its first batches get their time later (`ClockSync`)."""

import asyncio
import contextlib
import ctypes
import logging
import time
from dataclasses import dataclass
from pathlib import Path

from gateway_agent.log_throttle import LogThrottle
from gateway_agent.outbox import Store, StoreError

log = logging.getLogger(__name__)

# <sys/timex.h>: adjtimex() with no mode set only reads and needs no privilege.
_TIME_ERROR = 5
_STA_NANO = 0x2000
POLL_EVERY_S = 1.0
JUMP_MS = 60_000  # time servers slew smaller differences or step them by seconds
AGE_JUDGED_AFTER_MS = 3_600_000  # a clock that has just jumped may jump back: no age limit for an hour
_FACT = "clock_right_since_boot"
_WRITE_AFTER_MS = 1000
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class _Timex(ctypes.Structure):
    _fields_ = [
        ("modes", ctypes.c_uint),
        ("offset", ctypes.c_long),
        ("freq", ctypes.c_long),
        ("maxerror", ctypes.c_long),
        ("esterror", ctypes.c_long),
        ("status", ctypes.c_int),
        ("rest", ctypes.c_char * 256),
    ]


@dataclass(frozen=True, slots=True)
class Sync:
    """Whether the wall clock is right, and the correction in progress, in ms (None: unknown)."""

    synchronised: bool
    offset_ms: float | None = None


class Clock:
    """``source``: `kernel` asks the kernel, which chrony, ntpd and systemd-timesyncd inform; `trust` always trusts
    the clock; a path names a file that exists once the clock is right
    (systemd-timesyncd: /run/systemd/timesync/synchronized).
    """

    def __init__(self, source: str = "kernel") -> None:
        self._source = source
        self.boot = _BOOT_ID.read_text().strip()

    def boot_ms(self) -> int:
        """Milliseconds since boot, including sleep. Continues over restarts of the agent."""
        return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000

    def wall_ms(self) -> int:
        """Epoch milliseconds by the wall clock, right or wrong."""
        return time.time_ns() // 1_000_000

    def boot_epoch_ms(self) -> int:
        """Epoch milliseconds of this machine's boot, by the present wall clock."""
        return self.wall_ms() - self.boot_ms()

    def sync(self) -> Sync:
        """Check whether the wall clock is right."""
        if self._source == "trust":
            return Sync(True)
        offset_ms, kernel_says = _kernel()
        if self._source == "kernel":
            return Sync(kernel_says, offset_ms)
        return Sync(Path(self._source).exists(), offset_ms)


def _kernel() -> tuple[float | None, bool]:
    timex = _Timex()
    state = ctypes.CDLL(None, use_errno=True).adjtimex(ctypes.byref(timex))
    if state < 0:
        return None, False
    return timex.offset / (1e6 if timex.status & _STA_NANO else 1e3), state != _TIME_ERROR


class ClockSync:
    """A right clock counts as right until the next boot. Without its server it drifts by milliseconds an hour, but the
    kernel reports it as unsynchronised after some hours.

    A jump of the wall clock is followed only when the clock is synchronised. Until then the boot clock continues from
    the last right time.
    """

    def __init__(self, clock: Clock, store: Store) -> None:
        self.clock = clock
        self.changed = asyncio.Event()  # the time has become known, or waiting batches have got theirs
        self._store = store
        self._zero: int | None = None  # epoch ms of the boot clock's zero; None: not known yet
        self._written: int | None = None
        self._jumped_to: int | None = None
        self._followed_at: int | None = None  # boot_ms of the last jump that was followed
        self._timestamps_ahead = False  # waiting batches may carry times of a clock that was ahead
        self._restored = False
        self._log_throttle = LogThrottle()
        self.jumps = 0
        self.sync = Sync(False)

    @property
    def known(self) -> bool:
        """Whether the time is known."""
        return self._zero is not None

    async def start(self) -> None:
        """Check the clock for the first time. Raises StoreError."""
        try:
            await self.check()
        finally:
            if not self.known:
                log.warning("the clock is not synchronised yet: batches are kept and get their time once it is")

    def timestamp(self) -> int | None:
        """The present epoch milliseconds; None while unknown."""
        if self._zero is None:
            return None
        wall_zero = self.clock.boot_epoch_ms()
        return self.clock.boot_ms() + (self._zero if abs(wall_zero - self._zero) > JUMP_MS else wall_zero)

    def now_ms(self) -> int:
        """The present epoch milliseconds; by the wall clock while the right time is unknown."""
        stamp = self.timestamp()
        return self.clock.wall_ms() if stamp is None else stamp

    def age_timestamp(self) -> int | None:
        """The present epoch milliseconds for ages of earlier boots' batches; None while uncertain."""
        if self._followed_at is not None and self.clock.boot_ms() - self._followed_at < AGE_JUDGED_AFTER_MS:
            return None
        return self.timestamp()

    async def check(self) -> bool:
        """Check the clock. Returns whether it has just become right, or waiting batches have got their time.

        Raises StoreError after the clock was checked.
        """
        try:
            await self._restore()
        except StoreError:
            self._check_clock()
            raise
        changed = self._check_clock()
        zero = self._zero
        if zero is None:
            return False
        await self._persist(zero)
        return await self._store.run(lambda outbox: outbox.set_times(zero)) > 0 or changed

    async def _restore(self) -> None:
        """Restore the state that an earlier run of the agent stored in this boot."""
        if self._restored:
            return
        known = await self._store.run(lambda outbox: outbox.fact(_FACT))
        self._restored = True
        boot, _, zero = (known or "").partition(" ")
        if self._zero is None and boot == self.clock.boot:
            self._zero = self._written = int(zero) if zero else self.clock.boot_epoch_ms()

    def _check_clock(self) -> bool:
        """Check the clock; returns whether it has just become right."""
        self.sync = self.clock.sync()
        if self._zero is None and not self.sync.synchronised:
            return False
        wall_zero = self.clock.boot_epoch_ms()
        changed = self._zero is None
        if self._zero is None:
            log.info("the clock is synchronised")
            self._zero = wall_zero
        elif abs(wall_zero - self._zero) > JUMP_MS:
            self._jumped(wall_zero, wall_zero - self._zero)
        else:
            if self._jumped_to is not None:
                log.info("the clock is back at the right time")
            self._zero, self._jumped_to = wall_zero, None
        return changed

    def _jumped(self, wall_zero: int, by_ms: int) -> None:
        if self._jumped_to is None or abs(wall_zero - self._jumped_to) > JUMP_MS:
            self._jumped_to = wall_zero
            self.jumps += 1
            log.warning("the clock jumped by %+.0f s", by_ms / 1000)
            if not self.sync.synchronised:
                log.warning("it is not synchronised: batches get their time by the clock since boot until it is")
        if self.sync.synchronised:
            log.warning("the clock is synchronised: batches get the new time from now on")
            self._zero, self._jumped_to, self._timestamps_ahead = wall_zero, None, True
            self._followed_at = self.clock.boot_ms()

    async def _persist(self, zero: int) -> None:
        if self._written is None or abs(zero - self._written) > _WRITE_AFTER_MS:
            await self._store.run(lambda outbox: outbox.remember(_FACT, f"{self.clock.boot} {zero}"))
            self._written = zero
        if self._timestamps_ahead:
            corrected = await self._store.run(lambda outbox: outbox.correct_times(zero, JUMP_MS))
            self._timestamps_ahead = False
            if corrected:
                log.warning("%d waiting batches had a time in the future and got the right one", corrected)

    async def wait_for_change(self, seconds: float | None = None) -> None:
        """Wait until the time becomes known or batches have got theirs, for at most ``seconds``."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.changed.wait()

    async def run(self) -> None:
        """Check every second, until cancelled."""
        while True:
            was_known = self.known
            try:
                changed = await self.check()
            except StoreError as error:
                changed = self.known and not was_known
                if self._log_throttle.should_log(str(error), time.monotonic()):
                    log.warning("%s", error)
            if changed:
                self.changed.set()
            await asyncio.sleep(POLL_EVERY_S)
