"""A random floor plan, and how people stand and walk in it. Pure.

Rooms are rectangles that fill the outline of their level, so a straight line between two places of a room stays in the
room, and one between two places of a level stays in the building."""

import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from simulator.building import Room
from simulator.geometry import Point, area
from simulator.walk import Leg

Kind = Literal["corridor", "open", "flat", "hall"]
Box = tuple[float, float, float, float]
"""West, south, east, north, metres."""
KINDS: dict[Kind, float] = {"corridor": 0.5, "open": 0.15, "flat": 0.15, "hall": 0.2}
SMALLEST_M2, LARGEST_M2, NARROWEST_M = 8.0, 400.0, 2.2
LONGEST = 3.5  # times as long as wide; corridors may be longer
DOOR_M = 1.0  # as wide as a door with its frame; a shorter border has none
OFF_WALL_M = 0.25  # half a person's width
CORE: Box = (0.0, 0.0, 3.0, 3.6)  # two flights of stairs, or a lift and its landing; 3.0 m is also the narrowest strip
RIDE_S = (6.0, 20.0)  # a storey by stairs, or by a lift that is waited for


@dataclass(frozen=True, slots=True)
class Border:
    """The border of two rooms: open over its whole length, or a wall with or without a door."""

    level: int
    rooms: tuple[str, str]
    start: Point
    end: Point
    open: bool
    door: Point | None

    @property
    def passes(self) -> bool:
        """Whether people can walk through."""
        return self.open or self.door is not None


@dataclass(frozen=True, slots=True)
class Plan:
    """Rooms by id, borders, and the pairs of cores between which people change the level."""

    kind: Kind
    levels: int
    width_m: float
    height_m: float
    rooms: dict[str, Room]
    borders: tuple[Border, ...]
    lifts: tuple[tuple[str, str], ...]

    def neighbours(self) -> dict[str, dict[str, Border | None]]:
        """For each room its reachable neighbours and the border to them; None is a lift ride in the core."""
        found: dict[str, dict[str, Border | None]] = {room_id: {} for room_id in self.rooms}
        ways = [(border.rooms, border) for border in self.borders if border.passes]
        for (a, b), border in [*ways, *((pair, None) for pair in self.lifts)]:
            found[a][b] = found[b][a] = border
        return found


def box_of(room: Room) -> Box:
    """The room's rectangle."""
    (west, south), _, (east, north), _ = room.polygon
    return west, south, east, north


def draw_plan(rng: np.random.Generator) -> Plan:
    """A plan of one or two levels with 4 to 16 rooms of 8 to 400 m² each: buildings that staff patrol."""
    kind = tuple(KINDS)[rng.choice(len(KINDS), p=list(KINDS.values()))]
    levels = 2 if rng.random() < 0.25 else 1
    while True:
        drawn = _BOXES[kind](rng, levels)
        if all(_fits(kind, boxes) for boxes in drawn):
            plan = _plan(rng, kind, drawn)
            if plan is not None:
                return plan


def _fits(kind: Kind, boxes: list[Box]) -> bool:
    def room(box: Box) -> bool:
        short, long = sorted((box[2] - box[0], box[3] - box[1]))
        return SMALLEST_M2 <= short * long <= LARGEST_M2 and short >= NARROWEST_M and long <= LONGEST * short

    first = boxes[0]
    way = (first[2] - first[0]) * (first[3] - first[1]) <= LARGEST_M2 if kind == "corridor" else room(first)
    return 4 <= len(boxes) <= 16 and way and all(map(room, boxes[1:]))


def _log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def _strip(rng: np.random.Generator, box: Box, count: int) -> list[Box]:
    """Rooms side by side from west to east, the widest up to four times as wide as the narrowest."""
    west, south, east, north = box
    shares = rng.uniform(0.5, 2.0, count)
    at = [west, *(west + (east - west) * np.cumsum(shares) / shares.sum()).round(2).tolist()]
    at[-1] = east
    return [(a, south, b, north) for a, b in pairwise(at)]


def _parts(rng: np.random.Generator, box: Box, count: int) -> list[Box]:
    """A rectangle cut repeatedly across its longer side."""
    if count == 1:
        return [box]
    west, south, east, north = box
    first = count // 2
    share = first / count * rng.uniform(0.75, 1.25)
    if east - west > north - south:
        cut = round(west + (east - west) * share, 2)
        halves = (west, south, cut, north), (cut, south, east, north)
    else:
        cut = round(south + (north - south) * share, 2)
        halves = (west, south, east, cut), (west, cut, east, north)
    return _parts(rng, halves[0], first) + _parts(rng, halves[1], count - first)


