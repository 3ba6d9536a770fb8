"""Recorded walks: a folder of them into a building, into batches as gateways send them, and into the truth. Pure but
for reading the files."""

import csv
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simulator.replay import Recording, outgoing, parse

from accuracy.follow import Sent
from accuracy.truth import Truth

DIVIDE_X_M, DIVIDE_Y_M = 10.1, 9.2  # the area's four rooms (README of the data)
WIDTH_M, HEIGHT_M = 20.7, 17.6
QUADRANTS = {"SW": "South-West", "SE": "South-East", "NW": "North-West", "NE": "North-East"}
START_MS = 1_700_000_000_500  # the windows end in the middle of the seconds that /extractbeacon counts in
LATENCY_MS = (10, 60)  # gateway, network and broker
WALKER = "walker"


@dataclass(frozen=True, slots=True)
class Path2d:
    """The way that was walked: times (ms of the run) and places in metres."""

    times_ms: tuple[float, ...]
    xs_m: tuple[float, ...]
    ys_m: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Walk:
    """One recorded walk, ready to be followed."""

    name: str
    sent: tuple[Sent, ...]
    truth: Truth
    path: Path2d


class DataError(Exception):
    """The folder holds no walks; the message says what is missing."""


def load(folder: Path) -> tuple[dict[str, Any], list[Walk]]:
    """The building and the walks of a folder: `gateways.csv` and one CSV for each walk. Raises DataError."""
    receivers = folder / "gateways.csv"
    if not receivers.is_file():
        raise DataError(f"{receivers} is missing (wanted: gateway,zone,x_m,y_m)")
    files = sorted(file for file in folder.glob("*.csv") if file.name != receivers.name)
    if not files:
        raise DataError(f"{folder} holds no walk (wanted: CSV files with ts_ms,gateway,beacon,rssi,x_m,y_m)")
    walks, tags = [], set()
    for file in files:
        with file.open(newline="") as lines:
            recording = parse(lines)
        with file.open(newline="") as lines:
            path = _path([(int(row["ts_ms"]), float(row["x_m"]), float(row["y_m"])) for row in csv.DictReader(lines)])
        tags |= {row.beacon for row in recording.rows}
        walks.append(_walk(file.stem, recording, path))
    with receivers.open(newline="") as lines:
        return _building(list(csv.DictReader(lines)), sorted(tags)), walks


def _building(gateways: list[dict[str, str]], tags: list[str]) -> dict[str, Any]:
    rooms = []
    for room, name in QUADRANTS.items():
        south, north = (0.0, DIVIDE_Y_M) if room[0] == "S" else (DIVIDE_Y_M, HEIGHT_M)
        west, east = (0.0, DIVIDE_X_M) if room[1] == "W" else (DIVIDE_X_M, WIDTH_M)
        polygon = [[west, south], [east, south], [east, north], [west, north]]
        rooms.append({"id": room, "name": name, "polygon": polygon})
    listed = [
        {"id": one["gateway"], "level": "L1", "room": one["zone"], "x_m": float(one["x_m"]), "y_m": float(one["y_m"])}
        for one in gateways
    ]
    level = {"id": "L1", "name": "Hall", "width_m": WIDTH_M, "height_m": HEIGHT_M, "rooms": rooms}
    staff = [{"id": WALKER, "name": "Walker", "tags": tags}]
    return {"building": "Recorded walks", "levels": [level], "beacons": [], "gateways": listed, "staff": staff}


def quadrant(x_m: float, y_m: float) -> str:
    """The room of a place."""
    return ("S" if y_m < DIVIDE_Y_M else "N") + ("W" if x_m < DIVIDE_X_M else "E")


def _path(rows: list[tuple[int, float, float]]) -> Path2d:
    rows.sort()
    first = rows[0][0]
    times, xs, ys = zip(*((START_MS + ts - first, x, y) for ts, x, y in rows), strict=True)
    return Path2d(times, xs, ys)


def _walk(name: str, recording: Recording, path: Path2d) -> Walk:
    """Batches at the end of each gateway's windows, as `simulator replay` and a gateway agent make them."""
    rng = random.Random(name)  # noqa: S311 - play, not secrets
    gateways = recording.gateways()
    sent = []
    for one in outgoing(recording, 1):
        ts = START_MS + one.offset_ms
        sent.append(Sent(ts + rng.uniform(*LATENCY_MS), "gateway", gateways[one.sender].id, ts, one.readings))
    rooms = [(ms, quadrant(x, y)) for ms, x, y in zip(path.times_ms, path.xs_m, path.ys_m, strict=True)]
    end_ms = max(one.ts for one in sent)
    return Walk(name, tuple(sorted(sent, key=lambda one: one.now_ms)), Truth.of(rooms, end_ms), path)


def strongest(walk: Walk, building: dict[str, Any]) -> list[str]:
    """The usual simple way, to compare with: at each of the walk's moments the room of the strongest reading of the
    last second ('' before the first)."""
    room_of = {gateway["id"]: gateway["room"] for gateway in building["gateways"]}
    best: dict[int, tuple[int, str]] = {}
    for one in walk.sent:
        for _, rssi in one.readings:
            best[one.ts] = max(best.get(one.ts, (-999, "")), (rssi, room_of[one.receiver]))
    rooms, last = [], ""
    for ms in walk.truth.moments():
        last = best.get(round(ms), (0, last))[1]
        rooms.append(last)
    return rooms
