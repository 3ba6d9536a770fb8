"""Drawn buildings are valid, people walk in them, and the radio is as drawn."""

import json
import subprocess
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from simulator.building import parse
from simulator.geometry import area, clearance, covers
from simulator.plan import Plan
from stack.layout import ROOT, node_folder

from accuracy.drawn import LASTS_S, PATROLS, STANDING, START_MS, Air, Device, DrawnSet, Floats, Radio, draw, heard_share
from accuracy.recorded import Advert

SEEDS = range(1, 13)
LOADER = """
const { createBuilding } = require('./flows/lib/building');
for (const file of JSON.parse(require('node:fs').readFileSync(0))) createBuilding(file, file.building);
"""


@pytest.fixture(scope="module")
def sets() -> list[DrawnSet]:
    return [draw(seed) for seed in SEEDS]


def test_a_seed_is_a_set(sets: list[DrawnSet]) -> None:
    assert draw(5) == sets[4]
    assert sets[4].recordings != sets[5].recordings
    assert {one.mode for one in sets} == {"gateway", "phone"}
    assert len({one.kind for one in sets}) > 2
    assert {len(one.building["levels"]) for one in sets} == {1, 2}


def test_the_platform_takes_the_building_files(sets: list[DrawnSet]) -> None:
    files = json.dumps([one.building for one in sets])
    command = (node_folder() / "node", "-e", LOADER)
    done = subprocess.run(command, input=files, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_rooms_devices_and_recordings_are_as_wanted(sets: list[DrawnSet]) -> None:
    for one in sets:
        rooms = parse(one.building).rooms
        assert all(4 <= len(level["rooms"]) <= 16 for level in one.building["levels"])
        assert all(area(room.polygon) + 0.01 >= 8 for room in rooms.values())
        devices: list[dict[str, Any]] = one.building["gateways"] + one.building["beacons"]
        assert len(devices) >= 3
        assert len(one.recordings) == STANDING + PATROLS
        moved = 0
        for recording in one.recordings:
            times = [advert.ts_ms for advert in recording.adverts]
            assert times == sorted(times)
            assert START_MS <= times[0] <= times[-1] <= START_MS + LASTS_S * 1000
            assert {recording.device(advert) for advert in recording.adverts} <= {device["id"] for device in devices}
            assert [second.ts_ms for second in recording.truth] == [START_MS + 1000 * at for at in range(LASTS_S)]
            for second in recording.truth:
                outline, place = rooms[second.room].polygon, (second.x_m or 0.0, second.y_m or 0.0)
                assert covers(outline, place) or clearance(outline, place) <= 0.01  # in a door, to the centimetre
            visited = len({second.room for second in recording.truth})
            assert visited == 1 or recording.name.startswith("patrol")
            moved += visited > 1
            assert heard_share(recording.adverts, one.radio) >= 0.5
        assert moved > 0


@pytest.fixture
def ideal(sets: list[DrawnSet]) -> Radio:
    """A radio without differences, shadowing or body."""
    return replace(sets[0].radio, shadowing_db=0.0, body_db=0.0, devices_db=0.0, tx_error_db=0.0, wall_db=0.0)


def levels(radio: Radio, x_m: float) -> Floats:
    """Of 300 devices at one place of a room 40 m long, for somebody who faces east."""
    square = {"id": "hall", "name": "Hall", "polygon": [[0, 0], [40, 0], [40, 20], [0, 20]]}
    beyond = {"id": "beyond", "name": "Beyond", "polygon": [[40, 0], [60, 0], [60, 20], [40, 20]]}
    level = {"id": "L", "name": "L", "width_m": 60, "height_m": 20, "rooms": [square, beyond]}
    plan = Plan(parse({"building": "B", "levels": [level], "beacons": [], "gateways": [], "staff": []}))
    rooms = list(plan.building.rooms.values())
    devices = [Device(f"d{k}", rooms[0], 10.0, 10.0) for k in range(300)]
    air = Air(plan, devices, radio, np.random.default_rng(3))
    place = np.full((1, 300, 2), (x_m, 10.0))
    found: Floats = air.levels(np.full((1, 300), int(x_m > 40)), place, np.full((1, 300, 2), (1.0, 0.0)))[0]
    return found


def test_levels_are_as_the_facts_say(ideal: Radio) -> None:
    for exponent in (1.6, 4.0):
        near, far = (levels(replace(ideal, exponent=exponent), x_m) for x_m in (12.0, 18.0))
        assert near - far == pytest.approx(10 * exponent * np.log10(np.hypot(8, 1) / np.hypot(2, 1)))
    walled = levels(ideal, 50.0) - levels(replace(ideal, wall_db=7.0), 50.0)
    assert walled == pytest.approx(7.0)
    behind, ahead = (levels(replace(ideal, body_db=8.0), x_m) - levels(ideal, x_m) for x_m in (30.0, 0.1))
    assert (ahead - behind).mean() == pytest.approx(8.0, abs=0.3)
    shadow = levels(replace(ideal, shadowing_db=5.0), 30.0) - levels(ideal, 30.0)
    assert shadow.std() == pytest.approx(5.0, rel=0.15)
    assert np.ptp(levels(replace(ideal, devices_db=6.0), 30.0)) == pytest.approx(12, abs=0.3)


def test_somebody_is_heard_just_now(ideal: Radio) -> None:
    def every(seconds: float, to_s: float) -> tuple[Advert, ...]:
        return tuple(Advert(START_MS + round(1000 * at), "g", "t", -60) for at in np.arange(0.0, to_s, seconds))

    assert heard_share(every(0.9, 300.0), replace(ideal, adverts_per_s=10.0)) == pytest.approx(0.5, abs=0.01)
    assert heard_share(every(9.0, 600.0), replace(ideal, adverts_per_s=0.2)) == 1.0
    assert heard_share((), ideal) == 0.0
