"""Readings and their batch message in the contract's JSON. Pure."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

# The contract allows 500 readings and 64 KiB. Less here, so that topic and header fit the broker's packet limit.
MAX_READINGS = 500
MAX_BYTES = 60 * 1024
RSSI_RANGE = (-126, -1)  # dBm; -127, 0 and what is above are a radio's "not measured" and never sent


@dataclass(frozen=True, slots=True)
class Reading:
    """One beacon over one window. ``rssi`` and ``tx`` in dBm (``tx`` at 1 m), ``n`` adverts; None is unknown."""

    beacon: str
    rssi: int
    n: int = 1
    tx: int | None = None
    battery_mv: int | None = None
    temperature_c: float | None = None
    humidity_pct: float | None = None

    def to_json(self) -> str:
        """The reading as a JSON object; unknown fields are left out."""
        known = {name: value for name in self.__slots__ if (value := getattr(self, name)) is not None}
        return json.dumps(known, separators=(",", ":"))


def pack(readings: Iterable[Reading]) -> Iterator[tuple[int, str]]:
    """Split readings into message bodies within the limits: yields (number of readings, JSON array)."""
    parts: list[str] = []
    size = 0
    for text in (reading.to_json() for reading in readings):
        if parts and (len(parts) == MAX_READINGS or size + len(text) + 1 > MAX_BYTES - 100):
            yield len(parts), f"[{','.join(parts)}]"
            parts, size = [], 0
        parts.append(text)
        size += len(text) + 1
    if parts:
        yield len(parts), f"[{','.join(parts)}]"


def message(ts_ms: int, seq: int, body: str) -> bytes:
    """The payload of one message: ``ts_ms`` is the window's end in epoch milliseconds UTC, ``body`` from `pack`."""
    return f'{{"v":1,"ts":{ts_ms},"seq":{seq},"readings":{body}}}'.encode()
