"""Building files of tests."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NEW_ROOM = {"id": "l1-annex", "name": "Annex", "limit": 2, "polygon": [[60, 0], [70, 0], [70, 8], [60, 8]]}
NEW_BEACON: dict[str, Any] = {"id": "A0B1C2D3E4F5", "level": "L1", "room": "l1-annex", "x_m": 65, "y_m": 4}


def add_annex(data: dict[str, Any]) -> None:
    """Add a room with a beacon to the demo building."""
    data["levels"][0]["width_m"] = 70
    data["levels"][0]["rooms"].append(NEW_ROOM)
    data["beacons"].append(NEW_BEACON)


@dataclass(frozen=True, slots=True)
class Placed:
    """A beacon or gateway in its room."""

    id: str
    level: str
    room: str


class Building:
    """Beacons, gateways, rooms, staff of one file."""

    def __init__(self, file: Path) -> None:
        self.raw: dict[str, Any] = json.loads(file.read_text())
        self.beacons = [Placed(one["id"], one["level"], one["room"]) for one in self.raw["beacons"]]
        self.gateways = [Placed(one["id"], one["level"], one["room"]) for one in self.raw["gateways"]]
        self._rooms = {room["id"]: room["name"] for level in self.raw["levels"] for room in level["rooms"]}

    def room_name(self, room: str) -> str:
        return str(self._rooms[room])

    def level_name(self, level: str) -> str:
        return next(str(one["name"]) for one in self.raw["levels"] if one["id"] == level)

    def beacons_of_two_rooms(self) -> tuple[Placed, Placed]:
        """Two beacons of different rooms."""
        first = self.beacons[0]
        return first, next(beacon for beacon in self.beacons if beacon.room != first.room)

    def tagged(self) -> tuple[str, str]:
        """A staff member who carries a tag, and the tag."""
        person = next(person for person in self.raw["staff"] if person.get("tags"))
        return str(person["id"]), str(person["tags"][0])
