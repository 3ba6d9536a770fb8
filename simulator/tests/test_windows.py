"""A phone ends its windows every second while it moves and less often at rest, knowing only the past."""

import itertools
import math
from bisect import bisect_left

from hypothesis import given
from hypothesis import strategies as st
from simulator.phones import INTERVAL_S, MOVED_S, MOVING_S, adaptive_ends, fixed_ends

END_S = 90.0
NEARLY = 1e-9
Walks = list[tuple[float, float]]
intervals = st.floats(*INTERVAL_S)
begins = st.floats(-INTERVAL_S[1], 0)


@st.composite
def movements(draw: st.DrawFn) -> Walks:
    """Starts and ends of walks in order, all after time 0."""
    walks, now_s = [], 0.0
    for stands_s, walks_s in draw(st.lists(st.tuples(st.floats(0.01, 20), st.floats(0.01, 20)), max_size=8)):
        walks.append((now_s + stands_s, now_s + stands_s + walks_s))
        now_s = walks[-1][1]
    return walks


class Carrier:
    """A carrier with a step counter; remembers the time of the last call."""

    def __init__(self, walks: Walks) -> None:
        self._walks = walks
        self.last_call_s = -math.inf

    def still_s(self, time_s: float) -> float:
        assert time_s >= self.last_call_s
        self.last_call_s = time_s
        begun = bisect_left(self._walks, (time_s,))
        return max(0.0, time_s - self._walks[begun - 1][1]) if begun else math.inf


def windows(walks: Walks, interval_s: float, begin_s: float) -> list[tuple[float, float]]:
    """Begin and end of each window, up to the first that ends after END_S."""
    carrier = Carrier(walks)
    times = [begin_s]
    for end_s in adaptive_ends(carrier.still_s, interval_s, begin_s):
        assert carrier.last_call_s <= end_s  # never asks about the future
        times.append(end_s)
        if end_s > END_S:
            return list(itertools.pairwise(times))
    raise AssertionError("there is always another window")


@given(movements(), intervals, begins)
def test_no_window_is_shorter_than_a_second_or_longer_than_the_own_interval(
    walks: Walks, interval_s: float, begin_s: float
) -> None:
    for begins_s, ends_s in windows(walks, interval_s, begin_s):
        lasts_s = ends_s - begins_s
        assert MOVING_S - NEARLY <= lasts_s <= interval_s + NEARLY
        if lasts_s < interval_s - NEARLY:  # ended early by a movement, at a whole second of the window
            assert abs(lasts_s - round(lasts_s)) < NEARLY
            assert Carrier(walks).still_s(ends_s) < MOVED_S


@given(movements(), intervals, begins)
def test_a_start_of_movement_ends_the_window_within_a_second(walks: Walks, interval_s: float, begin_s: float) -> None:
    ends = [ends_s for _, ends_s in windows(walks, interval_s, begin_s)]
    for start_s, _ in walks:
        if start_s < END_S:
            assert min(end_s for end_s in ends if end_s > start_s) <= start_s + MOVING_S + NEARLY


@given(movements(), intervals, begins)
def test_windows_last_a_second_from_a_movement_until_some_seconds_after_it(
    walks: Walks, interval_s: float, begin_s: float
) -> None:
    found = windows(walks, interval_s, begin_s)
    for start_s, end_s in walks:
        for begins_s, ends_s in found:
            if begins_s > start_s - MOVING_S and begins_s + MOVING_S < end_s + MOVED_S and ends_s > start_s + MOVING_S:
                assert ends_s - begins_s <= MOVING_S + NEARLY


@given(intervals, begins)
def test_a_phone_at_rest_has_its_own_interval(interval_s: float, begin_s: float) -> None:
    standing = [end_s for _, end_s in windows([], interval_s, begin_s)]
    fixed = list(itertools.islice(fixed_ends(interval_s, begin_s), len(standing)))
    assert all(abs(one - other) < NEARLY for one, other in zip(standing, fixed, strict=True))
