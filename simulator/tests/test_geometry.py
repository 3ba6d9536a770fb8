"""Geometry with rooms of complex shape: skylines are polygons with many inward corners."""

import math
from itertools import pairwise

import pytest
from cli import seeded_rng
from hypothesis import given
from hypothesis import strategies as st
from simulator.geometry import (
    Point,
    area,
    clearance,
    covers,
    has_line_of_sight,
    middle,
    path_inside,
    random_point,
    shared_wall,
)

COLUMN_M = 3.0
heights = st.lists(st.integers(2, 12).map(float), min_size=1, max_size=7)
seeds = st.integers(0, 2**32)


def skyline(columns: list[float]) -> list[Point]:
    """A floor at y = 0 with adjacent columns of the given heights; no repeated corner, none on a straight line."""
    top: list[Point] = []
    for number, height in enumerate(columns):
        if number and columns[number - 1] == height:
            top.pop()
        else:
            top.append((number * COLUMN_M, height))
        top.append(((number + 1) * COLUMN_M, height))
    return [(0.0, 0.0), *top, (len(columns) * COLUMN_M, 0.0)]


@given(heights)
def test_area_and_middle(columns: list[float]) -> None:
    room = skyline(columns)
    assert area(room) == pytest.approx(sum(columns) * COLUMN_M)
    assert area(room[::-1]) == pytest.approx(area(room))
    assert covers(room, middle(room))
    assert clearance(room, middle(room)) > 0.1


@given(heights, st.floats(-1, 25), st.floats(-1, 14))
def test_covers(columns: list[float], x: float, y: float) -> None:
    column = math.floor(x / COLUMN_M)
    inside = 0 <= column < len(columns) and 0 < y < columns[column]
    on_border = clearance(skyline(columns), (x, y)) < 1e-5
    assert covers(skyline(columns), (x, y)) == inside or on_border


@given(heights, seeds)
def test_some_point_is_inside_and_off_the_walls(columns: list[float], seed: int) -> None:
    room = skyline(columns)
    point = random_point(room, seeded_rng(seed))
    assert covers(room, point)
    assert clearance(room, point) >= 0.5


@given(heights, seeds, st.booleans())
def test_paths_stay_inside_and_are_no_longer_than_along_the_floor(
    columns: list[float], seed: int, clockwise: bool
) -> None:
    rng = seeded_rng(seed)
    room = skyline(columns)[:: -1 if clockwise else 1]
    a, b = random_point(room, rng), random_point(room, rng)
    way = path_inside(room, a, b)
    assert (way[0], way[-1]) == (a, b)
    assert all(has_line_of_sight(room, first, second) for first, second in pairwise(way))
    length = sum(math.dist(first, second) for first, second in pairwise(way))
    assert math.dist(a, b) <= length + 1e-9
    assert length <= (a[1] + b[1] + abs(a[0] - b[0])) + 1e-9


def test_a_path_around_a_corner() -> None:
    ell = [(0.0, 0.0), (10.0, 0.0), (10.0, 2.0), (2.0, 2.0), (2.0, 10.0), (0.0, 10.0)]
    assert not has_line_of_sight(ell, (1, 9), (9, 1))
    assert has_line_of_sight(ell, (1, 9), (1, 1))
    assert has_line_of_sight(ell, (0, 10), (2, 2))  # touches the inward corner only
    way = path_inside(ell, (1, 9), (9, 1))
    assert len(way) == 3
    assert way[1] == pytest.approx((2 - 0.3 / math.sqrt(2), 2 - 0.3 / math.sqrt(2)))


def test_shared_wall() -> None:
    square = [(0.0, 0.0), (4.0, 0.0), (4.0, 4.0), (0.0, 4.0)]
    beside = [(4.0, 1.0), (8.0, 1.0), (8.0, 9.0), (4.0, 9.0)]
    assert shared_wall(square, beside) == (3.0, (4.0, 2.5))
    assert shared_wall(beside, square) == (3.0, (4.0, 2.5))
    assert shared_wall(square, [(5.0, 0.0), (8.0, 0.0), (8.0, 4.0)])[0] == 0
    assert shared_wall(square, [(4.0, 4.0), (8.0, 4.0), (8.0, 8.0)])[0] == 0