def _corridor(rng: np.random.Generator, levels: int) -> list[list[Box]]:
    """Rooms on both sides of a corridor."""
    across = rng.uniform(1.8, 4.0)  # an office's corridor to a mall's
    deep = rng.uniform(5.0, 12.0), rng.uniform(5.0, 12.0)
    south = int(rng.integers(2, 8))
    sides = south, min(7, max(2, south + int(rng.integers(-2, 3))))
    length = max(sides) * _log_uniform(rng, 30.0, 200.0) / max(deep)
    return _along(rng, levels, length, across, deep, sides)


def _hall(rng: np.random.Generator, levels: int) -> list[list[Box]]:
    """A hall with rooms at one or two of its sides."""
    deep = rng.uniform(4.0, 9.0), rng.uniform(4.0, 9.0)
    sides = int(rng.integers(3, 6)), int(rng.integers(0, 4))
    return _along(rng, levels, rng.uniform(14.0, 35.0), rng.uniform(9.0, 20.0), deep, sides)


def _along(
    rng: np.random.Generator,
    levels: int,
    length: float,
    across: float,
    deep: tuple[float, float],
    sides: tuple[int, int],
) -> list[list[Box]]:
    """Rooms along a corridor or hall, which is the first of each level; the core (of two levels) is the second."""
    east, south, low = round(length, 2), round(deep[0], 2), round(deep[0] + across, 2)
    core = [(0.0, 0.0, CORE[2], south)] if levels == 2 else []
    west = CORE[2] if levels == 2 else 0.0
    drawn = []
    for _ in range(levels):
        boxes = [(0.0, south, east, low), *core, *_strip(rng, (west, 0.0, east, south), sides[0])]
        if sides[1]:
            boxes += _strip(rng, (0.0, low, east, round(low + deep[1], 2)), sides[1])
        drawn.append(boxes)
    return drawn


def _open(rng: np.random.Generator, levels: int) -> list[list[Box]]:
    """A floor with virtual divisions: from zones of desks to halves of a storey."""
    return _cut(rng, levels, int(rng.integers(4, 13)), _log_uniform(rng, 40.0, 250.0))


def _flat(rng: np.random.Generator, levels: int) -> list[list[Box]]:
    """A flat or house: few and small rooms."""
    return _cut(rng, levels, int(rng.integers(4, 10)), _log_uniform(rng, 15.0, 50.0))


def _cut(rng: np.random.Generator, levels: int, count: int, mean_m2: float) -> list[list[Box]]:
    aspect = rng.uniform(1.0, 2.5)
    height = round(math.sqrt(count * mean_m2 / aspect), 2)
    width = round(height * aspect, 2)
    drawn = []
    for _ in range(levels):
        if levels == 1:
            drawn.append(_parts(rng, (0.0, 0.0, width, height), count))
            continue
        _, _, east, north = CORE
        above = max(1, round((count - 1) * east / width))
        boxes = [CORE, *_parts(rng, (0.0, north, east, height), above)]
        drawn.append(boxes + _parts(rng, (east, 0.0, width, height), max(1, count - 1 - above)))
    return drawn


_BOXES = {"corridor": _corridor, "open": _open, "flat": _flat, "hall": _hall}


def _plan(rng: np.random.Generator, kind: Kind, drawn: list[list[Box]]) -> Plan | None:
    """Rooms and borders of the rectangles; None if a room cannot be reached."""
    core_at = None if len(drawn) == 1 else 0 if kind in ("open", "flat") else 1
    rooms: dict[str, Room] = {}
    borders: list[Border] = []
    cores = []
    for level, boxes in enumerate(drawn):
        kinds = _kinds(rng, kind, len(boxes), core_at)
        here = []
        for index, ((w, s, e, n), one) in enumerate(zip(boxes, kinds, strict=True)):
            name = f"{one.capitalize()} {level + 1}.{index + 1}"
            here.append(Room(f"l{level + 1}-{one}-{index + 1}", name, level, one, ((w, s), (e, s), (e, n), (w, n))))
        rooms.update((room.id, room) for room in here)
        if core_at is not None:
            cores.append(here[core_at].id)
        found = _borders(rng, kind, here)
        if found is None:
            return None
        borders += found
    corners = [corner for room in rooms.values() for corner in room.polygon]
    width, height = max(x for x, _ in corners), max(y for _, y in corners)
    return Plan(kind, len(drawn), width, height, rooms, tuple(borders), tuple([(cores[0], cores[1])] if cores else []))


