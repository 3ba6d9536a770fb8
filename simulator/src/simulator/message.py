"""MQTT messages and topics: a batch of readings, a gateway's status and health (docs/interfaces.md)."""

import json
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Literal, NamedTuple

Kind = Literal["gateway", "phone"]
FinalStatus = Literal["offline", "removed"]
MAX_READINGS = 500  # the contract's limit for one batch
RSSI = range(-126, 0)  # dBm; other values say that nothing was measured
BEACON_ID = (
    r"[0-9A-F]{12}|[0-9A-F]{40}|[0-9A-F]{20}-[0-9A-F]{12}|[0-9A-F]{32}"
    r"-(?:0|[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])"
    r"-(?:0|[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])"
)  # its canonical forms; major and minor have 16 bits
BEACON_FORMS = "12 hex digits, UUID-MAJOR-MINOR, NAMESPACE-INSTANCE, or 40 hex digits; upper-case, no other separators"
REGISTERED_ID = r"[0-9A-F-]{12,64}"  # in a building file, which may have ids of an earlier version that can never match
PLAIN_ID = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}"  # gateways, staff, rooms, levels

_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode


class Reading(NamedTuple):
    """One beacon received by one receiver in one scan window. None: unknown, or not repeated this time."""

    beacon: str
    rssi: int
    """dBm"""
    n: int | None = None
    """adverts in the window"""
    tx: int | None = None
    """the beacon's calibrated power at 1 m, dBm"""
    battery_mv: int | None = None
    temperature_c: float | None = None
    humidity_pct: float | None = None

    def to_json(self) -> str:
        """The reading as a JSON object, without values that are None."""
        text = f'{{"beacon":"{self.beacon}","rssi":{self.rssi}'  # an id has nothing that JSON escapes
        if self[2:] == _NO_OPTIONAL:
            return text + "}"
        for name, value in zip(_OPTIONAL, self[2:], strict=True):
            if value is not None:
                text += f',"{name}":{value}'
        return text + "}"


_OPTIONAL = Reading._fields[2:]
_NO_OPTIONAL = (None,) * len(_OPTIONAL)


class Receiver(NamedTuple):
    """A fixed gateway or a phone (its id is the staff member's)."""

    kind: Kind
    id: str


def window_rssi(levels: Iterable[int]) -> int:
    """The RSSI of a reading from its adverts, as the gateway agent sends it: the median in whole dBm."""
    return round(median(levels))


def readings_topic(receiver: Receiver) -> str:
    return f"sda/v1/{receiver.kind}/{receiver.id}/readings"


def status_topic(gateway_id: str) -> str:
    return f"sda/v1/gateway/{gateway_id}/status"


def health_topic(gateway_id: str) -> str:
    return f"sda/v1/gateway/{gateway_id}/health"


def config_topic(gateway_id: str) -> str:
    return f"sda/v1/gateway/{gateway_id}/config"


def batch(ts_ms: int, seq: int, readings: Sequence[Reading]) -> bytes:
    """The payload of one readings batch; `ts_ms` is the end of the scan window, epoch milliseconds. It is marked
    as simulated."""
    listed = ",".join([reading.to_json() for reading in readings])
    return f'{{"v":1,"ts":{ts_ms},"seq":{seq},"simulated":true,"readings":[{listed}]}}'.encode()


def malformed(payload: bytes) -> bytes:
    """The first half of a payload, which is not JSON."""
    return payload[: len(payload) // 2]


def health(ts_ms: int, version: str, figures: Mapping[str, float]) -> bytes:
    """The payload of a gateway's health: flat numbers, and the version."""
    return _encode({"ts": ts_ms, "version": version, **figures}).encode()


def status(state: Literal["online"] | FinalStatus, ts_ms: int, version: str) -> bytes:
    """The payload of a gateway's retained status."""
    return _encode({"state": state, "ts": ts_ms, "version": version}).encode()
