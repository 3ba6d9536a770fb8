"""Telemetry of beacons and tags: a battery that drains, temperature and humidity over the day. Pure.

Times are seconds from the start of the run."""

import math
import random
from collections.abc import Iterable
from typing import NamedTuple

# A 3 V lithium cell lasts a year or more in a beacon. Here it drains some thirty times faster, so that a curve of a day
# shows it, and is changed long before the platform warns (2,400 mV).
NEW_MV, CHANGED_AT_MV, DRAIN_MV_PER_H = 3000.0, 2500.0, 2.0
FIRST_MV = (2700.0, 3000.0)
# A low battery: below the warning from the start, and changed when the beacon would stop.
LOW_MV, LOW_CHANGED_AT_MV = 2380.0, 2200.0
DAY_S = 86_400.0
ROOM_C, ROOM_SWING_C, ROOM_PCT, ROOM_SWING_PCT = (22.0, 26.0), 1.5, (52.0, 66.0), 6.0
WORN_C = 4.0  # a tag on a body is warmer than the room
STEP_C = 0.5  # beacons' sensors have whole or half degrees
REPEAT_S = 60.0  # unchanged values are repeated once a minute, as the gateway agent does
KNOWN = 16  # devices that a receiver remembers before it forgets old ones
FRAME_S = 5.0  # a telemetry frame comes about that often between the other adverts


class Telemetry(NamedTuple):
    """None: the device has no such sensor."""

    battery_mv: int
    temperature_c: float
    humidity_pct: float | None


class Sensors:
    """The sensors of one device. The same seed gives the same values at the same times."""

    __slots__ = (
        "_first_mv",
        "_frame",
        "_humidity_pct",
        "_new_cell_below_mv",
        "_phase",
        "_telemetry",
        "_temperature_c",
        "changed_s",
    )

    def __init__(self, device: str, seed: int, *, worn: bool, low: bool = False) -> None:
        rng = random.Random(f"{seed}/telemetry/{device}")  # noqa: S311 - play, not secrets
        self._first_mv = rng.uniform(*FIRST_MV)
        self._new_cell_below_mv = CHANGED_AT_MV
        self._temperature_c = rng.uniform(*ROOM_C) + (WORN_C if worn else 0)
        humidity_pct = rng.uniform(*ROOM_PCT)
        self._humidity_pct = None if worn else humidity_pct
        self._phase = rng.uniform(0, 2 * math.pi)
        if low:
            self._first_mv, self._new_cell_below_mv = LOW_MV, LOW_CHANGED_AT_MV
        self._frame, self._telemetry = 0, self._measure(0.0)
        self.changed_s = 0.0
        """Since when the values of `at` are as they are."""

    def at(self, time_s: float) -> Telemetry:
        """The values of the latest frame at a time."""
        frame = int(time_s / FRAME_S)
        if frame != self._frame:  # all receivers of a device have the same values
            self._frame, before, self._telemetry = frame, self._telemetry, self._measure(frame * FRAME_S)
            if self._telemetry != before:
                self.changed_s = frame * FRAME_S
        return self._telemetry

    def _measure(self, time_s: float) -> Telemetry:
        wave = math.sin(2 * math.pi * time_s / DAY_S + self._phase)
        temperature_c = round((self._temperature_c + ROOM_SWING_C * wave) / STEP_C) * STEP_C
        humidity = self._humidity_pct
        return Telemetry(
            self._battery_mv(time_s),
            temperature_c,
            None if humidity is None else float(round(humidity - ROOM_SWING_PCT * wave)),
        )

    def _battery_mv(self, time_s: float) -> int:
        used_mv = time_s / 3600 * DRAIN_MV_PER_H - (self._first_mv - self._new_cell_below_mv)
        if used_mv < 0:
            return round(self._new_cell_below_mv - used_mv)
        return round(NEW_MV - used_mv % (NEW_MV - CHANGED_AT_MV))


class Repeater:
    """The telemetry that one receiver has sent: changed values go out with the next frame, others once in REPEAT_S."""

    __slots__ = ("_sent_s",)

    def __init__(self) -> None:
        self._sent_s: dict[str, float] = {}

    def due(self, device: str, sensors: Sensors, now_s: float) -> Telemetry | None:
        """The telemetry to send with a device's reading; None: nothing is due."""
        telemetry = sensors.at(now_s)
        sent_s = self._sent_s.get(device)
        if sent_s is not None:
            if now_s - sent_s < REPEAT_S and sensors.changed_s <= sent_s:
                return None
        elif len(self._sent_s) >= KNOWN:  # what is older than REPEAT_S is as good as unknown
            self._sent_s = {other: then_s for other, then_s in self._sent_s.items() if now_s - then_s < REPEAT_S}
        self._sent_s[device] = now_s
        return telemetry


def sensors_of(beacons: Iterable[str], tags: Iterable[str], seed: int, low_batteries: int = 0) -> dict[str, Sensors]:
    """The sensors of all devices, by id; `low_batteries` of the tags (then of the beacons) have a low battery."""
    fixed, worn = sorted(beacons), sorted(tags)
    rng = random.Random(f"{seed}/low")  # noqa: S311
    low = set([*rng.sample(worn, len(worn)), *rng.sample(fixed, len(fixed))][:low_batteries])
    found = {device: Sensors(device, seed, worn=False, low=device in low) for device in fixed}
    return found | {device: Sensors(device, seed, worn=True, low=device in low) for device in worn}
