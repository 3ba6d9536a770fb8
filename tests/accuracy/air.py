"""Simulated reception: the simulator's path loss, walls, floors and body, and effects measured in a real building.
Pure; numpy, since hours of hundreds of people are simulated.

rssi = tx - 20·log10(d) - walls - floors - body + devices + shadowing - somebody in between + fading

Nothing here is known to the locator, and nothing was chosen by what it makes of it. What comes from `simulator.radio`
has its source there; the sources of the rest:
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from simulator.building import Building
from simulator.radio import (
    BODY_DB,
    CEILING_ABOVE_PHONE_M,
    FADING_DB,
    MAX_FLOORS,
    MISSED_SHARE,
    NEAREST_M,
    PATH_LOSS_EXPONENT,
    SENSITIVITY_DBM,
    SHADOWING_DB,
    STOREY_M,
    floor_loss_db,
)

from accuracy.track import Track
from accuracy.walls import Walls

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

# Shadowing differs from place to place and stays. On the recorded walks (`recorded.py`) what different walks measured
# at one place has 2.4 dB around its mean in common, 0.6 of that variance 0.75 m away and 0.3 of it 2 m away: an
# exponential of 1.5 m. The simulator's SHADOWING_DB is a little more.
SHADOWING_M = 1.5
# Uncalibrated phones, tags, beacons and gateways differ. On the recorded walks the twelve receivers do by 3.3 dB; that
# phones differ alike is why Exposure Notifications had an RSSI correction for each model.
UNCALIBRATED_DB = 3.3
# Somebody steps in between: 5 to 15 dB at 2.4 GHz (Januszkiewicz, "Analysis of Human Body Shadowing Effect on Wireless
# Sensor Networks Operating in the 2.4 GHz Band", Sensors 18, 2018). How often and for how long: assumptions.
BETWEEN_DB, BETWEEN_EVERY_S, BETWEEN_S = 8.0, 60.0, 5.0
# Interference takes 13 to 40 % of the packets where others transmit (Strzoda et al., MSWiM 2022), and comes in bursts;
# scans pause when the radio is needed otherwise. In a burst a receiver misses most windows. How often and for how long:
# assumptions.
DEAF_SHARE, DEAF_EVERY_S, DEAF_S = 0.8, 120.0, 4.0
WAVES = 24  # of which a random field is made up


@dataclass(frozen=True, slots=True)
class Fixed:
    """A wall-mounted beacon or a gateway; `tx` is the RSSI at 1 m, dBm."""

    id: str
    room: str
    x_m: float
    y_m: float
    tx: float


class Air:
    """The building's radio for one seed; shadowing depends on the place, not on the person."""

    def __init__(
        self, building: Building, walls: Walls, fixed: list[Fixed], seed: int, devices_db: float, wall_db: float
    ) -> None:
        rng = np.random.default_rng([seed, 1])
        self._devices_db, self._wall_db = devices_db, wall_db
        rooms = building.rooms
        self._x, self._y = np.array([one.x_m for one in fixed]), np.array([one.y_m for one in fixed])
        level = np.array([rooms[one.room].level for one in fixed])
        self._gain = np.array([one.tx for one in fixed]) + rng.normal(0.0, devices_db, len(fixed))
        self._floors = np.array([np.abs(level - room.level) for room in rooms.values()])
        self._floor_loss = np.array([_floor_loss(floors) for floors in range(len(building.levels))])
        self._walls = walls
        self._fixed = [(rooms[one.room].level, (one.x_m, one.y_m)) for one in fixed]
        self._level = np.array([room.level for room in rooms.values()])
        self._room = {room_id: number for number, room_id in enumerate(rooms)}
        self._shadowing = _Field(rng, len(fixed), SHADOWING_DB, SHADOWING_M)

    def rssi(self, track: Track, start_s: Floats, window_s: float | Floats, rng: np.random.Generator) -> Floats:
        """One person's level of each fixed device in each window, dBm; nan where nothing was received.

        Windows begin at `start_s`, of shape (windows, devices) or (windows, 1), and last `window_s`, all of them or (of
        such a shape) each; what stands for a window was received at some moment of it."""
        shape = (len(start_s), len(self._x))
        times = start_s + rng.random(shape) * window_s
        where = track.at(times)
        room = np.array([self._room[room_id] for room_id in track.rooms])[where.leg]
        one = np.broadcast_to(np.arange(shape[1]), shape)
        dx, dy = self._x - where.x_m, self._y - where.y_m
        floors = self._floors[room, one]
        dz = floors * STOREY_M + CEILING_ABOVE_PHONE_M
        d2 = np.maximum(NEAREST_M**2, dx * dx + dy * dy + dz * dz)
        behind = (1 - (dx * where.heading_x + dy * where.heading_y) / np.sqrt(d2)) / 2
        rssi: Floats = self._gain + rng.normal(0.0, self._devices_db) - 5 * PATH_LOSS_EXPONENT * np.log10(d2)
        rssi = rssi - self._floor_loss[floors] - BODY_DB * behind - BETWEEN_DB * _between(times, rng)
        near = (
            rssi > SENSITIVITY_DBM - 4 * SHADOWING_DB
        )  # the field is the costliest part; devices further away are never received
        rssi -= self._wall_db * self._between_rooms(where.x_m, where.y_m, near & (floors == 0))
        near &= rssi > SENSITIVITY_DBM - 4 * SHADOWING_DB
        x, y, level = where.x_m[near], where.y_m[near], self._level[room[near]]
        rssi[near] += self._shadowing.at(one[near], x, y, level)
        rssi += rng.normal(0.0, FADING_DB, shape)
        rssi[(rssi < SENSITIVITY_DBM) | ~near | (rng.random(shape) < MISSED_SHARE)] = np.nan
        return rssi

    def _between_rooms(self, x_m: Floats, y_m: Floats, where: Flags) -> Floats:
        """Walls on the way to each device (columns) from each place, where wanted; 0 elsewhere."""
        walls = np.zeros(x_m.shape)
        for k, (level, place) in enumerate(self._fixed):
            rows = where[:, k]
            walls[rows, k] = self._walls.between(level, place, x_m[rows, k], y_m[rows, k])
        return walls