def _kinds(rng: np.random.Generator, kind: Kind, count: int, core_at: int | None) -> list[str]:
    """The kind of each room in the building file, with some errors and inconsistencies."""
    kinds = ["room"] * count
    if kind == "corridor":
        kinds[0] = "corridor"
        if rng.random() < 0.3:
            kinds[-1] = "lobby"
    elif kind == "hall":
        kinds[0] = "lobby" if rng.random() < 0.5 else "room"
    elif kind == "open":
        kinds = ["lobby" if rng.random() < 0.2 else "room" for _ in kinds]
    elif rng.random() < 0.5:
        kinds[-1] = "corridor"
    if core_at is not None:
        kinds[core_at] = "core"
    return kinds


def _borders(rng: np.random.Generator, kind: Kind, rooms: list[Room]) -> list[Border] | None:
    """Borders of a level with openings and doors such that every room can be reached; None if impossible."""
    common = [(a, b, ends) for a, b in combinations(rooms, 2) if (ends := _common(box_of(a), box_of(b)))]
    group = {room.id: room.id for room in rooms}

    def join(a: Room, b: Room) -> None:
        one, other = group[a.id], group[b.id]
        group.update({room: other for room, its in group.items() if its == one})

    found = []
    for index in rng.permutation(len(common)):
        a, b, (start, end) = common[index]
        length = math.dist(start, end)
        core, central = "core" in (a.kind, b.kind), rooms[0] in (a, b)
        if kind == "open":
            is_open, has_door = not core, core
        elif kind == "flat":  # a third of the borders is open, doors make a tree of all rooms, and there are some more
            is_open, has_door = rng.random() < 1 / 3, rng.random() < 0.15 or group[a.id] != group[b.id]
        else:  # all rooms open into the corridor or hall, some into the next one; a lobby has no wall to the corridor
            is_open, has_door = central and {a.kind, b.kind} == {"corridor", "lobby"}, central or rng.random() < 0.1
        door = None
        if has_door and not is_open and length >= DOOR_M + 0.2:
            share = float(rng.uniform(DOOR_M / 2, length - DOOR_M / 2)) / length
            door = start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share
        found.append(Border(a.level, (a.id, b.id), start, end, bool(is_open), door))
        if found[-1].passes:
            join(a, b)
    return found if len(set(group.values())) == 1 else None


def _common(a: Box, b: Box) -> tuple[Point, Point] | None:
    """The common stretch of wall of two rectangles."""
    for east, west in ((a, b), (b, a)):
        low, high = max(a[1], b[1]), min(a[3], b[3])
        if east[2] == west[0] and low < high:
            return (east[2], low), (east[2], high)
        low, high = max(a[0], b[0]), min(a[2], b[2])
        if east[3] == west[1] and low < high:
            return (low, east[3]), (high, east[3])
    return None


def some_place(rng: np.random.Generator, room: Room, off_m: float = OFF_WALL_M) -> Point:
    """A random place in the room, with a margin to its walls."""
    w, s, e, n = box_of(room)
    return float(rng.uniform(w + off_m, e - off_m)), float(rng.uniform(s + off_m, n - off_m))


def by_area(rng: np.random.Generator, rooms: list[Room]) -> Room:
    """A random room, weighted by area."""
    areas = np.array([area(room.polygon) for room in rooms])
    return rooms[rng.choice(len(rooms), p=areas / areas.sum())]


def _heading(rng: np.random.Generator) -> Point:
    turn = rng.uniform(0, 2 * math.pi)
    return math.cos(turn), math.sin(turn)


def standing(plan: Plan, rng: np.random.Generator) -> Iterator[Leg]:
    """Endless legs: a person stands at one place and sometimes turns."""
    room = by_area(rng, list(plan.rooms.values()))
    place = some_place(rng, room)
    turns_every_s = rng.uniform(20.0, 120.0)
    now_s = 0.0
    while True:
        end_s = now_s + rng.exponential(turns_every_s)
        yield Leg(now_s, end_s, room, place, place, _heading(rng))
        now_s = end_s


