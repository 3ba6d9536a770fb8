"""Scan settings in force: those of the file, overridden by the retained `config` topic. Pure."""

import base64
import json
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from gateway_agent import beacon_id

WINDOW_MS = (100, 60_000)
MIN_RSSI = (-127, 20)
RSSI_OFFSET = (-50, 50)
MAX_ALLOW = 20_000  # ids; more than fit into one message
MAX_K = 32
MAX_IDS = 10_000_000


@dataclass(frozen=True, slots=True)
class Bloom:
    """A Bloom filter of beacon ids, for lists that do not fit into one message: it never misses a member, and takes a
    small share of others for members. docs/interfaces.md defines the format.

    ``bits``: the filter; ``k``: bits per id; ``ids``: number of ids in the filter.
    """

    bits: bytes
    k: int
    ids: int

    def __contains__(self, beacon: str) -> bool:
        digest = sha256(beacon.encode()).digest()
        position, step = int.from_bytes(digest[:4], "big"), int.from_bytes(digest[4:8], "big") | 1
        for _ in range(self.k):
            byte, bit = divmod(position % (8 * len(self.bits)), 8)
            if not self.bits[byte] >> bit & 1:
                return False
            position += step
        return True

    def __len__(self) -> int:
        return self.ids


@dataclass(frozen=True, slots=True)
class ScanSettings:
    """``allow``: registered beacons; None: never configured. RSSI in dBm; the offset is added to it."""

    window_ms: int = 1000
    min_rssi: int = -127
    rssi_offset: int = 0
    allow: frozenset[str] | Bloom | None = None


class ConfigMessageError(ValueError):
    """An invalid `config` message; the settings in force stay."""


def apply_config(base: ScanSettings, payload: bytes) -> ScanSettings:
    """``base`` (the file's settings) overridden by a `config` message. An empty payload returns ``base``.

    Raises ConfigMessageError naming the key that is wrong. Unknown keys are ignored.
    """
    if not payload:
        return base
    try:
        body = json.loads(payload.decode())
    except (ValueError, RecursionError) as error:
        raise ConfigMessageError(f"not JSON: {error}") from error
    if not isinstance(body, dict):
        raise ConfigMessageError("not a JSON object")
    if body.get("v", 1) != 1:
        raise ConfigMessageError(f"v is {body['v']!r}; this agent knows 1")
    return replace(
        base,
        window_ms=_integer(body, "window_ms", WINDOW_MS, base.window_ms),
        min_rssi=_integer(body, "min_rssi", MIN_RSSI, base.min_rssi),
        rssi_offset=_integer(body, "rssi_offset", RSSI_OFFSET, base.rssi_offset),
        allow=_registered(body, base.allow),
    )


def _integer(body: dict[str, Any], key: str, bounds: tuple[int, int], default: int) -> int:
    value = body.get(key, default)
    if isinstance(value, bool) or not (isinstance(value, int) or (isinstance(value, float) and value.is_integer())):
        raise ConfigMessageError(f"{key} is {value!r}; an integer is needed")
    if not bounds[0] <= value <= bounds[1]:
        raise ConfigMessageError(f"{key} is {value}; it must lie between {bounds[0]} and {bounds[1]}")
    return int(value)


def _registered(body: dict[str, Any], default: frozenset[str] | Bloom | None) -> frozenset[str] | Bloom | None:
    if "allow" in body:
        return _allow(body["allow"])
    if "allow_bloom" not in body:
        return default
    try:
        return _bloom(body["allow_bloom"])
    except ValueError as error:
        raise ConfigMessageError(f"allow_bloom: {error}") from error


def _allow(value: object) -> frozenset[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ConfigMessageError("allow is not a list of beacon ids")
    if len(value) > MAX_ALLOW:
        raise ConfigMessageError(f"allow has {len(value)} ids; at most {MAX_ALLOW} are taken")
    found = []
    for item in value:
        try:
            found.append(beacon_id.normalise(item))
        except ValueError as error:
            if not beacon_id.was_taken(item):  # else it is of a building that has it since an earlier version
                raise ConfigMessageError(f"allow: {error}") from error
    return frozenset(found)


def _bloom(value: object) -> Bloom:
    """The filter of a `config` message. Raises ValueError with the reason."""
    if not isinstance(value, dict):
        raise ValueError("not an object of ids, k and bits")  # noqa: TRY004 - external input
    text = value.get("bits")
    try:
        bits = base64.b64decode(text, validate=True) if isinstance(text, str) else b""
    except ValueError as error:
        raise ValueError(f"bits are not base64: {error}") from error
    if not bits:
        raise ValueError("there are no bits")
    return Bloom(bits, _whole(value, "k", 1, MAX_K), _whole(value, "ids", 0, MAX_IDS))


def _whole(value: dict[str, object], key: str, minimum: int, maximum: int) -> int:
    number = value.get(key)
    if not isinstance(number, int) or isinstance(number, bool) or not minimum <= number <= maximum:
        raise ValueError(f"{key} is {number!r}; a whole number from {minimum} to {maximum} is needed")
    return number
