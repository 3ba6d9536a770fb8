"""The figures do not get worse: recordings, drawn buildings and the demo building, all in quick size."""

import json
from statistics import fmean
from typing import Any

import pytest

from accuracy import figures
from accuracy.__main__ import BASELINE
from accuracy.demo import measure_demo
from accuracy.drawn import QUICK_SEEDS, measure_drawn
from accuracy.measure import ONE, QUICK, Result, by_set, measure, of_sets, shares
from accuracy.perturbed import learned, stronger
from accuracy.recorded import Recording
from accuracy.replay import measure_replay

KNOWN: dict[str, dict[str, Any]] = json.loads(BASELINE.read_text())
BELOW_MEAN = 0.01
# Recordings on which the locator is further below the two-second mean, by how much, and why.
STATED: dict[str, float] = {
    "tetam/zigzagging_without_rotation": 0.05,  # along a border without a wall, where a metre decides
}
TAG_DB = 15  # power settings of tags differ by more
LOST_BY_POWER = 0.02
LOST_BY_LEARNING = 0.02
REPLAYED = range(1, 5)


@pytest.fixture(scope="module")
def results(recorded: list[Recording]) -> list[Result]:
    return measure(recorded, QUICK)


def test_the_demo_building_is_not_worse_than_the_baseline() -> None:
    worse = figures.worse((one for group in measure_demo() for one in figures.of_demo(group)), KNOWN["demo"])
    assert not worse, "\n".join(worse)


def test_recordings_are_not_worse_than_the_baseline(results: list[Result]) -> None:
    worse = figures.worse(figures.of_recorded(results), KNOWN["recorded"])
    assert not worse, "\n".join(worse)


def test_drawn_buildings_are_not_worse_than_the_baseline() -> None:
    worse = figures.worse(figures.of_drawn(measure_drawn(QUICK_SEEDS)), KNOWN["drawn"])
    assert not worse, "\n".join(worse)


def test_no_set_and_no_recording_is_below_the_two_second_mean_unless_stated(results: list[Result]) -> None:
    above = {one.name: one.history.share - one.mean.share for one in results}
    above |= {of: fmean(one.history.share - one.mean.share for one in some) for of, some in of_sets(results).items()}
    below = [f"{name}: {100 * by:.1f} points" for name, by in above.items() if by < -STATED.get(name, BELOW_MEAN)]
    assert not below, "history below the two-second mean: " + "; ".join(below)


def test_the_power_of_a_tag_or_phone_does_not_matter(recorded: list[Recording]) -> None:
    """All levels shifted alike, and nothing lost by it: the room is right as often."""

    def right(by_db: int) -> dict[str, float]:
        shifted = [stronger(one, {device["id"]: by_db for device in one.devices}) for one in recorded]
        return {of: fmean(history for history, _ in shares(some, ONE)) for of, some in by_set(shifted).items()}

    plain = right(0)
    worse = [
        f"{by_db:+} dB, {of}: {100 * (share - plain[of]):.1f} points"
        for by_db in (-TAG_DB, TAG_DB)
        for of, share in right(by_db).items()
        if share < plain[of] - LOST_BY_POWER
    ]
    assert not worse, "; ".join(worse)


def test_what_others_recordings_teach_of_devices_helps_and_costs_nothing_where_they_are_alike(
    recorded: list[Recording],
) -> None:
    for one in learned([some for some in recorded if some.mode == "gateway"]):
        assert one.warm.history > one.cold.history - LOST_BY_LEARNING, f"{one.of} as recorded"
        assert one.uneven_warm.history > one.uneven_cold.history, f"{one.of}, devices 6 dB better or worse"


def test_a_rebuilt_history_is_the_one_that_was_said_live() -> None:
    for one in measure_replay(REPLAYED):
        assert one.other == 0, f"drawn building {one.seed}: {one.other} of {one.seconds} seconds"
        assert one.seconds > 1000
