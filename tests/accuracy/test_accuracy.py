"""The figures do not get worse: the quick simulated scenes, and the recorded walks where they are beside this clone."""

import json
import warnings

import pytest

from accuracy import figures
from accuracy.__main__ import BASELINE, SHARED
from accuracy.real import measure as measure_real
from accuracy.scenes import MODES, groups
from accuracy.simulated import measure as measure_simulated

KNOWN: dict[str, dict[str, float]] = json.loads(BASELINE.read_text())


@pytest.mark.parametrize("mode", MODES)
def test_simulated_scenes_are_not_worse_than_the_baseline(mode: str) -> None:
    found = measure_simulated((group for group in groups("quick") if group.name.startswith(mode)), None, print)
    worse = figures.worse((one for group in found for one in figures.of_simulated(group)), KNOWN["simulated"])
    assert not worse, "\n".join(worse)


@pytest.mark.filterwarnings("default")
def test_recorded_walks_are_not_worse_than_the_baseline() -> None:
    if not SHARED.is_dir():
        warnings.warn(f"the recorded walks were left out: {SHARED} is not there", stacklevel=1)
        return
    worse = figures.worse(figures.of_real(measure_real(SHARED)), KNOWN["recorded"])
    assert not worse, "\n".join(worse)
