"""MQTT messages and topics: a batch of readings, a gateway's status and health (docs/interfaces.md)."""

import json
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Literal, NamedTuple

from gateway_agent.readings import MAX_READINGS, PREFIX, RSSI_RANGE, Reading

__all__ = ["MAX_READINGS", "RSSI", "Reading"]

Kind = Literal["gateway", "phone"]
FinalStatus = Literal["offline", "removed"]
RSSI = range(RSSI_RANGE[0], RSSI_RANGE[1] + 1)  # dBm; other values say that nothing was measured
PLAIN_ID = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}"  # gateways, staff, rooms, levels

_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode


class Receiver(NamedTuple):
    """A fixed gateway or a phone (its id is the staff member's)."""

    kind: Kind
    id: str


class ScheduledBatch(NamedTuple):
    """A batch to send: `sender` is the receiver's index, `due_s` the time to send it and `offset_ms` its time stamp,
    both counted from the start of the run. Without readings there is nothing to send."""

    due_s: float
    offset_ms: int
    sender: int
    readings: tuple[Reading, ...]
    copies: int = 1
    """How often it is sent; see `play.Faults`, as for the others."""
    malformed: bool = False
    late: bool = False


def window_rssi(levels: Iterable[int]) -> int:
    """The RSSI of a reading from its adverts, as the gateway agent sends it: the median in whole dBm."""
    return round(median(levels))


def readings_topic(receiver: Receiver) -> str:
    return f"{PREFIX}/{receiver.kind}/{receiver.id}/readings"


def status_topic(gateway_id: str) -> str:
    return f"{PREFIX}/gateway/{gateway_id}/status"


def health_topic(gateway_id: str) -> str:
    return f"{PREFIX}/gateway/{gateway_id}/health"


def config_topic(gateway_id: str) -> str:
    return f"{PREFIX}/gateway/{gateway_id}/config"


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
