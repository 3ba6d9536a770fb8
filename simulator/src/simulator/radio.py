"""Simulated reception: log-distance path loss with walls, floors, shadowing, body and losses. Pure.

rssi = tx - 20·log10(d) - walls - floors - body + shadowing + fading. `Radio`: the beacons that a phone receives, each
at most once per scan window. `TagRadio`: the gateways that receive a tag's advert. Both directions lose the same."""

import math
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from simulator.building import DEFAULT_TX, Room
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


@dataclass(frozen=True, slots=True)
class _Audible:
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

    def scan(self, spot: Spot, rng: random.Random) -> tuple[Reading, ...]:
        """The strongest beacons of one scan window, strongest first, at most `readings`."""
        received = [(rssi, one.id) for one, rssi in _receive(self._audible[spot.room.id], spot, rng, MISSED_SHARE)]
        received.sort(reverse=True)
        return tuple(Reading(beacon, min(20, round(rssi))) for rssi, beacon in received[: self._readings])


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

    def send(self, spot: Spot, rng: random.Random) -> Iterator[tuple[str, int]]:
        """Each gateway that receives one advert, and its RSSI in dBm."""
        for one, rssi in _receive(self._audible[spot.room.id], spot, rng, LOST_SHARE):
            yield one.id, min(20, round(rssi))


def _receive(
    audible: Iterable[_Audible], spot: Spot, rng: random.Random, lost_share: float
) -> Iterator[tuple[_Audible, float]]:
    """The devices with reception between them and a person at one moment, and the RSSI in dBm."""
    facing_x, facing_y = spot.heading
    for one in audible:
        if rng.random() < lost_share:
            continue
        dx, dy = one.x_m - spot.x_m, one.y_m - spot.y_m
        d2 = max(NEAREST_M**2, dx * dx + dy * dy + one.dz2_m2)
        behind = (1 - (dx * facing_x + dy * facing_y) / math.sqrt(d2)) / 2  # 0 ahead … 1 behind
        fading = rng.gauss(0.0, FADING_DB)
        rssi = one.at_1m_dbm - path_loss_db(d2) - BODY_DB * behind + fading
        if rssi >= SENSITIVITY_DBM:
            yield one, rssi


def path_loss_db(d2_m2: float) -> float:
    """Loss relative to 1 m; `d2_m2` is the square of the distance."""
    return 5.0 * PATH_LOSS_EXPONENT * math.log10(d2_m2)


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
        if floors > MOST_FLOORS:
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
    return max(NEAREST_M**2, dx * dx + dy * dy + device.dz2_m2)
