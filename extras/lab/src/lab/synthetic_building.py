"""Draws a large building: levels of equal rooms along corridors, with devices spread evenly over them. Pure."""

import math
from dataclasses import astuple, dataclass
from typing import Any

ROOM_M = (5.0, 6.0)
"""Width along the corridor, and depth."""
CORRIDOR_M = 3.0
LOBBY_M = 6.0
COLUMNS = 20
"""Rooms on each side of a corridor."""
ROOMS_A_SECTION = 5
"""Rooms along one section of a corridor; doors divide it."""
OfLevel = tuple[str, dict[str, Any]]
"""A level's id and one of its rooms."""


@dataclass(frozen=True, slots=True)
class SyntheticBuilding:
    """The sizes of a drawn building: `rooms` of each level, beside corridors, a lobby and a lift; the others of all."""

    levels: int
    rooms: int
    gateways: int
    beacons: int
    staff: int

    @property
    def name(self) -> str:
        return f"Drawn campus, {self.levels} levels of {self.rooms} rooms"

    @property
    def fits(self) -> bool:
        """Whether there is something of each kind."""
        return all(number >= 1 for number in astuple(self))

    def building(self) -> dict[str, Any]:
        """The building file's content."""
        levels = [_level(storey, self.rooms) for storey in range(1, self.levels + 1)]
        rooms = [(level["id"], room) for level in levels for room in level["rooms"]]
        passages = [one for one in rooms if "kind" in one[1]]  # who walks is received everywhere
        spread = passages + _mixed([one for one in rooms if "kind" not in one[1]])
        places = [spread[number % len(spread)] for number in range(max(self.gateways, self.beacons))]
        return {
            "building": self.name,
            "levels": levels,
            "beacons": [
                {"id": _hex(0xC00000000000 + number), **_place(level, room, 0.4)}
                for number, (level, room) in enumerate(places[: self.beacons])
            ],
            "gateways": [
                {"id": f"gw-{number}", **_place(level, room, 0.6)}
                for number, (level, room) in enumerate(places[: self.gateways])
            ],
            "staff": [_member(number) for number in range(self.staff)],
        }


def _level(storey: int, rooms: int) -> dict[str, Any]:
    """A lobby with a lift along the west side, and from it corridors to the east with rooms on both sides."""
    level, (width, depth) = f"L{storey}", ROOM_M
    bands = -(-rooms // (2 * COLUMNS))
    height = bands * (2 * depth + CORRIDOR_M)
    found = [
        {**_room(f"{level}-lobby", "Lobby", 0, 0, LOBBY_M, height - depth), "kind": "lobby"},
        {**_room(f"{level}-lift", "Lift", 0, height - depth, LOBBY_M, depth), "kind": "core"},
    ]
    for band in range(bands):
        south = band * (2 * depth + CORRIDOR_M)
        for section in range(0, COLUMNS, ROOMS_A_SECTION):
            west, name = LOBBY_M + section * width, f"Corridor {band + 1}.{section // ROOMS_A_SECTION + 1}"
            corridor = _room(
                f"{level}-c{band}-{section}", name, west, south + depth, ROOMS_A_SECTION * width, CORRIDOR_M
            )
            found.append({**corridor, "kind": "corridor"})
        for number in range(band * 2 * COLUMNS, min(rooms, (band + 1) * 2 * COLUMNS)):
            side, column = divmod(number % (2 * COLUMNS), COLUMNS)
            y_m = south + side * (depth + CORRIDOR_M)
            name = f"Room {storey}.{number + 1:03}"
            found.append(_room(f"{level}-{number + 1}", name, LOBBY_M + column * width, y_m, width, depth))
    size = {"width_m": LOBBY_M + COLUMNS * width, "height_m": height}
    return {"id": level, "name": f"Level {storey}", **size, "rooms": found}


def _room(id_: str, name: str, x_m: float, y_m: float, width: float, depth: float) -> dict[str, Any]:
    corners = [[x_m, y_m], [x_m + width, y_m], [x_m + width, y_m + depth], [x_m, y_m + depth]]
    return {"id": id_, "name": name, "polygon": corners}


def _place(level: str, room: dict[str, Any], share: float) -> dict[str, Any]:
    """A place in a room, at a share of its width and depth."""
    (west, south), _, (east, north), _ = room["polygon"]
    x_m, y_m = west + share * (east - west), south + share * (north - south)
    return {"level": level, "room": room["id"], "x_m": round(x_m, 2), "y_m": round(y_m, 2)}


def _mixed(rooms: list[OfLevel]) -> list[OfLevel]:
    """The same rooms in an order of which each beginning is spread evenly: steps of the golden section."""
    count = len(rooms)
    step = next(one for one in range(max(1, round(count * 0.618)), 0, -1) if math.gcd(one, count) == 1)
    return [rooms[number * step % count] for number in range(count)]


def _member(number: int) -> dict[str, Any]:
    """Every second one carries a tag, the others phones."""
    tags = {"tags": [_hex(0xD00000000000 + number)]} if number % 2 == 0 else {}
    return {"id": str(number), "name": f"Staff {number}", **tags}


def _hex(number: int) -> str:
    return f"{number:012X}"
