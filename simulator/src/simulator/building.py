"""Reads the building file into records. Reading is strict: an error names the first fault's place in the file."""

import json
import math
import re
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from gateway_agent.beacon_id import REGISTERED
from gateway_agent.text_file import EncodingError, read_text

from simulator.geometry import Point, area
from simulator.message import PLAIN_ID

DEFAULT_TX = -59  # dBm at 1 m: the schema's default for `tx`
NAME = r"[\s\S]+"
KINDS = ("room", "corridor", "lobby", "core")


class BuildingError(Exception):
    """The building file cannot be used; the message names the file, the key and the fault."""


@dataclass(frozen=True, slots=True)
class Room:
    """A room; `level` is the index of its level, lowest first."""

    id: str
    name: str
    level: int
    kind: str
    polygon: tuple[Point, ...]

    @property
    def is_passage(self) -> bool:
        """Whether people walk through it on their way elsewhere."""
        return self.kind != "room"


@dataclass(frozen=True, slots=True)
class Beacon:
    """A fixed beacon; `tx` is the RSSI in dBm that a receiver 1 m away measures."""

    id: str
    room: str
    x_m: float
    y_m: float
    tx: int


@dataclass(frozen=True, slots=True)
class Gateway:
    """A fixed gateway. The locator adds `rssi_offset` (dB) to what it hears; `min_rssi` (dBm, after that) None: all."""

    id: str
    room: str
    x_m: float
    y_m: float
    rssi_offset: float = 0.0
    min_rssi: int | None = None
    window_ms: int = 1000


@dataclass(frozen=True, slots=True)
class Building:
    """A whole building: level ids lowest first, rooms and gateways by id, the ids of staff, and who has which tags."""

    name: str
    levels: tuple[str, ...]
    rooms: dict[str, Room]
    beacons: tuple[Beacon, ...]
    gateways: dict[str, Gateway]
    staff: tuple[str, ...]
    tags: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Beacon ids by staff id; who has none is not in it."""

    @property
    def registered(self) -> frozenset[str]:
        """All beacons that the file knows, tags included."""
        return frozenset([beacon.id for beacon in self.beacons] + [tag for tags in self.tags.values() for tag in tags])


def load(path: Path) -> Building:
    """Read and check a building file. Raises BuildingError."""
    try:
        document = json.loads(read_text(path))
    except OSError as error:
        raise BuildingError(f"{path}: cannot be read: {error.strerror}") from error
    except EncodingError as error:
        raise BuildingError(f"{path}: {error}") from error
    except (ValueError, RecursionError) as error:  # what is nested thousands deep is no building
        raise BuildingError(f"{path}: is not JSON: {error}") from error
    try:
        return parse(document)
    except BuildingError as error:
        raise BuildingError(f"{path}: {error}") from error


def parse(document: Any) -> Building:
    """Make records of the parsed JSON. Raises BuildingError, which names the key."""
    root = _Node(document, "")
    rooms: dict[str, Room] = {}
    levels: list[str] = []
    for index, level in enumerate(root["levels"].items()):
        levels.append(level["id"].text(PLAIN_ID))
        for node in level["rooms"].items():
            room = _room(node, index)
            if room.id in rooms:
                raise node["id"].fault(f"{room.id!r} is used twice")
            rooms[room.id] = room
    if not rooms:
        raise root["levels"].fault("there is no room in the building")
    beacons = tuple(_beacon(node, rooms, levels) for node in root["beacons"].items())
    gateways = {one.id: one for one in (_gateway(node, rooms, levels) for node in root["gateways"].items())}
    staff = tuple(node["id"].text(PLAIN_ID) for node in root["staff"].items())
    tags = {node["id"].text(PLAIN_ID): _tags(node) for node in root["staff"].items() if node.has("tags")}
    carried = {staff_id: ids for staff_id, ids in tags.items() if ids}
    return Building(root["building"].text(NAME), tuple(levels), rooms, beacons, gateways, staff, carried)


def _room(node: "_Node", level: int) -> Room:
    corners = tuple(_point(corner) for corner in node["polygon"].items())
    if len(corners) < 3 or area(corners) < 1e-6:
        raise node["polygon"].fault("is no area: at least three corners that do not lie on one line")
    if any(first == second for first, second in pairwise((*corners, corners[0]))):
        raise node["polygon"].fault("repeats a corner")
    kind = node["kind"].text("|".join(KINDS)) if node.has("kind") else "room"
    return Room(node["id"].text(PLAIN_ID), node["name"].text(NAME), level, kind, corners)


def _point(node: "_Node") -> Point:
    numbers = [number.number() for number in node.items()]
    if len(numbers) != 2:
        raise node.fault(f"is not [x, y] in metres but has {len(numbers)} numbers")
    return numbers[0], numbers[1]


def _room_of(node: "_Node", rooms: dict[str, Room], levels: list[str]) -> str:
    """The room in which a device hangs."""
    room = node["room"].text(PLAIN_ID)
    if room not in rooms:
        raise node["room"].fault(f"there is no room {room!r}")
    if node["level"].text(PLAIN_ID) != levels[rooms[room].level]:
        raise node["level"].fault(f"room {room!r} is on level {levels[rooms[room].level]!r}")
    return room


def _beacon(node: "_Node", rooms: dict[str, Room], levels: list[str]) -> Beacon:
    room = _room_of(node, rooms, levels)
    tx = round(node["tx"].number()) if node.has("tx") else DEFAULT_TX
    return Beacon(node["id"].text(REGISTERED), room, node["x_m"].number(), node["y_m"].number(), tx)


def _gateway(node: "_Node", rooms: dict[str, Room], levels: list[str]) -> Gateway:
    return Gateway(
        node["id"].text(PLAIN_ID),
        _room_of(node, rooms, levels),
        node["x_m"].number(),
        node["y_m"].number(),
        node["rssi_offset"].number() if node.has("rssi_offset") else 0.0,
        round(node["min_rssi"].number()) if node.has("min_rssi") else None,
        round(node["window_ms"].number()) if node.has("window_ms") else 1000,
    )


def _tags(node: "_Node") -> tuple[str, ...]:
    return tuple(tag.text(REGISTERED) for tag in node["tags"].items())


class _Node:
    """A value of the document with its place, for error messages."""

    def __init__(self, value: Any, place: str) -> None:
        self._value = value
        self._place = place

    def fault(self, what: str) -> BuildingError:
        return BuildingError(f"{self._place or 'the document'}: {what}")

    def has(self, key: str) -> bool:
        return isinstance(self._value, dict) and key in self._value

    def __getitem__(self, key: str) -> "_Node":
        if not isinstance(self._value, dict):
            raise self.fault("is not an object")
        if key not in self._value:
            raise self.fault(f"{key!r} is missing")
        return _Node(self._value[key], f"{self._place}.{key}".lstrip("."))

    def items(self) -> list["_Node"]:
        if not isinstance(self._value, list):
            raise self.fault("is not a list")
        return [_Node(value, f"{self._place}[{index}]") for index, value in enumerate(self._value)]

    def text(self, pattern: str) -> str:
        if not isinstance(self._value, str) or not re.fullmatch(pattern, self._value):
            raise self.fault(f"{self._value!r} is not a string of the form {pattern}")
        return self._value

    def number(self) -> float:
        if isinstance(self._value, bool) or not isinstance(self._value, int | float) or not math.isfinite(self._value):
            raise self.fault(f"{self._value!r} is not a number")
        return float(self._value)
