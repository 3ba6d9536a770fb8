"""Seconds near a border of rooms, where the true room is uncertain. Pure."""

from typing import Any

from simulator.geometry import Polygon, clearance, covers

from accuracy.recorded import Recording, Second

NEAR_M = 1.0


def away_from_borders(recording: Recording) -> list[Second]:
    """Scored seconds with a known place further than NEAR_M from every other room of the level."""
    levels = _levels(recording.building)
    level_of = {room: level for level, rooms in levels.items() for room in rooms}
    known: dict[tuple[str, float, float], bool] = {}
    found = []
    for second in recording.scored:
        if second.x_m is None or second.y_m is None:
            continue
        key = (second.room, second.x_m, second.y_m)
        if key not in known:
            others = (it for room, it in levels[level_of[second.room]].items() if room != second.room)
            known[key] = all(distance_m(it, key[1:]) > NEAR_M for it in others)
        if known[key]:
            found.append(second)
    return found


def distance_m(polygon: Polygon, place: tuple[float, float]) -> float:
    """Distance from a place to a room in metres, 0 inside."""
    return 0.0 if covers(polygon, place) else clearance(polygon, place)


def _levels(building: dict[str, Any]) -> dict[str, dict[str, Polygon]]:
    return {level["id"]: {room["id"]: room["polygon"] for room in level["rooms"]} for level in building["levels"]}
