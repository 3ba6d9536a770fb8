"""The agent's reports to the broker: its counters, its health and status, and samples of its messages."""

import json
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gateway_agent import __version__
from gateway_agent.clock import ClockSync
from gateway_agent.connection import Sample
from gateway_agent.outbox import Depth, Store, StoreError
from gateway_agent.readings import Topics
from gateway_agent.readings import message as batch_message
from gateway_agent.scan_settings import ScanSettings
from gateway_agent.window import Intake

_THERMAL = Path("/sys/class/thermal/thermal_zone0/temp")


@dataclass(slots=True)
class Counters:
    """Counters since the agent's start. ``published`` and ``acked`` are readings, including repeated sends."""

    published: int = 0
    acked: int = 0
    replayed: int = 0
    connects: int = 0
    connect_failures: int = 0
    scan_starts: int = 0
    scan_errors: int = 0
    adapter_resets: int = 0
    config_refused: int = 0
    started: float = field(default_factory=time.monotonic)


def cpu_temperature_c() -> float | None:
    """The processor's temperature; None if the machine has no sensor."""
    try:
        return int(_THERMAL.read_text()) / 1000
    except (OSError, ValueError):
        return None


def message(
    *,
    ts: int,
    version: str,
    counters: Counters,
    adverts: int,
    ignored: Mapping[str, int],
    unregistered_distinct: int,
    depth: Depth | None,
    failing: bool,
    dropped: Counter[str],
    damaged: int,
    synchronised: bool,
    clock_offset_ms: float | None,
    clock_jumps: int,
    settings: ScanSettings,
) -> bytes:
    """The health payload: numbers, except the version. Unknown values (``depth`` None) are left out.

    `queued` and `dropped` are readings: those that wait and those lost after collection (`dropped_age`, `_size`,
    `_time`, `_disk`). Ignored adverts (`dropped_unregistered`, `_weak`, `_no_rssi`) are not part of `dropped`.
    """
    body: dict[str, object] = {
        "ts": ts,
        "version": version,
        "uptime_s": round(time.monotonic() - counters.started),
        "adverts": adverts,
        "published": counters.published,
        "acked": counters.acked,
        "replayed": counters.replayed,
        "queued": depth and depth.waiting,
        "queued_batches": depth and depth.waiting_batches,
        "held": depth and depth.held,
        "outbox_bytes": depth and depth.used_bytes,
        "outbox_failing": int(failing),
        "dropped": dropped.total(),
        **{f"dropped_{reason}": count for reason, count in sorted(dropped.items())},
        **{f"dropped_{reason}": count for reason, count in sorted(ignored.items())},
        "outbox_damaged": damaged,
        "unregistered_distinct": unregistered_distinct,
        "registered": len(settings.allow or ()),
        "window_ms": settings.window_ms,
        "min_rssi": settings.min_rssi,
        "rssi_offset": settings.rssi_offset,
        "scan_restarts": max(0, counters.scan_starts - 1),
        "scan_errors": counters.scan_errors,
        "adapter_resets": counters.adapter_resets,
        "connects": counters.connects,
        "connect_failures": counters.connect_failures,
        "config_refused": counters.config_refused,
        "cpu_temperature_c": cpu_temperature_c(),
        "clock_synchronised": int(synchronised),
        "clock_jumps": clock_jumps,
        "clock_offset_ms": clock_offset_ms if clock_offset_ms is None else round(clock_offset_ms, 3),
    }
    return json.dumps(
        {name: value for name, value in body.items() if value is not None}, separators=(",", ":")
    ).encode()


class Reporter:
    """Reads every part and changes none."""

    def __init__(self, topics: Topics, clock_sync: ClockSync, store: Store, intake: Intake, counters: Counters) -> None:
        self._topics = topics
        self._clock_sync = clock_sync
        self._store = store
        self._intake = intake
        self._counters = counters

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
        return message(
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
            samples.append(Sample(self._topics.readings, batch_message(waiting[0].ts, waiting[0].id, waiting[0].body)))
        elif now is not None:
            samples.append(Sample(self._topics.readings, batch_message(now, 0, "[]")))
        return samples
