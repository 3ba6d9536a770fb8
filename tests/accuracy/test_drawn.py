"""Drawn buildings are valid, people walk only possible routes, and the radio matches the drawn facts."""

import json
import subprocess
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise, takewhile
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from simulator.building import Room, parse
from simulator.geometry import area, clearance, covers, shared_wall
from stack.layout import ROOT, node_folder

from accuracy.drawn import PATROLS, STANDING, START_MS, Facts, draw, heard_share
from accuracy.drawn_plan import Border, Plan, Track, draw_plan, patrol, standing
from accuracy.drawn_radio import Adverts, Air, Device, Radio, draw_radio

SEEDS = range(1, 41)
Floats = NDArray[np.float64]
LOADER = """
const { createBuilding } = require('./flows/lib/building');
for (const file of JSON.parse(require('node:fs').readFileSync(0))) createBuilding(file, file.building);
"""


@pytest.fixture(scope="module")
def sets() -> list[tuple[dict[str, Any], Facts]]:
    """Building files and facts of 40 seeds; the readings are not kept."""
    return [(one.building, one.facts) for one in map(draw, SEEDS)]


def test_a_seed_is_a_set() -> None:
    first, other = draw(5), draw(6)
    assert draw(5) == first
    assert other.building != first.building
    assert other.recordings != first.recordings


