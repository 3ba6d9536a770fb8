"""Simulated reception: log-distance path loss with walls, floors, shadowing, body and losses. Pure.

rssi = tx - 20·log10(d) - walls - floors - body + shadowing + fading. `Radio`: the beacons that a phone receives, each
at most once per scan window. `TagRadio`: the gateways that receive a tag's advert. Both directions lose the same."""

import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from simulator.building import DEFAULT_TX, Room
from simulator.message import RSSI, Reading
from simulator.plan import Plan
from simulator.rng import Rng
from simulator.walk import Spot

# The multi-wall model of COST 231 (Final Report, 1999, section 4.7): free space (exponent 2, hence 20·log10 d) plus
# a loss for each heavy wall (brick, concrete) and, for n floors, FLOOR_DB · n^((n+2)/(n+1) - FLOOR_BEND); at 1800 MHz.
PATH_LOSS_EXPONENT = 2.0
LOSS_DB_PER_DECADE = 5.0 * PATH_LOSS_EXPONENT  # of the square of the distance
WALL_DB = 6.9
FLOOR_DB, FLOOR_BEND = 18.3, 0.46
STOREY_M, CEILING_ABOVE_PHONE_M = 4.0, 1.5  # beacons hang at the ceiling, phones are carried at 1.2 m
NEAREST_M = 0.5
NEAREST2_M2 = NEAREST_M**2
MAX_FLOORS = 2  # beacons further up or down are below SENSITIVITY_DBM everywhere
# Slow shadowing by furniture differs from place to place, here from room to room: an assumption within the 3 to 6 dB
# that indoor measurements leave around such models. Fast fading: BLE advertisements vary by 3.5 to 5.9 dB at one place
# (Strzoda et al., "Variability of BLE Advertisement Packets…", MSWiM 2022); a window's median of several varies less.
SHADOWING_DB = 3.0
FADING_DB = 3.0
FADINGS = 1 << 14  # as many are drawn in advance; each scan begins at one of them by chance
# A body between phone and beacon takes several dB (6 to 8 dB at 1.7 GHz in Recommendation ITU-R P.1238).
BODY_DB = 7.0
MISSED_SHARE = 0.05  # windows without any advert of a beacon in range; single adverts are lost more often
SENSITIVITY_DBM = -97.0  # usual for BLE receivers of phones and of Raspberry Pis
LOST_SHARE = 0.2  # adverts in range that are not received: 13 to 40 % where others transmit (Strzoda et al.)
TAG_TX = DEFAULT_TX


@dataclass(frozen=True, slots=True)
class _Device:
    """A fixed beacon or gateway; `tx` is the RSSI at 1 m, dBm."""

    id: str
    room: str
    x_m: float
    y_m: float
    tx: float


class _Audible(NamedTuple):
    """A device as received in one room: `at_1m_dbm` has all losses except the distance's."""

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
        beacons = [_Device(one.id, one.room, one.x_m, one.y_m, one.tx) for one in plan.building.beacons]
        self._audible = {room.id: _audible(plan, room, seed, beacons)[:limit] for room in plan.building.rooms.values()}
        self._fading = _fading(MISSED_SHARE, limit)

    def scan(self, spot: Spot, rng: Rng) -> tuple[Reading, ...]:
        """The strongest beacons of one scan window, strongest first, at most `readings`."""
        received = _receive(self._audible[spot.room.id], spot, self._fading, rng)
        received.sort(reverse=True)
        return tuple([Reading(beacon, min(RSSI[-1], round(rssi))) for rssi, beacon in received[: self._readings]])