def deaf(times_s: Floats, rng: np.random.Generator) -> Flags:
    """The windows of a receiver, by their ends, that lose a reading in a burst (drawn for each)."""
    return _bursts(times_s, DEAF_EVERY_S, DEAF_S, rng) & (rng.random(len(times_s)) < DEAF_SHARE)


def _between(times: Floats, rng: np.random.Generator) -> Flags:
    """Times when somebody stands between the person and a device, independent for each device."""
    return np.stack([_bursts(column, BETWEEN_EVERY_S, BETWEEN_S, rng) for column in times.T], axis=1)


def _bursts(times_s: Floats, every_s: float, lasting_s: float, rng: np.random.Generator) -> Flags:
    """Whether each of the ascending times lies in a burst; bursts begin and last at random (exponential)."""
    count = int(2 * (times_s[-1] - times_s[0]) / (every_s + lasting_s)) + 20
    lengths = np.empty(2 * count)
    lengths[0::2], lengths[1::2] = rng.exponential(every_s, count), rng.exponential(lasting_s, count)
    turns = times_s[0] + np.cumsum(lengths)
    inside: Flags = np.searchsorted(turns, times_s) % 2 == 1
    return inside


def _floor_loss(floors: int) -> float:
    """Loss of a number of floors, dB; infinite for too many."""
    return floor_loss_db(floors) if floors <= MAX_FLOORS else float("inf")


class _Field:
    """A normal random field over the floor for each device, with correlation exp(-distance / length_m): a sum of plane
    waves (Rahimi and Recht, "Random Features for Large-Scale Kernel Machines", NIPS 2007)."""

    def __init__(self, rng: np.random.Generator, count: int, spread_db: float, length_m: float) -> None:
        cauchy = np.abs(rng.normal(0.0, length_m, (count, WAVES, 1)))  # the exponential's spectrum has heavy tails
        self._k = rng.normal(0.0, 1.0, (count, WAVES, 2)) / cauchy
        self._phase = rng.uniform(0, 2 * np.pi, (count, WAVES))
        self._spread_db = spread_db

    def at(self, one: NDArray[np.intp], x_m: Floats, y_m: Floats, level: NDArray[np.intp]) -> Floats:
        turns = self._k[one, :, 0] * x_m[:, None] + self._k[one, :, 1] * y_m[:, None] + self._phase[one]
        turns += (level * 1000.0)[:, None] * self._k[one, :, 0]  # another level is another place
        total: Floats = np.cos(turns).sum(axis=1) * (self._spread_db * np.sqrt(2 / WAVES))
        return total