def patrol(plan: Plan, rng: np.random.Generator) -> Iterator[Leg]:
    """Endless legs: a person goes from room to room, through doors and openings, and stays in each."""
    return _Patrol(plan, rng).legs()


class _Patrol:
    """The present time and place."""

    def __init__(self, plan: Plan, rng: np.random.Generator) -> None:
        self._rng, self._rooms, self._ways = rng, list(plan.rooms.values()), plan.neighbours()
        self._plan = plan
        self._room = by_area(rng, self._rooms)
        self._at = some_place(rng, self._room)
        self._now_s = 0.0
        self._speed_m_s = rng.uniform(0.7, 1.4)  # strolling to brisk
        self._stay_s = rng.uniform(30.0, 60.0)

    def legs(self) -> Iterator[Leg]:
        while True:
            yield from self._stay(float(self._rng.lognormal(math.log(self._stay_s), 0.6)))
            goal = by_area(self._rng, [room for room in self._rooms if room is not self._room])
            for room_id in self._way(goal.id):
                yield from self._enter(self._plan.rooms[room_id])

    def _way(self, goal: str) -> list[str]:
        """The rooms of the route with the fewest doors; random among equals."""
        came = {goal: goal}
        waiting = [goal]
        for here in waiting:
            nexts = [room for room in self._ways[here] if room not in came]
            self._rng.shuffle(nexts)
            came.update(dict.fromkeys(nexts, here))
            waiting += nexts
        way = [came[self._room.id]]
        while way[-1] != goal:
            way.append(came[way[-1]])
        return way

    def _stay(self, seconds: float) -> Iterator[Leg]:
        """Stay in the room: stand, walk a few steps, stand."""
        until_s = self._now_s + seconds
        while self._now_s < until_s:
            yield self._stand(min(until_s - self._now_s, float(self._rng.uniform(5.0, 30.0))))
            x, y = some_place(self._rng, self._room)
            near = min(1.0, 3.0 / (math.dist(self._at, (x, y)) + 1e-9))
            yield from self._go((self._at[0] + (x - self._at[0]) * near, self._at[1] + (y - self._at[1]) * near))

    def _enter(self, room: Room) -> Iterator[Leg]:
        border = self._ways[self._room.id][room.id]
        if border is None:
            yield from self._go(some_place(self._rng, self._room))
            half_s = float(self._rng.uniform(*RIDE_S)) / 2
            yield self._stand(half_s)
            self._room = room
            yield self._stand(half_s)
            return
        at = border.door
        if at is None:
            share = self._rng.uniform(0.1, 0.9)
            (ax, ay), (bx, by) = border.start, border.end
            at = ax + (bx - ax) * share, ay + (by - ay) * share
        yield from self._go(at)
        self._room = room

    def _stand(self, seconds: float) -> Leg:
        leg = Leg(self._now_s, self._now_s + seconds, self._room, self._at, self._at, _heading(self._rng))
        self._now_s = leg.end_s
        return leg

    def _go(self, there: Point) -> Iterator[Leg]:
        length = math.dist(self._at, there)
        if length > 0:
            heading = (there[0] - self._at[0]) / length, (there[1] - self._at[1]) / length
            end_s = self._now_s + length / self._speed_m_s
            yield Leg(self._now_s, end_s, self._room, self._at, there, heading)
            self._now_s, self._at = end_s, there


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
        self._start = np.array([leg.start_s for leg in kept])
        self._lasts = np.array([max(1e-9, leg.end_s - leg.start_s) for leg in kept])
        self._from = np.array([leg.start for leg in kept])
        self._to = np.array([leg.end for leg in kept])
        self._heading = np.array([leg.heading for leg in kept])

    def at(self, times_s: NDArray[np.float64]) -> Where:
        leg = np.maximum(0, np.searchsorted(self._start, times_s, side="right") - 1)
        share = np.clip((times_s - self._start[leg]) / self._lasts[leg], 0.0, 1.0)[..., None]
        place = self._from[leg] + (self._to[leg] - self._from[leg]) * share
        heading = self._heading[leg]
        return Where(leg, place[..., 0], place[..., 1], heading[..., 0], heading[..., 1])