class TagRadio:
    """The gateways that receive a tag in each room. What a gateway measures lacks the building's `rssi_offset`, which
    the locator adds. The same seed gives the same shadowing; `send` uses its own generator."""

    def __init__(self, plan: Plan, seed: int) -> None:
        gateways = [
            _Device(one.id, one.room, one.x_m, one.y_m, TAG_TX - one.rssi_offset)
            for one in plan.building.gateways.values()
        ]
        self._audible = {}
        for room in plan.building.rooms.values():
            audible = _audible(plan, room, seed, gateways)
            self._audible[room.id] = [one for one in audible if _best_dbm(room, one) > SENSITIVITY_DBM - 2 * FADING_DB]
        self._fading = _fading(LOST_SHARE, max(map(len, self._audible.values())))

    def send(self, spot: Spot, rng: Rng) -> list[tuple[str, int]]:
        """Each gateway that receives one advert, and its RSSI in dBm."""
        received = _receive(self._audible[spot.room.id], spot, self._fading, rng)
        return [(gateway, min(RSSI[-1], round(rssi))) for rssi, gateway in received]


def _fading(lost_share: float, max_taken: int) -> list[float]:
    """Fading of many adverts in dB, -inf of those that are lost; `max_taken`: of how many at a time one is asked.

    Drawing each one anew would cost more than all the rest of a message."""
    rng = random.Random("fading")  # noqa: S311 - play, not secrets
    values = [-math.inf if rng.random() < lost_share else rng.gauss(0.0, FADING_DB) for _ in range(FADINGS)]
    return values + values[:max_taken]


def _receive(audible: Sequence[_Audible], spot: Spot, fading: Sequence[float], rng: Rng) -> list[tuple[float, str]]:
    """The RSSI in dBm and the id of each device with reception between it and a person at one moment."""
    _room, x, y, (facing_x, facing_y) = spot
    first = int(rng.random() * FADINGS)
    received = []
    for (its_id, its_x, its_y, dz2, at_1m_dbm), fade in zip(audible, fading[first : first + len(audible)], strict=True):
        dx, dy = its_x - x, its_y - y
        d2 = dx * dx + dy * dy + dz2
        if d2 < NEAREST2_M2:
            d2 = NEAREST2_M2
        behind = 1 - (dx * facing_x + dy * facing_y) / math.sqrt(d2)  # 0 ahead … 2 behind
        rssi = at_1m_dbm - LOSS_DB_PER_DECADE * math.log10(d2) - BODY_DB / 2 * behind + fade
        if rssi >= SENSITIVITY_DBM:
            received.append((rssi, its_id))
    return received


def path_loss_db(d2_m2: float) -> float:
    """Loss relative to 1 m; `d2_m2` is the square of the distance."""
    return LOSS_DB_PER_DECADE * math.log10(d2_m2)


def floor_loss_db(floors: int) -> float:
    """Loss through a number of floors."""
    return FLOOR_DB * floors ** ((floors + 2) / (floors + 1) - FLOOR_BEND) if floors else 0.0


def _audible(plan: Plan, room: Room, seed: int, devices: Iterable[_Device]) -> list[_Audible]:
    """The devices within reach of a room, best first."""
    rooms = plan.building.rooms
    walls = plan.walls_from(room.id)
    audible = []
    for device in devices:
        floors = abs(rooms[device.room].level - room.level)
        if floors > MAX_FLOORS:
            continue
        loss = floor_loss_db(floors) if floors else WALL_DB * walls.get(device.room, max(walls.values()))
        shadowing = random.Random(f"{seed}/{room.id}/{device.id}").gauss(0.0, SHADOWING_DB)  # noqa: S311 - no secret
        dz = floors * STOREY_M + CEILING_ABOVE_PHONE_M
        audible.append(_Audible(device.id, device.x_m, device.y_m, dz * dz, device.tx - loss + shadowing))
    return sorted(audible, key=lambda one: _best_dbm(room, one), reverse=True)


def _best_dbm(room: Room, device: _Audible) -> float:
    """RSSI at the nearest place of the room, without body and fading."""
    return device.at_1m_dbm - path_loss_db(_nearest2(room, device))


def _nearest2(room: Room, device: _Audible) -> float:
    """Square of the smallest distance between the room's bounding box and the device."""
    xs, ys = [x for x, _ in room.polygon], [y for _, y in room.polygon]
    dx = max(min(xs) - device.x_m, 0.0, device.x_m - max(xs))
    dy = max(min(ys) - device.y_m, 0.0, device.y_m - max(ys))
    return max(NEAREST2_M2, dx * dx + dy * dy + device.dz2_m2)
