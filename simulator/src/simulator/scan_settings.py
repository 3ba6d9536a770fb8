"""What a gateway listens for: what the building file says, overridden by the retained `config` message. Pure."""

import json
import re
from collections.abc import Container
from dataclasses import dataclass, field, replace
from typing import Any

from simulator import bloom
from simulator.message import REGISTERED_ID

WINDOW_MS = (100, 60_000)
MIN_RSSI = (-127, 20)
RSSI_OFFSET = (-50, 50)
SEPARATORS = str.maketrans("", "", ":")


class ConfigError(ValueError):
    """A `config` message that cannot be used; the settings in force stay."""


@dataclass(frozen=True, slots=True)
class ScanSettings:
    """`allow`: the registered beacons. RSSI in dBm; `rssi_offset` in dB is added to it."""

    window_ms: int = 1000
    min_rssi: int = -127
    rssi_offset: int = 0
    allow: Container[str] = field(default_factory=frozenset)

    @property
    def registered(self) -> int:
        """Of how many beacons `allow` was made."""
        return len(self.allow) if isinstance(self.allow, frozenset | bloom.Bloom) else 0


def apply_config(base: ScanSettings, payload: bytes) -> ScanSettings:
    """`base` with what a `config` message says in its place; an empty payload gives `base`.

    Raises ConfigError, which names the key. Unknown keys are ignored."""
    if not payload:
        return base
    try:
        body = json.loads(payload)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"is not JSON: {error}") from error
    if not isinstance(body, dict):
        raise ConfigError("is not a JSON object")
    if body.get("v", 1) != 1:
        raise ConfigError(f"v is {body['v']!r}; 1 is known here")
    return replace(
        base,
        window_ms=_whole(body, "window_ms", WINDOW_MS, base.window_ms),
        min_rssi=_whole(body, "min_rssi", MIN_RSSI, base.min_rssi),
        rssi_offset=_whole(body, "rssi_offset", RSSI_OFFSET, base.rssi_offset),
        allow=_allow(body, base.allow),
    )


def _whole(body: dict[str, Any], key: str, bounds: tuple[int, int], default: int) -> int:
    value = body.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not float(value).is_integer():
        raise ConfigError(f"{key} is {value!r}; a whole number is needed")
    if not bounds[0] <= value <= bounds[1]:
        raise ConfigError(f"{key} is {value}; it must lie between {bounds[0]} and {bounds[1]}")
    return int(value)


def _allow(body: dict[str, Any], default: Container[str]) -> Container[str]:
    """A list goes before a filter."""
    if "allow" in body:
        ids = body["allow"]
        if not isinstance(ids, list) or not all(isinstance(one, str) for one in ids):
            raise ConfigError("allow is not a list of beacon ids")
        beacons = frozenset(one.upper().translate(SEPARATORS) for one in ids)
        if wrong := [one for one in beacons if not re.fullmatch(REGISTERED_ID, one)]:
            raise ConfigError(f"allow: {wrong[0]!r} is not a beacon id")
        return beacons
    if "allow_bloom" not in body:
        return default
    try:
        return bloom.parse(body["allow_bloom"])
    except ValueError as error:
        raise ConfigError(f"allow_bloom {error}") from error
