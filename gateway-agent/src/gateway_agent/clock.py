"""The clocks of this machine: the boot clock, which is never wrong, and the wall clock, which may be wrong until it is
synchronised. A Pi without a battery clock boots in the past; its first batches get their time later."""

import ctypes
import time
from dataclasses import dataclass
from pathlib import Path

# <sys/timex.h>: adjtimex() with no mode set only reads and needs no privilege.
_TIME_ERROR = 5
_STA_NANO = 0x2000
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
