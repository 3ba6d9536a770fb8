"""A simulated recording with known rooms and known errors of gateways, stored like a real one."""

import json
import math
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stack.layout import ROOT

WALKER = "33"
ID, NAME = "00c0ffee0001", "calibrating"
VISIT_S = 30
ROOMS = 9
WRONG_DB = 20
"""A wrong offset in the building file for every third gateway."""


def wrong_building() -> dict[str, Any]:
    """The demo building with wrong offsets."""
    building: dict[str, Any] = json.loads((ROOT / "flows" / "building" / "demo.json").read_text())
    for number, gateway in enumerate(building["gateways"]):
        if number % 3 == 0:
            gateway["rssi_offset"] = WRONG_DB
    return building


@dataclass(frozen=True, slots=True)
class KnownWalk:
    """Half a minute in each of some rooms of the lowest level, twice."""

    building: dict[str, Any]
    ended_ms: int

    def keep(self, folder: Path) -> None:
        """Store it with the recordings in `folder`, which the flows read at their start."""
        level = self.building["levels"][0]
        rooms = level["rooms"][:ROOMS]
        visits = [*rooms, *reversed(rooms)]
        started_ms = self.ended_ms - len(visits) * VISIT_S * 1000
        chance = random.Random(7)  # noqa: S311 - play, not secrets
        rows = [
            row for v, room in enumerate(visits) for row in self._rows(room, started_ms + v * VISIT_S * 1000, chance)
        ]
        taps = [
            {"tap": f"t{v}", "ts": started_ms + v * VISIT_S * 1000, "room": room["id"]} for v, room in enumerate(visits)
        ]
        walker = next(one for one in self.building["staff"] if one["id"] == WALKER)
        staff = [{"id": WALKER, "name": "Walker", "tags": walker["tags"]}]
        levels = [{key: value for key, value in one.items() if key != "plan"} for one in self.building["levels"]]
        about = {"id": ID, "name": NAME, "staff_id": WALKER, "by": "test", "started_ms": started_ms,
                 "stopped_ms": self.ended_ms, "stopped_because": "asked", "gateway_readings": len(rows),
                 "phone_readings": 0, "last_reading_ms": self.ended_ms, "lost_readings": 0, "outside_readings": 0,
                 "bytes": sum(map(len, rows)), "taps": taps}  # fmt: skip
        home = folder / ID
        home.mkdir(mode=0o700, parents=True)
        (home / "building.json").write_text(json.dumps({**self.building, "staff": staff, "levels": levels}))
        (home / "readings.csv").write_text("".join(rows))
        (home / "recording.json").write_text(json.dumps(about))

    def _rows(self, room: dict[str, Any], from_ms: int, chance: random.Random) -> list[str]:
        """Readings of the level's gateways for a person in the middle of a room: distance, walls, noise."""
        walker = next(one for one in self.building["staff"] if one["id"] == WALKER)
        x, y = (sum(corner[axis] for corner in room["polygon"]) / len(room["polygon"]) for axis in (0, 1))
        rows = []
        for gateway in (one for one in self.building["gateways"] if one["level"] == self.building["levels"][0]["id"]):
            metres = max(1, math.hypot(gateway["x_m"] - x, gateway["y_m"] - y, 1.2))
            walls = 0 if gateway["room"] == room["id"] else 8
            lasting = chance.gauss(0, 2)
            for second in range(VISIT_S):
                rssi = round(-59 - 22 * math.log10(metres) - walls + lasting + chance.gauss(0, 3))
                if rssi > -90:
                    ts = from_ms + second * 1000 + 500
                    rows.append(f"{ts},gateway,{gateway['id']},{walker['tags'][0]},{rssi}\n")
        return rows
