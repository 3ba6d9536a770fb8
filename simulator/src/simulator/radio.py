"""What is received between a person and a device on the wall: log-distance path loss with walls, floors, shadowing,
body and losses. Pure.

rssi = tx - 20·log10(d) - walls - floors - body + shadowing + fading. `Radio` is what a phone hears of beacons, at most
once per beacon and scan window; `TagRadio` is which gateways hear an advert of a tag. Both ways lose the same."""

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
MISSED_SHARE = 0.05  # windows in which a beacon in reach is not received at all; single adverts get lost more often
SENSITIVITY_DBM = -97.0  # usual for BLE receivers of phones and of Raspberry Pis
LOST_SHARE = 0.2  # adverts in reach that are not received: 13 to 40 % where others transmit (Strzoda et al.)
TAG_TX = DEFAULT_TX


@dataclass(frozen=True, slots=True)
class _Ear:
    """A device as heard from one room: everything but the exact place is already in `at_1m_dbm`."""

    device: str
    x_m: float
    y_m: float
    dz2_m2: float
    at_1m_dbm: float


@dataclass(frozen=True, slots=True)
class _Device:
    """A device on the wall: a beacon, or a gateway; `tx` is what is received 1 m away, dBm."""

    id: str
    room: str
    x_m: float
    y_m: float
    tx: float


class Radio:
    """What can be heard in each room. The same seed gives the same shadowing; `hear` draws from its own generator."""

    def __init__(self, plan: Plan, seed: int, readings: int) -> None:
        self._readings = readings
        most = max(12, 3 * readings)  # weaker ones would hardly ever be among the strongest
        beacons = [_Device(one.id, one.room, one.x_m, one.y_m, one.tx) for one in plan.building.beacons]
        self._ears = {room.id: _ears(plan, room, seed, beacons)[:most] for room in plan.building.rooms.values()}

    def hear(self, spot: Spot, rng: random.Random) -> tuple[Reading, ...]:
        """The strongest beacons of one scan window, strongest first, at most `readings`."""
        heard = [(rssi, ear.device) for ear, rssi in _received(self._ears[spot.room.id], spot, rng, MISSED_SHARE)]
        heard.sort(reverse=True)
        return tuple(Reading(beacon, min(20, round(rssi))) for rssi, beacon in heard[: self._readings])


class TagRadio:
    """Which gateways receive a tag in each room; of each gateway the building's `rssi_offset` is missing in what it
    measures. The same seed gives the same shadowing; `hear` draws from its own generator."""

    def __init__(self, plan: Plan, seed: int) -> None:
        gateways = [
            _Device(one.id, one.room, one.x_m, one.y_m, TAG_TX - one.rssi_offset)
            for one in plan.building.gateways.values()
        ]
        self._ears = {}
        for room in plan.building.rooms.values():
            ears = _ears(plan, room, seed, gateways)
            self._ears[room.id] = [ear for ear in ears if _best_dbm(room, ear) > SENSITIVITY_DBM - 2 * FADING_DB]

    def hear(self, spot: Spot, rng: random.Random) -> Iterator[tuple[str, int]]:
        """Gateway and RSSI, dBm, of one advert sent at a place."""
        for ear, rssi in _received(self._ears[spot.room.id], spot, rng, LOST_SHARE):
            yield ear.device, min(20, round(rssi))


def _received(ears: Iterable[_Ear], spot: Spot, rng: random.Random, lost_share: float) -> Iterator[tuple[_Ear, float]]:
    """Between which devices and a person there is reception at one moment, and how strong, dBm."""
    facing_x, facing_y = spot.heading
    for ear in ears:
        if rng.random() < lost_share:
            continue
        dx, dy = ear.x_m - spot.x_m, ear.y_m - spot.y_m
        d2 = max(NEAREST_M**2, dx * dx + dy * dy + ear.dz2_m2)
        behind = (1 - (dx * facing_x + dy * facing_y) / math.sqrt(d2)) / 2  # 0 ahead … 1 behind
        fading = rng.gauss(0.0, FADING_DB)
        rssi = ear.at_1m_dbm - path_loss_db(d2) - BODY_DB * behind + fading
        if rssi >= SENSITIVITY_DBM:
            yield ear, rssi


def path_loss_db(d2_m2: float) -> float:
    """Loss against 1 m at a distance whose square is given."""
    return 5.0 * PATH_LOSS_EXPONENT * math.log10(d2_m2)


def floor_loss_db(floors: int) -> float:
    """Loss through so many floors."""
    return FLOOR_DB * floors ** ((floors + 2) / (floors + 1) - FLOOR_BEND) if floors else 0.0


def _ears(plan: Plan, room: Room, seed: int, devices: Iterable[_Device]) -> list[_Ear]:
    """The devices within reach of a room, best first."""
    rooms = plan.building.rooms
    walls = plan.walls_from(room.id)
    ears = []
    for device in devices:
        floors = abs(rooms[device.room].level - room.level)
        if floors > MOST_FLOORS:
            continue
        loss = floor_loss_db(floors) if floors else WALL_DB * walls.get(device.room, max(walls.values()))
        shadowing = random.Random(f"{seed}/{room.id}/{device.id}").gauss(0.0, SHADOWING_DB)  # noqa: S311 - no secret
        dz = floors * STOREY_M + CEILING_ABOVE_PHONE_M
        ears.append(_Ear(device.id, device.x_m, device.y_m, dz * dz, device.tx - loss + shadowing))
    return sorted(ears, key=lambda ear: _best_dbm(room, ear), reverse=True)


def _best_dbm(room: Room, ear: _Ear) -> float:
    """What is received at the nearest place of the room, without body and fading."""
    return ear.at_1m_dbm - path_loss_db(_nearest2(room, ear))


def _nearest2(room: Room, ear: _Ear) -> float:
    """Square of the smallest distance between the room's bounding box and the beacon."""
    xs, ys = [x for x, _ in room.polygon], [y for _, y in room.polygon]
    dx = max(min(xs) - ear.x_m, 0.0, ear.x_m - max(xs))
    dy = max(min(ys) - ear.y_m, 0.0, ear.y_m - max(ys))
    return max(NEAREST_M**2, dx * dx + dy * dy + ear.dz2_m2)
