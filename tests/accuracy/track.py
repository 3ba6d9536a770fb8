"""The path of one simulated person as arrays, and how people stand. Pure."""

import itertools
import math
import random
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from simulator.building import Room
from simulator.geometry import random_point
from simulator.walk import Leg

from accuracy.truth import Truth

TURN_EVERY_S = 60.0  # standing people sometimes turn: an assumption


@dataclass(frozen=True, slots=True)
class Where:
    """Places at many times: number of the leg, metres, unit vector of the heading."""

    leg: NDArray[np.intp]
    x_m: NDArray[np.float64]
    y_m: NDArray[np.float64]
    heading_x: NDArray[np.float64]
    heading_y: NDArray[np.float64]


class Track:
    """Legs without a gap from time 0 to `end_s`."""

    def __init__(self, legs: Iterable[Leg], end_s: float) -> None:
        kept = list(itertools.takewhile(lambda leg: leg.start_s < end_s, legs))
        self.rooms = tuple(leg.room.id for leg in kept)
        self.end_s = end_s
        self._legs = kept
        self._start = np.array([leg.start_s for leg in kept])
        self._lasts = np.array([max(1e-9, leg.end_s - leg.start_s) for leg in kept])
        self._from = np.array([leg.start for leg in kept])
        self._to = np.array([leg.end for leg in kept])
        self._heading = np.array([leg.heading for leg in kept])
        self._walks = [(leg.start_s, leg.end_s) for leg in kept if leg.moves]

    def at(self, times_s: NDArray[np.float64]) -> Where:
        leg = np.maximum(0, np.searchsorted(self._start, times_s, side="right") - 1)
        share = np.clip((times_s - self._start[leg]) / self._lasts[leg], 0.0, 1.0)[..., None]
        place = self._from[leg] + (self._to[leg] - self._from[leg]) * share
        heading = self._heading[leg]
        return Where(leg, place[..., 0], place[..., 1], heading[..., 0], heading[..., 1])

    def still_s(self, time_s: float) -> float:
        """Seconds since the last step; 0 while walking, infinity before the first step."""
        begun = bisect_left(self._walks, (time_s,))
        return max(0.0, time_s - self._walks[begun - 1][1]) if begun else math.inf

    def truth(self, start_ms: float) -> Truth:
        samples = [(start_ms + leg.start_s * 1000, leg.room.id) for leg in self._legs]
        return Truth.of(samples, start_ms + self.end_s * 1000)


def standing(room: Room, end_s: float, rng: random.Random) -> list[Leg]:
    """Stand at one place of a room and sometimes turn."""
    place = random_point(room.polygon, rng)
    legs, now_s = [], 0.0
    while now_s < end_s:
        turn, lasts_s = rng.uniform(0, 2 * math.pi), rng.expovariate(1 / TURN_EVERY_S)
        legs.append(Leg(now_s, now_s + lasts_s, room, place, place, (math.cos(turn), math.sin(turn))))
        now_s += lasts_s
    return legs
