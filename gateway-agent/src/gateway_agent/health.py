"""The agent's counters and its health message."""

import json
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gateway_agent.outbox_view import Depth
from gateway_agent.scan_settings import ScanSettings

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
