"""The figures do not get worse: recordings, drawn buildings, simulated scenes, all in their quick size."""

import json
from statistics import fmean
from typing import Any

import pytest

from accuracy import figures
from accuracy.alterations import POWER, changed_by_levels
from accuracy.arguments import BASELINE, RECORDINGS
from accuracy.drawn import draw
from accuracy.radios import LEVEL_SEEDS, ONE, QUICK_SEEDS, calibrated, measure_drawn
from accuracy.real import QUICK, Result, measure
from accuracy.recorded import Recording, load
from accuracy.scenes import MODES, groups
from accuracy.simulated import measure as measure_simulated

KNOWN: dict[str, dict[str, Any]] = json.loads(BASELINE.read_text())
BELOW_SIMPLE = 0.01
MOVED_BY_LEVELS = 0.02


@pytest.fixture(scope="module")
def recorded() -> list[Recording]:
    return [one for some in load([RECORDINGS]) for one in some.recordings]


@pytest.fixture(scope="module")
def results(recorded: list[Recording]) -> list[Result]:
    return measure(recorded, QUICK)


@pytest.mark.parametrize("mode", MODES)
def test_simulated_scenes_are_not_worse_than_the_baseline(mode: str) -> None:
    found = measure_simulated((group for group in groups("quick") if group.name.startswith(mode)), None, print)
    worse = figures.worse((one for group in found for one in figures.of_simulated(group)), KNOWN["simulated"])
    assert not worse, "\n".join(worse)


def test_recordings_are_not_worse_than_the_baseline(results: list[Result]) -> None:
    worse = figures.worse(figures.of_recorded(results), KNOWN["recorded"])
    assert not worse, "\n".join(worse)


def test_drawn_buildings_are_not_worse_than_the_baseline() -> None:
    worse = figures.worse(figures.of_drawn(measure_drawn(QUICK_SEEDS)), KNOWN["drawn"])
    assert not worse, "\n".join(worse)


def test_no_recording_is_below_the_simple_way(results: list[Result]) -> None:
    below = [
        f"{one.name}: history {one.history.share:.1%}, two-second mean {one.mean.share:.1%}"
        for one in results
        if one.history.share < one.mean.share - BELOW_SIMPLE
    ]
    assert not below, "\n".join(below)


def test_the_power_of_a_tag_or_phone_does_not_matter_on_recordings(recorded: list[Recording]) -> None:
    moved = changed_by_levels(recorded, ONE, POWER)
    too_many = [
        f"{shift}, {name}: {share:.1%} of the seconds in another room"
        for shift, shares in moved.items()
        for name, share in shares.items()
        if share >= MOVED_BY_LEVELS
    ]
    assert not too_many, "\n".join(too_many)


def test_the_power_of_a_tag_or_phone_does_not_matter_in_drawn_buildings() -> None:
    moved = changed_by_levels([one for seed in LEVEL_SEEDS for one in calibrated(draw(seed))], ONE, POWER)
    shares = {shift: fmean(of.values()) for shift, of in moved.items()}
    assert max(shares.values()) < MOVED_BY_LEVELS, shares
