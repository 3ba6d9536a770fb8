"""How a virtual SDA walks: legs through rooms and doors, stands and lift rides, over virtual time. Pure.

A walk is a function of the plan and the state of the random generator it is given."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from simulator.building import Room
from simulator.geometry import Point, path_inside, random_point
from simulator.plan import Plan
from simulator.rng import Rng

# Comfortable walking of adults, 1.2 to 1.4 m/s (R. W. Bohannon, Age and Ageing 26, 1997), a little slower on patrol.
SPEED_M_S, SPEED_SPREAD_M_S, SLOWEST_M_S, FASTEST_M_S = 1.25, 0.15, 0.8, 1.6
# How long an SDA stays in a room: median 45 s, sometimes minutes; an assumption that keeps a demo moving.
STAY_S, STAY_SPREAD, SHORTEST_STAY_S, LONGEST_STAY_S = 45.0, 0.7, 10.0, 600.0
CROSSED_SHARE = 0.3  # corridors and lift lobbies are crossed often but are rarely a destination
SAME_LEVEL_SHARE = 0.75  # of all visits stay on the level: a patrol finishes a floor before it takes the lift
# A break of a quarter of an hour every hour or so, in one of the building's largest rooms: canteen, lounge, terrace.
BREAK_EVERY_S, BREAK_S, BREAK_ROOMS = (2700.0, 5400.0), (600.0, 1200.0), 3
LIFT_WAIT_S = (5.0, 25.0)
LIFT_S_PER_LEVEL = 4.0  # a storey of 4 m at 1 m/s, a usual speed of passenger lifts


@dataclass(frozen=True, slots=True)
class Leg:
    """A straight walk, or a stand, in one room from `start_s` to `end_s`; the heading is a unit vector."""

    start_s: float
    end_s: float
    room: Room
    start: Point
    end: Point
    heading: Point

    @property
    def moves(self) -> bool:
        """Whether the SDA walks on this leg."""
        return self.start != self.end


class Spot(NamedTuple):
    """Position and heading at one moment."""

    room: Room
    x_m: float
    y_m: float
    heading: Point


class Walk:
    """One SDA's walk. Call its methods with non-decreasing times."""

    __slots__ = ("_leg", "_legs", "_moved_s")

    def __init__(self, plan: Plan, rng: Rng, breaks: Rng | None = None) -> None:
        self._legs = legs(plan, rng, breaks)
        self._leg = next(self._legs)
        self._moved_s = -math.inf  # end of the last walking leg before this one

    def at(self, time_s: float) -> Spot:
        """The position at a time."""
        self._advance(time_s)
        return spot(self._leg, time_s)

    def still_s(self, time_s: float) -> float:
        """Seconds since the last step; 0 while walking, infinity before the first step."""
        self._advance(time_s)
        return 0.0 if self._leg.moves else time_s - self._moved_s

    def _advance(self, time_s: float) -> None:
        while self._leg.end_s < time_s:
            if self._leg.moves:
                self._moved_s = self._leg.end_s
            self._leg = next(self._legs)


def spot(leg: Leg, time_s: float) -> Spot:
    """The position on a leg at a time within it."""
    lasts = leg.end_s - leg.start_s
    share = (time_s - leg.start_s) / lasts if lasts > 0 else 1.0
    (ax, ay), (bx, by) = leg.start, leg.end
    return Spot(leg.room, ax + (bx - ax) * share, ay + (by - ay) * share, leg.heading)


def legs(plan: Plan, rng: Rng, breaks: Rng | None = None) -> Iterator[Leg]:
    """Endless legs without gaps, from time 0: stay in a room, go to the next one, stay …

    `breaks` decides when and where breaks are; None: there are none. Up to the first one it changes nothing."""
    rooms = plan.building.rooms
    here = rng.choices(list(rooms), [plan.areas[room_id] ** 0.5 for room_id in rooms])[0]
    walker = _Walker(plan, rng, rooms[here])
    yield from walker.stand(rng.uniform(0, STAY_S))
    next_break_s = breaks.uniform(*BREAK_EVERY_S) if breaks else math.inf
    while True:
        if breaks and walker.time_s >= next_break_s:
            yield from walker.go_to(breaks.choice(_break_rooms(plan, walker.room)))
            yield from walker.stand(breaks.uniform(*BREAK_S))
            next_break_s = walker.time_s + breaks.uniform(*BREAK_EVERY_S)
        yield from walker.go_to(_destination(plan, walker.room, rng))
        stays_s = rng.lognormvariate(math.log(STAY_S), STAY_SPREAD)
        yield from walker.stay(min(LONGEST_STAY_S, max(SHORTEST_STAY_S, stays_s)))


