"""The figures do not get worse: recordings, drawn buildings and simulated scenes, all in quick size."""

import json
from statistics import fmean
from typing import Any

import pytest

from accuracy import figures
from accuracy.alterations import POWER, changed_by_levels
from accuracy.arguments import BASELINE, RECORDINGS
from accuracy.drawn import draw
from accuracy.radios import LEVEL_SEEDS, ONE, QUICK_SEEDS, calibrated, measure_drawn
from accuracy.real import QUICK, Result, measure, of_sets
from accuracy.recorded import Recording, load
from accuracy.scenes import MODES, groups
from accuracy.simulated import measure as measure_simulated
from accuracy.taught import taught

KNOWN: dict[str, dict[str, Any]] = json.loads(BASELINE.read_text())
BELOW_SIMPLE = 0.01
CLOSER_POINTS = 2.0  # variation of one recording with few phases
MOVED_BY_LEVELS = 0.02
LOST_BY_OFFSETS = 0.015  # one set of phases; with more of them 0.4 points at most
MOVED_BY_DEVICES = 0.12  # wanted are 2 %; minutes of teachers leave 3 to 8
LEVELS = "seconds with another room when levels are shifted, %"


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


def test_no_set_is_below_the_simple_way_and_no_recording_comes_closer_to_it(results: list[Result]) -> None:
    below = [
        f"{name}: history {fmean(one.history.share for one in some):.1%} is below the two-second mean"
        for name, some in of_sets(results).items()
        if fmean(one.history.share - one.mean.share for one in some) < -BELOW_SIMPLE
    ]
    known = KNOWN["recordings, all phases"]["history above the two-second mean, points"]
    closer = [
        f"{one.name}: {100 * (one.history.share - one.mean.share):.1f} points above the mean, was {known[one.name]}"
        for one in results
        if 100 * (one.history.share - one.mean.share) < min(known[one.name], 0) - CLOSER_POINTS
    ]
    assert not below + closer, "\n".join(below + closer)


def test_the_power_of_a_tag_or_phone_matters_no_more_than_it_did(recorded: list[Recording]) -> None:
    """The target on recordings is fewer than 2 % of the seconds; missed figures must not get worse."""
    moved = changed_by_levels(recorded, ONE, POWER)
    drawn = changed_by_levels([one for seed in LEVEL_SEEDS for one in calibrated(draw(seed))], ONE, POWER)
    too_many = []
    for shift, shares in moved.items():
        known = KNOWN[LEVELS][shift]
        for name, share in {**shares, "drawn": fmean(drawn[shift].values())}.items():
            if share > max(MOVED_BY_LEVELS, known[name] / 100 + MOVED_BY_LEVELS):
                too_many.append(f"{shift}, {name}: {share:.1%} of the seconds in another room, was {known[name]} %")
    assert not too_many, "\n".join(too_many)


def test_devices_that_differ_by_6_db_hardly_matter_once_others_have_walked_there(recorded: list[Recording]) -> None:
    """Each set is taught by recordings that are not scored. Without learned offsets a third of the seconds changes."""
    for one in taught([some for some in recorded if some.mode == "gateway"], ONE, draws=(1,)):
        assert one.taught > one.plain - LOST_BY_OFFSETS, (
            f"{one.of} as recorded: {one.taught:.1%}, {one.plain:.1%} without"
        )
        back = (one.uneven_taught - one.uneven_plain) / (one.plain - one.uneven_plain)
        assert back > 0.6, f"{one.of}: {back:.0%} of what uneven devices cost comes back"
        assert one.changed_taught < min(MOVED_BY_DEVICES, one.changed_plain / 2), f"{one.of}: {one.changed_taught:.1%}"
