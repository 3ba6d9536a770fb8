"""A phone ends its windows every second while it moves and seldom while it lies still; it knows of the past alone."""

import itertools
import math
from bisect import bisect_left

from hypothesis import given
from hypothesis import strategies as st
from simulator.windows import INTERVAL_S, MOVED_S, MOVING_S, adaptive_ends, fixed_ends

END_S = 90.0
NEARLY = 1e-9
Walks = list[tuple[float, float]]
intervals = st.floats(*INTERVAL_S)
begins = st.floats(-INTERVAL_S[1], 0)


@st.composite
def ways(draw: st.DrawFn) -> Walks:
    """When somebody walks: beginnings and ends, one after the other, all after time 0."""
    walks, now_s = [], 0.0
    for stands_s, walks_s in draw(st.lists(st.tuples(st.floats(0.01, 20), st.floats(0.01, 20)), max_size=8)):
        walks.append((now_s + stands_s, now_s + stands_s + walks_s))
        now_s = walks[-1][1]
    return walks


class Carrier:
    """Whether somebody moves, as their phone's step counter tells it; remembers for what time it was last asked."""

    def __init__(self, walks: Walks) -> None:
        self._walks = walks
        self.asked_s = -math.inf

    def still_s(self, time_s: float) -> float:
        assert time_s >= self.asked_s
        self.asked_s = time_s
        begun = bisect_left(self._walks, (time_s,))
        return max(0.0, time_s - self._walks[begun - 1][1]) if begun else math.inf


def windows(walks: Walks, interval_s: float, begin_s: float) -> list[tuple[float, float]]:
    """Begin and end of each window, up to the first that ends after END_S."""
    carrier = Carrier(walks)
    times = [begin_s]
    for end_s in adaptive_ends(carrier.still_s, interval_s, begin_s):
        assert carrier.asked_s <= end_s  # of what comes it knows nothing
        times.append(end_s)
        if end_s > END_S:
            return list(itertools.pairwise(times))
    raise AssertionError("there is always another window")


@given(ways(), intervals, begins)
def test_no_window_is_shorter_than_a_second_or_longer_than_the_own_interval(
    walks: Walks, interval_s: float, begin_s: float
) -> None:
    for begins_s, ends_s in windows(walks, interval_s, begin_s):
        lasts_s = ends_s - begins_s
        assert MOVING_S - NEARLY <= lasts_s <= interval_s + NEARLY
        if lasts_s < interval_s - NEARLY:  # ended early: at a whole second of its own, because of a movement
            assert abs(lasts_s - round(lasts_s)) < NEARLY
            assert Carrier(walks).still_s(ends_s) < MOVED_S


@given(ways(), intervals, begins)
def test_a_start_of_movement_ends_the_window_within_a_second(walks: Walks, interval_s: float, begin_s: float) -> None:
    ends = [ends_s for _, ends_s in windows(walks, interval_s, begin_s)]
    for start_s, _ in walks:
        if start_s < END_S:
            assert min(end_s for end_s in ends if end_s > start_s) <= start_s + MOVING_S + NEARLY


@given(ways(), intervals, begins)
def test_every_window_is_a_second_from_a_movement_until_some_seconds_after_it(
    walks: Walks, interval_s: float, begin_s: float
) -> None:
    found = windows(walks, interval_s, begin_s)
    for start_s, end_s in walks:
        for begins_s, ends_s in found:
            if begins_s > start_s - MOVING_S and begins_s + MOVING_S < end_s + MOVED_S and ends_s > start_s + MOVING_S:
                assert ends_s - begins_s <= MOVING_S + NEARLY


@given(intervals, begins)
def test_who_stands_has_the_rhythm_of_their_phone(interval_s: float, begin_s: float) -> None:
    standing = [end_s for _, end_s in windows([], interval_s, begin_s)]
    fixed = list(itertools.islice(fixed_ends(interval_s, begin_s), len(standing)))
    assert all(abs(one - other) < NEARLY for one, other in zip(standing, fixed, strict=True))