def _destination(plan: Plan, here: Room, rng: Rng) -> str:
    """The next room to visit: any other reachable room; larger rooms and rooms of this level more often."""
    rooms = plan.building.rooms
    others = [room_id for room_id in plan.reachable[here.id] if room_id != here.id] or [here.id]
    level = [room_id for room_id in others if rooms[room_id].level == here.level]
    if level and rng.random() < SAME_LEVEL_SHARE:
        others = level
    crossed = ("corridor", "core")
    weights = [plan.areas[room] ** 0.5 * (CROSSED_SHARE if rooms[room].kind in crossed else 1) for room in others]
    return rng.choices(others, weights)[0]


def _break_rooms(plan: Plan, here: Room) -> list[str]:
    """The largest rooms that can be reached."""
    rooms = plan.building.rooms
    reachable = [room_id for room_id in (here.id, *plan.reachable[here.id]) if not rooms[room_id].is_passage]
    return sorted(set(reachable), key=lambda room_id: plan.areas[room_id], reverse=True)[:BREAK_ROOMS] or [here.id]


class _Walker:
    """The present time and place; each method adds legs."""

    __slots__ = ("_at", "_plan", "_rng", "room", "time_s")

    def __init__(self, plan: Plan, rng: Rng, room: Room) -> None:
        self.room = room
        self._plan, self._rng = plan, rng
        self.time_s = 0.0
        self._at = random_point(room.polygon, rng)

    def go_to(self, room_id: str) -> Iterator[Leg]:
        """Go to a room that can be reached, by the shortest way."""
        for next_room in self._plan.route(self.room.id, room_id)[1:]:
            yield from self.enter(self._plan.building.rooms[next_room])

    def stand(self, seconds: float, *, lift: bool = False) -> Iterator[Leg]:
        """Stand still with a random heading."""
        turn = 0.0 if lift else self._rng.uniform(0, 2 * math.pi)
        yield self._leg(seconds, self._at, (math.cos(turn), math.sin(turn)))

    def stay(self, seconds: float) -> Iterator[Leg]:
        """Stay in the room, at one to three places."""
        places = self._rng.choice((1, 1, 2, 3))
        for _ in range(places):
            yield from self._go(random_point(self.room.polygon, self._rng))
            yield from self.stand(seconds / places)

    def enter(self, room: Room) -> Iterator[Leg]:
        """Go to the next room, through the door or by lift."""
        door = self._plan.doors[self.room.id].get(room.id)
        if door is not None:
            yield from self._go(door)
            self.room = room
            return
        if self._at != self._plan.middles[self.room.id]:  # not yet in the lift
            yield from self._go(self._plan.middles[self.room.id])
            yield from self.stand(self._rng.uniform(*LIFT_WAIT_S))
        yield from self.stand(LIFT_S_PER_LEVEL / 2, lift=True)
        self.room, self._at = room, self._plan.lifts[self.room.id][room.id]
        yield from self.stand(LIFT_S_PER_LEVEL / 2, lift=True)

    def _go(self, there: Point) -> Iterator[Leg]:
        speed = min(FASTEST_M_S, max(SLOWEST_M_S, self._rng.gauss(SPEED_M_S, SPEED_SPREAD_M_S)))
        for a, b in pairwise(path_inside(self.room.polygon, self._at, there)):
            length = math.dist(a, b)
            if length > 0:
                yield self._leg(length / speed, b, ((b[0] - a[0]) / length, (b[1] - a[1]) / length))

    def _leg(self, seconds: float, end: Point, heading: Point) -> Leg:
        leg = Leg(self.time_s, self.time_s + seconds, self.room, self._at, end, heading)
        self.time_s, self._at = leg.end_s, end
        return leg
