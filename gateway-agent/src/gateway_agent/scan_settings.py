"""Scan settings in force: those of the file, overridden by the retained `config` topic. Pure."""

import json
from dataclasses import dataclass, replace
from typing import Any

from gateway_agent import beacon_id, bloom
from gateway_agent.bloom import Bloom

WINDOW_MS = (100, 60_000)
MIN_RSSI = (-127, 20)
RSSI_OFFSET = (-50, 50)
MAX_ALLOW = 20_000  # ids; more than fit into one message


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
        return bloom.parse(body["allow_bloom"])
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
