"""Cuts recordings: the same radio with a changed walk, against overfitting. Pure."""

import random
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from simulator.geometry import Point, Polygon, covers, distance_to_edge, edges

from accuracy.borders import distance_m
from accuracy.recorded import Recording, Second

MOVED_M = 1.5
MOVED_SHARE = 0.35  # of the way to the next line, at most: rooms stay rooms
SAME_LINE_M = 0.5  # lines of different rooms so near to each other are the two sides of one wall
LOST_SHARE = 0.1
STARTS = (0.1, 0.6)  # of the recording are left out
Cut = Callable[[Recording, random.Random], Recording]


@dataclass(frozen=True, slots=True)
class Variation:
    """A kind of cut, and how often it is drawn."""

    name: str
    cut: Cut
    times: int


def variations(times: int = 3) -> tuple[Variation, ...]:
    """All kinds of cuts; random ones several times."""
    return (
        Variation("room lines moved", lines_moved, times),
        Variation("backwards", backwards, 1),
        Variation("other start", other_start, times),
        Variation("a device left out", device_left_out, times),
        Variation("a tenth of the adverts lost", adverts_lost, 1),
    )


def drawn(recording: Recording, variation: Variation) -> list[Recording]:
    """The cut recording, each time with another seed."""
    key = f"{recording.of}/{recording.name}/{variation.name}"
    rngs = [random.Random(f"{key}/{number}") for number in range(variation.times)]  # noqa: S311 - play, not secrets
    return [variation.cut(recording, rng) for rng in rngs]


def backwards(recording: Recording, _: random.Random) -> Recording:
    """The recording in reverse order."""
    times = [one.ts_ms for one in recording.adverts] + [one.ts_ms for one in recording.truth]
    both_ms = min(times) + max(times)
    adverts = tuple(one._replace(ts_ms=both_ms - one.ts_ms) for one in reversed(recording.adverts))
    truth = tuple(one._replace(ts_ms=both_ms - one.ts_ms) for one in reversed(recording.truth))
    return replace(recording, adverts=adverts, truth=truth)


def other_start(recording: Recording, rng: random.Random) -> Recording:
    """The recording without its first half."""
    from_ms = recording.truth[int(len(recording.truth) * rng.uniform(*STARTS))].ts_ms
    adverts = tuple(one for one in recording.adverts if one.ts_ms >= from_ms)
    return replace(recording, adverts=adverts, truth=tuple(one for one in recording.truth if one.ts_ms >= from_ms))


def adverts_lost(recording: Recording, rng: random.Random) -> Recording:
    """Without a tenth of the adverts."""
    return replace(recording, adverts=tuple(one for one in recording.adverts if rng.random() >= LOST_SHARE))


def device_left_out(recording: Recording, rng: random.Random) -> Recording:
    """Without one of the gateways or beacons."""
    out = rng.choice(recording.devices)["id"]
    key = "gateways" if recording.mode == "gateway" else "beacons"
    building = {**recording.building, key: [one for one in recording.devices if one["id"] != out]}
    adverts = tuple(one for one in recording.adverts if recording.device(one) != out)
    return replace(recording, building=building, adverts=adverts)


def lines_moved(recording: Recording, rng: random.Random) -> Recording:
    """Move the borders inside the building; truth and devices get the rooms they are in now. Seconds without a
    known place get no room."""
    building = deepcopy(recording.building)
    corners = [corner for level in building["levels"] for room in level["rooms"] for corner in room["polygon"]]
    for axis in (0, 1):
        moved = _moved(sorted({corner[axis] for corner in corners}), rng)
        for corner in corners:
            corner[axis] = moved[corner[axis]]
    level_of = {room["id"]: level["id"] for level in building["levels"] for room in level["rooms"]}

    def truth(second: Second) -> Second:
        if not second.room or second.x_m is None or second.y_m is None:
            return second._replace(room="")
        return second._replace(room=_room_at(building, level_of[second.room], (second.x_m, second.y_m)))

    key = "gateways" if recording.mode == "gateway" else "beacons"
    polygons = {room["id"]: room["polygon"] for level in building["levels"] for room in level["rooms"]}
    for one in building[key]:
        place = (one["x_m"], one["y_m"])
        one["room"] = _room_at(building, one["level"], place)
        one["x_m"], one["y_m"] = _nearest_in(polygons[one["room"]], place)
    return replace(recording, building=building, truth=tuple(map(truth, recording.truth)))


def _moved(lines: list[float], rng: random.Random) -> dict[float, float]:
    """The new place of each line; the outermost lines stay."""
    walls: list[list[float]] = []
    for line in lines:
        if walls and line - walls[-1][-1] < SAME_LINE_M:
            walls[-1].append(line)
        else:
            walls.append([line])
    room = [after[0] - before[-1] for before, after in pairwise(walls)]
    found = {}
    for number, wall in enumerate(walls):
        inner = 0 < number < len(walls) - 1
        max_m = min(MOVED_M, MOVED_SHARE * min(room[number - 1], room[number])) if inner else 0.0
        by_m = rng.uniform(-max_m, max_m)
        found.update({line: round(line + by_m, 3) for line in wall})
    return found


def _room_at(building: dict[str, Any], level: str, place: tuple[float, float]) -> str:
    """The room at a place, or the nearest one."""
    rooms = next(one["rooms"] for one in building["levels"] if one["id"] == level)
    return str(min(rooms, key=lambda room: distance_m(room["polygon"], place))["id"])


def _nearest_in(polygon: Polygon, place: Point) -> Point:
    """The place, or where it is outside (there is nothing between some rooms) the nearest one on the room's outline."""
    if covers(polygon, place):
        return place
    (ax, ay), (bx, by) = min(edges(polygon), key=lambda edge: distance_to_edge(edge, place))
    along = ((place[0] - ax) * (bx - ax) + (place[1] - ay) * (by - ay)) / ((bx - ax) ** 2 + (by - ay) ** 2)
    along = min(1.0, max(0.0, along))
    return ax + along * (bx - ax), ay + along * (by - ay)
