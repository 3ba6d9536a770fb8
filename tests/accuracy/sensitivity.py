"""Sensitivity to each of the locator's numbers: times 0.5 and times 1.5."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from accuracy.candidates import label, numbers, single_steps
from accuracy.nested import Bench
from accuracy.radios import median_shares
from accuracy.recorded import Recording

FACTORS = (0.5, 1.5)
SEEDS = range(1, 9)


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """With one number changed: recorded shares are means over the sets, drawn ones medians over some buildings."""

    changed: str
    history: float
    live: float
    standing: float
    patrol: float


def sensitivity(recordings: Sequence[Recording], said: Callable[[str], object] = str) -> list[Sensitivity]:
    """The present tuning, and each number alone times each factor. Raises FollowError."""
    tunings: list[dict[str, float]] = [{}, *single_steps(numbers(), FACTORS)]
    said(f"sensitivity: {len(tunings)} variations on the recordings")
    bench = Bench(recordings)
    bench.add(tunings)
    said(f"sensitivity: {len(tunings)} variations on drawn buildings")
    drawn = median_shares(SEEDS, tunings)
    return [
        Sensitivity(label(tuning), *bench.mean(tuning, recordings), each["standing"], each["patrol"])
        for tuning, each in zip(tunings, drawn, strict=True)
    ]
