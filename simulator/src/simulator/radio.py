"""Simulated reception of a phone: log-distance path loss with walls, floors, shadowing, body and losses. Pure.

rssi = tx - 20·log10(d) - walls - floors - body + shadowing + fading, at most once per beacon and scan window."""

import math
import random
from dataclasses import dataclass

from simulator.building import Room
from simulator.message import Reading
from simulator.plan import Plan
from simulator.walk import Spot

# The multi-wall model of COST 231 (Final Report, 1999, section 4.7): free space (exponent 2, hence 20·log10 d) plus
# a loss for each heavy wall (brick, concrete) and, for n floors, FLOOR_DB · n^((n+2)/(n+1) - FLOOR_BEND); at 1800 MHz.
PATH_LOSS_EXPONENT = 2.0
WALL_DB = 6.9
FLOOR_DB, FLOOR_BEND = 18.3, 0.46
STOREY_M, CEILING_ABOVE_PHONE_M = 4.0, 1.5  # beacons hang at the ceiling, phones are carried at 1.2 m
NEAREST_M = 0.5
MOST_FLOORS = 2  # beacons further up or down are below SENSITIVITY_DBM everywhere
# Slow shadowing by furniture differs from place to place, here from room to room: an assumption within the 3 to 6 dB
# that indoor measurements leave around such models. Fast fading: BLE advertisements vary by 3.5 to 5.9 dB at one place
# (Strzoda et al., "Variability of BLE Advertisement Packets…", MSWiM 2022); a window's median of several varies less.
SHADOWING_DB = 3.0
FADING_DB = 3.0
# A body between phone and beacon takes several dB (6 to 8 dB at 1.7 GHz in Recommendation ITU-R P.1238).
BODY_DB = 7.0
MISSED_SHARE = 0.05  # windows without any advert of a beacon in range; single adverts are lost more often
SENSITIVITY_DBM = -97.0  # usual for BLE receivers of phones


@dataclass(frozen=True, slots=True)
class _AudibleBeacon:
    """A beacon as received in one room: `at_1m_dbm` has all losses except the distance's."""

    id: str
    x_m: float
    y_m: float
    dz2_m2: float
    at_1m_dbm: float


class Radio:
    """Audible beacons of each room. The same seed gives the same shadowing; `scan` uses its own generator."""

    def __init__(self, plan: Plan, seed: int, readings: int) -> None:
        self._readings = readings
        limit = max(12, 3 * readings)  # weaker beacons are hardly ever among the strongest
        self._audible = {room.id: _audible(plan, room, seed)[:limit] for room in plan.building.rooms.values()}

    def scan(self, spot: Spot, rng: random.Random) -> tuple[Reading, ...]:
        """The strongest beacons of one scan window, strongest first, at most `readings`."""
        facing_x, facing_y = spot.heading
        received = []
        for beacon in self._audible[spot.room.id]:
            if rng.random() < MISSED_SHARE:
                continue
            dx, dy = beacon.x_m - spot.x_m, beacon.y_m - spot.y_m
            d2 = max(NEAREST_M**2, dx * dx + dy * dy + beacon.dz2_m2)
            behind = (1 - (dx * facing_x + dy * facing_y) / math.sqrt(d2)) / 2  # 0 ahead … 1 behind
            fading = rng.gauss(0.0, FADING_DB)
            rssi = beacon.at_1m_dbm - path_loss_db(d2) - BODY_DB * behind + fading
            if rssi >= SENSITIVITY_DBM:
                received.append((rssi, beacon.id))
        received.sort(reverse=True)
        return tuple(Reading(beacon, min(20, round(rssi))) for rssi, beacon in received[: self._readings])


def path_loss_db(d2_m2: float) -> float:
    """Loss relative to 1 m; `d2_m2` is the square of the distance."""
    return 5.0 * PATH_LOSS_EXPONENT * math.log10(d2_m2)


def floor_loss_db(floors: int) -> float:
    """Loss through a number of floors."""
    return FLOOR_DB * floors ** ((floors + 2) / (floors + 1) - FLOOR_BEND) if floors else 0.0


def _audible(plan: Plan, room: Room, seed: int) -> list[_AudibleBeacon]:
    """The beacons within reach of a room, best first."""
    rooms = plan.building.rooms
    walls = plan.walls_from(room.id)
    audible = []
    for beacon in plan.building.beacons:
        floors = abs(rooms[beacon.room].level - room.level)
        if floors > MOST_FLOORS:
            continue
        loss = floor_loss_db(floors) if floors else WALL_DB * walls.get(beacon.room, max(walls.values()))
        shadowing = random.Random(f"{seed}/{room.id}/{beacon.id}").gauss(0.0, SHADOWING_DB)  # noqa: S311 - no secret
        dz = floors * STOREY_M + CEILING_ABOVE_PHONE_M
        audible.append(_AudibleBeacon(beacon.id, beacon.x_m, beacon.y_m, dz * dz, beacon.tx - loss + shadowing))
    return sorted(audible, key=lambda beacon: beacon.at_1m_dbm - path_loss_db(_nearest2(room, beacon)), reverse=True)


def _nearest2(room: Room, beacon: _AudibleBeacon) -> float:
    """Square of the smallest distance between the room's bounding box and the beacon."""
    xs, ys = [x for x, _ in room.polygon], [y for _, y in room.polygon]
    dx = max(min(xs) - beacon.x_m, 0.0, beacon.x_m - max(xs))
    dy = max(min(ys) - beacon.y_m, 0.0, beacon.y_m - max(ys))
    return max(NEAREST_M**2, dx * dx + dy * dy + beacon.dz2_m2)
