"""The demo building matches its schema and the documentation."""

import json
from typing import Any

import pytest
from cli import DEMO_FILE
from jsonschema import Draft202012Validator
from simulator.building import Building
from simulator.geometry import clearance, covers
from simulator.plan import Plan

SCHEMA = json.loads((DEMO_FILE.parent / "building.schema.json").read_text())
STEP_M = 0.5  # all corners lie on this grid, so checking the middles of its cells finds every overlap


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(DEMO_FILE.read_text())
    return parsed


def test_follows_the_schema(document: dict[str, Any]) -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert [error.message for error in Draft202012Validator(SCHEMA).iter_errors(document)] == []


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("beacons", 0, "id"), "c2a628384b08"),
        (("beacons", 0, "colour"), "red"),
        (("levels", 0, "rooms", 0, "polygon"), [[0, 0], [1, 1]]),
        (("levels", 0, "rooms", 0, "polygon"), [[0, 0, 0], [1, 1, 0], [1, 0, 0]]),
        (("levels", 0, "rooms", 0, "id"), "a/b"),
        (("gateways", 0, "min_rssi"), -200),
        (("staff", 0, "tags"), ["x"]),
    ],
)
def test_schema_refuses(document: dict[str, Any], place: tuple[str | int, ...], value: object) -> None:
    broken = json.loads(json.dumps(document))
    node = broken
    for key in place[:-1]:
        node = node[key]
    node[place[-1]] = value
    assert not Draft202012Validator(SCHEMA).is_valid(broken)


def test_size(document: dict[str, Any], demo: Building) -> None:
    assert len(demo.levels) == 7
    assert len(demo.rooms) == 60
    assert len(demo.beacons) == 120
    assert {beacon.room for beacon in demo.beacons} == set(demo.rooms)
    assert {gateway["room"] for gateway in document["gateways"]} == set(demo.rooms)
    assert demo.staff == tuple(str(number) for number in range(50))
    assert sum(bool(staff.get("tags")) for staff in document["staff"]) == 24


def test_ids_are_unique(document: dict[str, Any]) -> None:
    beacons = [beacon["id"] for beacon in document["beacons"]]
    tags = [tag for staff in document["staff"] for tag in staff.get("tags", [])]
    receivers = [receiver["id"] for receiver in document["gateways"] + document["staff"]]
    assert len({*beacons, *tags}) == len(beacons) + len(tags)
    assert len(set(receivers)) == len(receivers)


def test_rooms_lie_in_their_level_and_do_not_overlap(document: dict[str, Any]) -> None:
    for level in document["levels"]:
        for room in level["rooms"]:
            for x, y in room["polygon"]:
                assert 0 <= x <= level["width_m"], room["id"]
                assert 0 <= y <= level["height_m"], room["id"]
                assert x % STEP_M == y % STEP_M == 0, room["id"]
        for column in range(round(level["width_m"] / STEP_M)):
            for row in range(round(level["height_m"] / STEP_M)):
                at = ((column + 0.5) * STEP_M, (row + 0.5) * STEP_M)
                here = [room["id"] for room in level["rooms"] if covers(room["polygon"], at)]
                assert len(here) <= 1, (level["id"], at, here)


def test_beacons_and_gateways_stand_in_their_rooms(document: dict[str, Any], demo: Building) -> None:
    for thing in document["beacons"] + document["gateways"]:
        room = demo.rooms[thing["room"]]
        assert demo.levels[room.level] == thing["level"]
        assert covers(room.polygon, (thing["x_m"], thing["y_m"])), thing["id"]
        assert clearance(room.polygon, (thing["x_m"], thing["y_m"])) > 0.4, thing["id"]


def test_every_room_can_be_reached_from_every_other(plan: Plan) -> None:
    rooms = tuple(sorted(plan.building.rooms))
    assert all(plan.reachable[room] == rooms for room in rooms)
