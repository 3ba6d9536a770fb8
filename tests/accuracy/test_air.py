"""The simulated radio matches its documentation."""

import json
import random

import numpy as np
import pytest
from simulator.building import parse
from simulator.plan import Plan
from simulator.radio import FADING_DB, SHADOWING_DB
from simulator.walk import Leg, Walk, legs
from support.running import DEMO_BUILDING

from accuracy.air import Air, Fixed, deaf
from accuracy.track import Track, standing
from accuracy.walls import Walls

BUILDING = parse(json.loads(DEMO_BUILDING.read_text()))


@pytest.mark.parametrize(
    ("x_m", "y_m", "walls"), [(20, 16, 0), (23, 10, 1), (10, 16, 2), (5, 30, 2), (50, 4, 2), (50, 10, 4)]
)
def test_walls_are_counted_on_the_straight_line(x_m: float, y_m: float, walls: int) -> None:
    counted = Walls(BUILDING).between(0, (23.0, 16.0), np.array([x_m]), np.array([y_m]))
    assert counted.tolist() == [walls]


def test_level_falls_with_distance_as_free_space_and_scatters_as_said() -> None:
    room = BUILDING.rooms["l1-mart"]
    fixed = [Fixed(f"b{k}", room.id, 37.0, 24.0, -59.0) for k in range(400)]
    air = Air(BUILDING, Walls(BUILDING), fixed, 1, devices_db=0.0, wall_db=6.9)
    windows = np.arange(40.0)[:, None]
    levels = []
    for x in (40.0, 46.0):  # 3 m and 9 m away, on a line; facing east, so the body is in between all the time
        still = Track([Leg(0, 1000, room, (x, 24.0), (x, 24.0), (1.0, 0.0))], 1000)
        levels.append(air.rssi(still, windows, 1.0, np.random.default_rng(7)))
    near, far = (np.nanmedian(one) for one in levels)
    assert near - far == pytest.approx(20 * np.log10(np.hypot(9, 1.5) / np.hypot(3, 1.5)), abs=0.7)
    assert np.nanstd(np.nanmedian(levels[0], axis=0)) == pytest.approx(SHADOWING_DB, rel=0.2)
    within = levels[0] - np.nanmedian(levels[0], axis=0)
    assert np.nanmedian(np.abs(within)) / 0.6745 == pytest.approx(FADING_DB, rel=0.15)


def test_the_same_seed_gives_the_same_air() -> None:
    room = BUILDING.rooms["l1-mart"]
    track = Track(standing(room, 60, random.Random(1)), 60)  # noqa: S311 - play, not secrets
    fixed = [Fixed("b", room.id, 40.0, 30.0, -59.0)]
    once, twice = (
        Air(BUILDING, Walls(BUILDING), fixed, 3, devices_db=1.0, wall_db=6.9).rssi(
            track, np.arange(50.0)[:, None], 1.0, np.random.default_rng(5)
        )
        for _ in range(2)
    )
    assert np.array_equal(once, twice, equal_nan=True)


def test_windows_of_all_lengths_are_played_at_once() -> None:
    room = BUILDING.rooms["l1-mart"]
    walk = Track([Leg(0, 100, room, (30.0, 24.0), (44.0, 24.0), (1.0, 0.0))], 100)
    fixed = [Fixed("b", room.id, 40.0, 30.0, -59.0)]
    air = Air(BUILDING, Walls(BUILDING), fixed, 3, devices_db=1.0, wall_db=6.9)
    starts = np.arange(0.0, 96.0, 4.0)[:, None]
    for lengths in (1.0, 4.0):
        once = air.rssi(walk, starts, lengths, np.random.default_rng(5))
        each = air.rssi(walk, starts, np.full(starts.shape, lengths), np.random.default_rng(5))
        assert np.array_equal(once, each, equal_nan=True)


def test_a_track_tells_for_how_long_somebody_has_stood_as_the_simulators_walk_does() -> None:
    plan = Plan(BUILDING)
    track, walk = Track(legs(plan, random.Random(5)), 900), Walk(plan, random.Random(5))  # noqa: S311 - play
    times_s = np.arange(0.3, 899.0, 0.7).tolist()
    still = [track.still_s(time_s) for time_s in times_s]
    assert still == [walk.still_s(time_s) for time_s in times_s]
    assert 0.0 in still
    assert max(one for one in still if one < np.inf) > 30


def test_bursts_take_their_share() -> None:
    gone = deaf(np.arange(0.0, 200_000.0), np.random.default_rng(1))
    assert gone.mean() == pytest.approx(0.8 * 4 / 124, rel=0.15)
