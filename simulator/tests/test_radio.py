"""Reception follows the model, and the strongest beacon is mostly that of the room."""

from dataclasses import replace

import pytest
from cli import seeded_rng
from hypothesis import given
from hypothesis import strategies as st
from simulator.building import Building
from simulator.geometry import random_point
from simulator.message import Reading
from simulator.plan import Plan
from simulator.radio import SENSITIVITY_DBM, Radio, floor_loss_db, path_loss_db
from simulator.walk import Spot, Walk

seeds = st.integers(0, 2**32)


def levels_of(readings: tuple[Reading, ...]) -> dict[str, int]:
    """RSSI by beacon."""
    return {reading.beacon: reading.rssi for reading in readings}


@pytest.fixture(scope="module")
def radio(plan: Plan) -> Radio:
    return Radio(plan, seed=1, readings=4)


def test_losses_match_the_model() -> None:
    assert path_loss_db(1.0) == 0
    assert path_loss_db(10.0**2) == pytest.approx(20)
    assert floor_loss_db(0) == 0
    assert floor_loss_db(1) == pytest.approx(18.3)
    assert floor_loss_db(2) == pytest.approx(18.3 * 2 ** (4 / 3 - 0.46))


@given(st.data(), seeds)
def test_a_batch_is_whole(plan: Plan, radio: Radio, data: st.DataObject, seed: int) -> None:
    rng = seeded_rng(seed)
    room = plan.building.rooms[data.draw(st.sampled_from(sorted(plan.building.rooms)))]
    spot = Spot(room, *random_point(room.polygon, rng), (1.0, 0.0))
    readings = radio.scan(spot, seeded_rng(seed))
    assert readings == radio.scan(spot, seeded_rng(seed))
    assert len(readings) <= 4
    assert len({reading.beacon for reading in readings}) == len(readings)
    assert [reading.rssi for reading in readings] == sorted((reading.rssi for reading in readings), reverse=True)
    assert all(SENSITIVITY_DBM - 0.5 <= reading.rssi <= -1 for reading in readings)
    assert all(isinstance(reading.rssi, int) for reading in readings)


def test_the_seed_decides_the_shadowing(plan: Plan) -> None:
    room = plan.building.rooms["l3-canteen"]
    spot = Spot(room, 40.0, 10.0, (0.0, 1.0))
    heard = [Radio(plan, seed, 12).scan(spot, seeded_rng(5)) for seed in (1, 1, 2)]
    assert heard[0] == heard[1] != heard[2]


def test_more_power_gives_a_stronger_rssi(demo: Building, plan: Plan) -> None:
    louder = Plan(replace(demo, beacons=tuple(replace(beacon, tx=beacon.tx + 10) for beacon in demo.beacons)))
    room = demo.rooms["l2-auditorium"]
    spot = Spot(room, 45.0, 10.0, (0.0, 1.0))
    before = levels_of(Radio(plan, 1, 4).scan(spot, seeded_rng(3)))
    after = levels_of(Radio(louder, 1, 4).scan(spot, seeded_rng(3)))
    assert before.keys() == after.keys()
    assert {beacon: rssi + 10 for beacon, rssi in before.items()} == after


def test_the_body_attenuates(plan: Plan) -> None:
    """A person who faces the beacon receives it some 7 dB stronger than with the back to it."""
    beacon = next(beacon for beacon in plan.building.beacons if beacon.room == "l5-studio")
    room = plan.building.rooms["l5-studio"]
    ahead, behind = (
        [
            levels_of(Radio(plan, 1, 12).scan(Spot(room, beacon.x_m - 8, beacon.y_m, (way, 0.0)), seeded_rng(seed)))
            for seed in range(40)
        ]
        for way in (1.0, -1.0)
    )
    levels = [[heard[beacon.id] for heard in side if beacon.id in heard] for side in (ahead, behind)]
    assert 6 < sum(levels[0]) / len(levels[0]) - sum(levels[1]) / len(levels[1]) < 8


def test_the_strongest_beacon_mostly_names_the_room(plan: Plan, radio: Radio) -> None:
    rooms = {beacon.id: beacon.room for beacon in plan.building.beacons}
    total = right = wrong_level = full = 0
    for seed in range(20):
        walk, rng = Walk(plan, seeded_rng(seed)), seeded_rng(seed)
        for second in range(0, 1200, 3):
            spot = walk.at(second)
            readings = radio.scan(spot, rng)
            total += 1
            full += len(readings) == 4
            right += rooms[readings[0].beacon] == spot.room.id
            wrong_level += plan.building.rooms[rooms[readings[0].beacon]].level != spot.room.level
    assert 0.85 < right / total < 0.99  # not trivial, not hopeless
    assert wrong_level / total < 0.01
    assert full / total > 0.95
