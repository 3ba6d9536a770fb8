"""Walks stay in the building, at walking pace, without a gap in time or place, the same for the same seed."""

import itertools
import math

from cli import seeded_rng
from hypothesis import given
from hypothesis import strategies as st
from simulator.building import Building, Room
from simulator.geometry import covers
from simulator.plan import Plan
from simulator.walk import BREAK_ROOMS, FASTEST_M_S, LIFT_S_PER_LEVEL, LONGEST_STAY_S, Leg, Walk, legs, spot

seeds = st.integers(0, 2**32)


def first_legs(plan: Plan, seed: int, seconds: float) -> list[Leg]:
    return list(itertools.takewhile(lambda leg: leg.start_s < seconds, legs(plan, seeded_rng(seed))))


def assert_whole(walk: list[Leg]) -> None:
    """Inside, at walking pace, continuous; levels change only inside lifts."""
    assert walk[0].start_s == 0
    for leg in walk:
        assert leg.end_s >= leg.start_s
        assert math.dist(leg.start, leg.end) <= FASTEST_M_S * (leg.end_s - leg.start_s) + 1e-9
        assert abs(math.hypot(*leg.heading) - 1) < 1e-9
        for share in (0, 0.25, 0.5, 0.75, 1):
            at = spot(leg, leg.start_s + share * (leg.end_s - leg.start_s))
            assert covers(leg.room.polygon, (at.x_m, at.y_m)), (leg, share)
    for before, after in itertools.pairwise(walk):
        assert before.end_s == after.start_s
        if before.room.level == after.room.level:
            assert before.end == after.start
        else:
            assert (before.room.kind, after.room.kind) == ("core", "core")
            assert abs(before.room.level - after.room.level) == 1


@given(seeds)
def test_walks_through_the_demo_building(plan: Plan, seed: int) -> None:
    assert_whole(first_legs(plan, seed, 1800))


@st.composite
def grids(draw: st.DrawFn) -> Building:
    """Levels of square rooms of any kind, with gaps."""
    rooms = []
    levels = draw(st.integers(1, 3))
    for level, column, row in itertools.product(range(levels), range(3), range(3)):
        if kind := draw(st.sampled_from(["room", "room", "corridor", "lobby", "core", ""])):
            x, y = column * 4.0, row * 4.0
            square = ((x, y), (x + 4, y), (x + 4, y + 4), (x, y + 4))
            rooms.append(Room(f"r{level}{column}{row}", "Room", level, kind, square))
    if not rooms:
        rooms.append(Room("only", "Only", 0, "room", ((0.0, 0.0), (4.0, 0.0), (4.0, 4.0))))
    names = tuple(f"L{level}" for level in range(levels))
    return Building("Grid", names, {room.id: room for room in rooms}, (), {}, ())


@given(grids(), seeds)
def test_walks_through_any_building(building: Building, seed: int) -> None:
    grid_plan = Plan(building)
    walk = first_legs(grid_plan, seed, 600)
    for before, after in itertools.pairwise(walk):
        assert before.end_s == after.start_s
        same = before.room is after.room
        by_door = after.room.id in grid_plan.doors[before.room.id] and before.end == after.start
        by_lift = after.room.id in grid_plan.lifts[before.room.id]
        assert same or by_door or by_lift
    assert all(covers(leg.room.polygon, leg.end) for leg in walk)


@given(seeds, st.lists(st.floats(0, 600), min_size=1, max_size=20).map(sorted))
def test_the_same_seed_is_the_same_walk(plan: Plan, seed: int, times_s: list[float]) -> None:
    one, other = Walk(plan, seeded_rng(seed)), Walk(plan, seeded_rng(seed))
    assert [one.at(time_s) for time_s in times_s][-1] == other.at(times_s[-1])  # calls in between change nothing


@given(seeds, st.lists(st.floats(-4, 600), min_size=1, max_size=20).map(sorted))
def test_still_s_is_the_time_since_the_last_step(plan: Plan, seed: int, times_s: list[float]) -> None:
    walk, whole = Walk(plan, seeded_rng(seed)), first_legs(plan, seed, 700)
    for time_s in times_s:
        walks = [(leg.start_s, leg.end_s) for leg in whole if leg.start != leg.end and leg.start_s < time_s]
        expected = max(0.0, time_s - walks[-1][1]) if walks else math.inf
        assert walk.still_s(time_s) == expected
        assert spot(next(leg for leg in whole if leg.end_s >= time_s), time_s) == walk.at(time_s)  # at the same time


def test_another_seed_is_another_walk(plan: Plan) -> None:
    assert first_legs(plan, 1, 300) != first_legs(plan, 2, 300)


def test_patrols_visit_the_building_and_every_level(plan: Plan) -> None:
    walks = [first_legs(plan, seed, 8 * 3600) for seed in range(5)]
    assert {leg.room.id for walk in walks for leg in walk} == set(plan.building.rooms)
    rides = [
        before.end_s - before.start_s
        for walk in walks
        for before, after in itertools.pairwise(walk)
        if before.room.level != after.room.level
    ]
    assert rides
    assert all(abs(seconds - LIFT_S_PER_LEVEL / 2) < 1e-6 for seconds in rides)


@given(seeds)
def test_breaks_are_taken_in_large_rooms_every_hour_or_so(plan: Plan, seed: int) -> None:
    walk = list(
        itertools.takewhile(lambda leg: leg.start_s < 6 * 3600, legs(plan, seeded_rng(seed), seeded_rng(seed + 1)))
    )
    assert_whole(walk)
    breaks = [leg for leg in walk if leg.end_s - leg.start_s > LONGEST_STAY_S]
    assert 2 <= len(breaks) <= 8
    rooms = {room.id for room in plan.building.rooms.values() if not room.is_passage}
    largest = sorted(rooms, key=lambda room_id: plan.areas[room_id], reverse=True)[:BREAK_ROOMS]
    assert {leg.room.id for leg in breaks} <= set(largest)
    first_s = breaks[0].start_s
    without = [leg for leg in first_legs(plan, seed, 2700) if leg.end_s < min(first_s, 2700)]
    assert walk[: len(without)] == without


def test_people_do_not_walk_through_other_peoples_rooms(plan: Plan) -> None:
    rooms = plan.building.rooms
    assert plan.route("l1-mail", "l1-clinic") == ["l1-mail", "l1-corridor", "l1-clinic"]
    assert plan.route("l1-cafe", "l3-gym")[2:] == ["l1-core", "l2-core", "l3-core", "l3-lounge", "l3-gym"]
    for a, b in itertools.permutations(("l1-cafe", "l2-hall-b", "l4-quiet", "l5-lab", "l6-legal", "l7-plant"), 2):
        assert all(rooms[room].is_passage for room in plan.route(a, b)[1:-1])
