"""MQTT messages and topics: a batch of readings and a gateway's status (docs/interfaces.md)."""

import json
from collections.abc import Iterable, Sequence
from statistics import median
from typing import Literal, NamedTuple

Kind = Literal["gateway", "phone"]
MAX_READINGS = 500  # the contract's limit for one batch
BEACON_ID = r"[0-9A-F-]{12,64}"
PLAIN_ID = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}"  # gateways, staff, rooms, levels

_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode


class Reading(NamedTuple):
    """One beacon received by one receiver in one scan window."""

    beacon: str
    rssi: int
    """dBm"""


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


def batch(ts_ms: int, seq: int, readings: Sequence[Reading]) -> bytes:
    """The payload of one readings batch; `ts_ms` is the end of the scan window, epoch milliseconds. It is marked
    as simulated."""
    listed = [{"beacon": beacon, "rssi": rssi} for beacon, rssi in readings]
    return _encode({"v": 1, "ts": ts_ms, "seq": seq, "simulated": True, "readings": listed}).encode()


def status(state: Literal["online", "offline"], ts_ms: int, version: str) -> bytes:
    """The payload of a gateway's retained status."""
    return _encode({"state": state, "ts": ts_ms, "version": version}).encode()