def test_the_platform_takes_the_building_files(sets: list[tuple[dict[str, Any], Facts]]) -> None:
    files = json.dumps([file for file, _ in sets])
    command = (node_folder() / "node", "-e", LOADER)
    done = subprocess.run(command, input=files, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_buildings_are_of_the_sizes_wanted(sets: list[tuple[dict[str, Any], Facts]]) -> None:
    for file, facts in sets:
        rooms = parse(file).rooms
        for level in file["levels"]:
            assert 4 <= len(level["rooms"]) <= 16
        for room in rooms.values():
            assert 8 <= area(room.polygon) + 0.01 <= 400.02, room.id
        devices = file["gateways"] + file["beacons"]
        assert len(devices) == facts["devices"]
        assert len(devices) >= 3
        assert {one["level"] for one in devices} == {level["id"] for level in file["levels"]}
        for one in devices:
            assert covers(rooms[one["room"]].polygon, (one["x_m"], one["y_m"])), one["id"]
            assert one.get("approximate", False) == facts["positions_missing"]


def test_what_is_drawn_is_spread(sets: list[tuple[dict[str, Any], Facts]]) -> None:
    def min_and_max(fact: str) -> tuple[float, float]:
        drawn = [float(facts[fact]) for _, facts in sets]
        return min(drawn), max(drawn)

    for fact, low, high in (
        ("exponent", 2.0, 3.4),
        ("wall_db", 4.0, 10.0),
        ("tx_error_db", -9.0, 9.0),
        ("body_db", 2.0, 8.0),
        ("shadowing_db", 3.0, 7.0),
        ("fading_db", 2.6, 5.4),
        ("adverts_per_s", 0.4, 5.0),
        ("lost_share", 0.1, 0.35),
        ("sensitivity_dbm", -98.0, -88.0),
        ("devices_a_room", 0.5, 1.5),
        ("area_m2", 150.0, 600.0),
    ):
        lowest, highest = min_and_max(fact)
        assert lowest < low, fact
        assert highest > high, fact
    assert {facts["plan"] for _, facts in sets} == {"corridor", "open", "flat", "hall"}
    assert {facts["levels"] for _, facts in sets} == {1, 2}
    assert {facts["positions_missing"] for _, facts in sets} == {False, True}
    assert {bool(file["gateways"]) for file, _ in sets} == {False, True}


def test_recordings_are_in_order_and_heard() -> None:
    for seed in (1, 2, 3):
        one = draw(seed)
        rooms = parse(one.building).rooms
        manners = [recording.name.split("-")[0] for recording in one.recordings]
        assert manners == ["standing"] * STANDING + ["patrol"] * PATROLS
        fixed = {device["id"] for device in one.building["gateways"] + one.building["beacons"]}
        for recording in one.recordings:
            times = [ts for ts, *_ in recording.adverts]
            assert times == sorted(times)
            assert START_MS <= times[0] <= times[-1] <= START_MS + 600_000
            for _, receiver, beacon, rssi in recording.adverts:
                assert (receiver if one.mode == "gateway" else beacon) in fixed
                assert -110 <= rssi <= -20
            assert [second.ts_ms for second in recording.truth] == list(range(START_MS, START_MS + 600_000, 1000))
            for second in recording.truth:
                outline, place = rooms[second.room].polygon, (second.x_m or 0.0, second.y_m or 0.0)
                assert covers(outline, place) or clearance(outline, place) <= 0.01  # in a door, to the centimetre
            assert len({second.room for second in recording.truth}) == 1 or recording.name.startswith("patrol")


def test_somebody_is_heard_just_now() -> None:
    radio = draw_radio(np.random.default_rng(1))
    assert heard_share(np.arange(0.0, 300.0, 0.9), replace(radio, adverts_per_s=10.0)) == pytest.approx(0.5, abs=0.01)
    assert heard_share(np.arange(0.0, 600.0, 9.0), replace(radio, adverts_per_s=0.2)) == 1.0
    assert heard_share(np.empty(0), radio) == 0.0


def test_patrols_go_through_doors_and_openings_only() -> None:
    moved = 0
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        plan = draw_plan(rng)
        legs = list(takewhile(lambda leg: leg.start_s < 1200, patrol(plan, rng)))
        for leg in legs:
            assert covers(leg.room.polygon, leg.start)
            assert covers(leg.room.polygon, leg.end)
        for a, b in pairwise(legs):
            assert a.end_s == b.start_s
            if a.room is b.room:
                assert a.end == b.start
                continue
            moved += 1
            if a.room.level != b.room.level:
                assert {a.room.kind, b.room.kind} == {"core"}
                continue
            assert a.end == b.start
            assert shared_wall(a.room.polygon, b.room.polygon)[0] > 0
            border = plan.neighbours()[a.room.id][b.room.id]
            assert border is not None
            assert border.open or a.end == border.door
    assert moved > 300


def two_rooms(levels: int = 1) -> Plan:
    """A wall without a door at x = 20 between two rooms of 20 m by 20 m, on each level."""
    rooms, borders = {}, []
    for level in range(levels):
        pair = (f"west{level}", f"east{level}")
        for room_id, (w, e) in zip(pair, ((0.0, 20.0), (20.0, 40.0)), strict=True):
            rooms[room_id] = Room(room_id, room_id, level, "room", ((w, 0.0), (e, 0.0), (e, 20.0), (w, 20.0)))
        borders.append(Border(level, pair, (20.0, 0.0), (20.0, 20.0), open=False, door=None))
    return Plan("open", levels, 40.0, 20.0, rooms, tuple(borders), ())


def levels_at(radio: Radio, x_m: float, plan: Plan, level: int = 0) -> Floats:
    """Levels of 500 devices at one place (10, 10), 1.1 m high, carried by a person facing east."""
    devices = [Device(f"d{k}", "west0", 0, 10.0, 10.0, 1.1) for k in range(500)]
    air = Air(plan, devices, radio, np.random.default_rng(3))
    found: Floats = air.levels(np.array([level]), np.array([[x_m, 10.0]]), np.array([[1.0, 0.0]]))[0]
    return found


@pytest.fixture
def ideal() -> Radio:
    """A radio without shadowing or body, with full reception."""
    radio = draw_radio(np.random.default_rng(1))
    return replace(radio, shadowing_db=0.0, body_db=0.0, sensitivity_dbm=-200.0, adverts_per_s=5.0)


def test_levels_fall_with_distance_as_the_facts_say(ideal: Radio) -> None:
    for exponent in (1.6, 4.0):
        radio = replace(ideal, exponent=exponent)
        near, far = (levels_at(radio, x_m, two_rooms()) for x_m in (12.0, 18.0))
        assert near - far == pytest.approx(10 * exponent * np.log10(4))
    at_1m = levels_at(replace(ideal, tx_error_db=5.0), 11.0, two_rooms())
    assert at_1m.mean() == pytest.approx(-54, abs=0.5)
    assert np.ptp(at_1m) == pytest.approx(12, abs=0.2)


def test_walls_and_floors_and_bodies_take_what_the_facts_say(ideal: Radio) -> None:
    plan = two_rooms()
    opened = replace(plan, borders=tuple(replace(border, open=True) for border in plan.borders))
    for wall_db in (2.0, 12.0):
        radio = replace(ideal, wall_db=wall_db)
        lost = levels_at(radio, 25.0, opened) - levels_at(radio, 25.0, plan)
        assert 0.7 * wall_db <= lost[0] <= 1.3 * wall_db
        assert lost == pytest.approx(lost[0])
        assert levels_at(radio, 15.0, opened) == pytest.approx(levels_at(radio, 15.0, plan))
    radio = replace(ideal, floor_db=20.0, storey_m=3.0)
    above, beside = levels_at(radio, 10.0, two_rooms(2), level=1), levels_at(radio, 13.0, plan)
    assert beside - above == pytest.approx(20.0)
    behind, before = (levels_at(replace(ideal, body_db=8.0), x_m, plan) for x_m in (13.0, 7.0))  # facing east
    assert before - behind == pytest.approx(8.0)


def test_doors_let_through_in_a_third_of_the_buildings(ideal: Radio) -> None:
    plan = two_rooms()
    with_door = replace(plan, borders=(replace(plan.borders[0], door=(20.0, 10.0)),))
    devices = [Device("d", "west0", 0, 10.0, 10.0, 1.1)]
    radio = replace(ideal, wall_db=10.0)
    seen = np.array([[25.0, 10.0], [25.0, 13.0]])  # through the door, and past it
    passed = []
    for seed in range(300):
        air = Air(with_door, devices, radio, np.random.default_rng(seed))
        through, past = air.levels(np.zeros(2, int), seen, np.array([[1.0, 0.0]] * 2))[:, 0]
        passed.append(through - past > 5)
    assert np.mean(passed) == pytest.approx(1 / 3, abs=0.1)


def test_places_are_good_and_bad_as_the_facts_say(ideal: Radio) -> None:
    radio = replace(ideal, shadowing_db=5.0, shadowing_m=2.0)
    here, near, far = (
        levels_at(radio, x_m, two_rooms()) - levels_at(replace(radio, shadowing_db=0.0), x_m, two_rooms())
        for x_m in (13.0, 15.0, 19.5)
    )
    assert here.std() == pytest.approx(5.0, rel=0.15)
    assert np.corrcoef(here, near)[0, 1] == pytest.approx(np.exp(-1), abs=0.12)
    assert abs(np.corrcoef(here, far)[0, 1]) < 0.2


def heard(radio: Radio) -> Adverts:
    """Adverts in ten minutes of a patrol."""
    plan = two_rooms()
    plan = replace(plan, borders=(replace(plan.borders[0], door=(20.0, 10.0)),))
    devices = [Device(f"d{k}", "west0", 0, 3.0 + 4 * k, 7.0, 2.0) for k in range(4)]
    track = Track(patrol(plan, np.random.default_rng(1)), 600)
    return Air(plan, devices, radio, np.random.default_rng(2)).adverts(track, "phone", np.random.default_rng(3))


def test_a_stronger_transmitter_moves_all_readings_alike(ideal: Radio) -> None:
    quiet = replace(ideal, tx_error_db=-15.0, sensitivity_dbm=-95.0, shadowing_db=4.0)
    loud = replace(quiet, tx_error_db=-8.0, sensitivity_dbm=-88.0)
    one, other = heard(quiet), heard(loud)
    assert np.array_equal(one.times_s, other.times_s)
    assert np.array_equal(one.device, other.device)
    assert np.array_equal(one.rssi + 7, other.rssi)
    assert len(heard(replace(loud, sensitivity_dbm=-95.0)).rssi) > len(other.rssi) > 1000


@pytest.mark.parametrize("of", [standing, patrol])
def test_adverts_fade_and_get_lost_as_the_facts_say(ideal: Radio, of: Callable[..., Any]) -> None:
    plan = two_rooms()
    plan = replace(plan, borders=(replace(plan.borders[0], open=True),))
    radio = replace(ideal, exponent=0.0, fading_db=4.0, lost_share=0.3, burst_every_s=1e9, adverts_per_s=5.0)
    track = Track(of(plan, np.random.default_rng(1)), 600)
    devices = [Device(f"d{k}", "west0", 0, 3.0, 7.0, 2.0) for k in range(20)]
    for mode in ("gateway", "phone"):
        found = Air(plan, devices, radio, np.random.default_rng(2)).adverts(track, mode, np.random.default_rng(3))
        assert len(found.rssi) / (20 * 5 * 600) == pytest.approx(0.7, abs=0.03)
        first = found.rssi[found.device == 0]
        assert first.std() == pytest.approx(4.0, rel=0.1)
        assert ((first - first.mean()) ** 3).mean() < 0  # deep fades are deeper than peaks are high
        deaf = replace(radio, burst_every_s=10.0, burst_s=10.0)  # half of the time nine of ten adverts are missed
        bursts = Air(plan, devices, deaf, np.random.default_rng(2)).adverts(track, mode, np.random.default_rng(3))
        assert len(bursts.rssi) / (20 * 5 * 600) == pytest.approx((0.7 + 0.1) / 2, abs=0.1)
        alike = len(np.unique(found.times_s)) / len(found.times_s)
        assert alike < 0.1 if mode == "gateway" else alike > 0.99
