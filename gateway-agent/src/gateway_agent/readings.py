"""Readings, their batch message in the contract's JSON, and the topics of a gateway. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

PREFIX = "sda/v1"
BROKER_UPTIME = "$SYS/broker/uptime"
"""Mosquitto publishes its uptime there: "123 seconds", retained, every ten seconds by default."""
# The contract allows 500 readings and 64 KiB. Less here, so that topic and header fit the broker's packet limit.
MAX_READINGS = 500
MAX_BYTES = 60 * 1024
RSSI_RANGE = (-126, -1)  # dBm; -127, 0 and what is above are a radio's "not measured" and never sent


class Reading(NamedTuple):
    """One beacon over one window. ``rssi`` and ``tx`` in dBm (``tx`` at 1 m), ``n`` adverts. None: unknown, or not
    repeated this time."""

    beacon: str
    rssi: int
    n: int | None = None
    tx: int | None = None
    battery_mv: int | None = None
    temperature_c: float | None = None
    humidity_pct: float | None = None

    def to_json(self) -> str:
        """The reading as a JSON object; unknown fields are left out."""
        text = f'{{"beacon":"{self.beacon}","rssi":{self.rssi}'  # an id has nothing that JSON escapes
        if self[2:] == _NO_OPTIONAL:
            return text + "}"
        for name, value in zip(_OPTIONAL, self[2:], strict=True):
            if value is not None:
                text += f',"{name}":{value}'
        return text + "}"


_OPTIONAL = Reading._fields[2:]
_NO_OPTIONAL = (None,) * len(_OPTIONAL)


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


@dataclass(frozen=True, slots=True)
class Topics:
    """Full topic names."""

    readings: str
    status: str
    health: str
    config: str

    @classmethod
    def for_gateway(cls, gateway: str) -> "Topics":
        """The topics of the gateway with this id."""
        return cls(*(f"{PREFIX}/gateway/{gateway}/{name}" for name in ("readings", "status", "health", "config")))
