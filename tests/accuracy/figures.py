"""Measured figures by name, compared with the baseline and with targets. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from accuracy.radios import MANNERS, Drawn, summaries
from accuracy.real import Result, of_sets
from accuracy.score import quantile
from accuracy.simulated import Figures

POINTS = 2.0  # allowed loss of a share, percentage points
SECONDS = 1.0  # … of a delay, …
CHANGES = 3.0  # … of the number of estimated changes, or of flips per hour


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured value; `sign` is 1 if more is better and -1 if less is; `slack` is the allowed loss."""

    name: str
    value: float
    sign: int
    slack: float


def of_recorded(results: Sequence[Result]) -> list[Figure]:
    """Of the recordings: each one's history; each set's history, live, and estimated changes per true one."""
    found = [Figure(f"{one.name}, history right %", one.history.share * 100, 1, POINTS) for one in results]
    for name, some in of_sets(results).items():
        true = max(1, sum(one.history.true_changes for one in some))
        for way in ("history", "live"):
            scores = [getattr(one, way) for one in some]
            found.append(Figure(f"{name}, {way} right %", fmean(one.share for one in scores) * 100, 1, POINTS))
            changes = sum(one.changes for one in scores) / true
            found.append(Figure(f"{name}, {way} changes a true one", changes, -1, max(0.3, changes * 0.2)))
    return found


def of_drawn(buildings: Sequence[Drawn]) -> list[Figure]:
    """Of the drawn buildings, all together: median and worst decile."""
    whole = summaries(buildings)[0]
    found = [Figure("drawn, flips an hour, median", whole.flips_an_hour, -1, CHANGES)]
    for way in ("history", "live"):
        for manner in MANNERS:
            median, decile = whole.shares[way, manner]
            found.append(Figure(f"drawn, {manner}, {way} right %, median", median * 100, 1, POINTS))
            found.append(Figure(f"drawn, {manner}, {way} right %, worst decile", decile * 100, 1, 2 * POINTS))
    return found


def of_simulated(group: Figures) -> list[Figure]:
    """Of one group of simulated scenes."""
    name, hours = group.name, group.hours
    found = [
        Figure(f"{name}, history right %", group.history.share * 100, 1, POINTS),
        Figure(f"{name}, live right %", group.live.share * 100, 1, POINTS),
        Figure(f"{name}, wrong level %", group.wrong_level / group.history.seconds * 100, -1, POINTS),
        Figure(f"{name}, lost after s, first", min(group.lost_s), 1, SECONDS),
        Figure(f"{name}, lost after s, last", max(group.lost_s), -1, SECONDS),
    ]
    if group.still:
        return [*found, Figure(f"{name}, flips an hour", group.live.changes / hours, -1, CHANGES)]
    for way, score in (("history", group.history), ("live", group.live)):
        for share, label in ((0.5, "median"), (0.95, "p95")):
            delay = quantile(score.delays_s, share)
            found.append(Figure(f"{name}, {way} delay s, {label}", 99.0 if delay is None else delay, -1, SECONDS))
        seen = len(score.delays_s) / max(1, score.true_changes)
        found.append(Figure(f"{name}, {way} changes seen %", seen * 100, 1, POINTS))
    return found


def worse(figures: Iterable[Figure], baseline: Mapping[str, float]) -> list[str]:
    """One sentence for each figure that got worse beyond its slack or is missing in the baseline."""
    found = []
    for one in figures:
        if (before := baseline.get(one.name)) is None:
            found.append(f"{one.name}: is {one.value:.2f} and stands in no baseline")
        elif (before - one.value) * one.sign > one.slack:
            found.append(f"{one.name}: was {before:.2f}, is {one.value:.2f} (may get worse by {one.slack:g})")
    return found


@dataclass(frozen=True, slots=True)
class Wanted:
    """A target of a figure: at most or at least a value."""

    name: str
    limit: float


def reached(figures: Sequence[Figure], wanted: Iterable[Wanted]) -> list[tuple[str, str, str, str]]:
    """Rows of figure, wanted, measured, and whether that is reached."""
    by_name = {one.name: one for one in figures}
    rows = []
    for one in wanted:
        measured = by_name[one.name]
        is_reached = (measured.value - one.limit) * measured.sign >= 0
        sign = "≥" if measured.sign > 0 else "≤"
        rows.append((one.name, f"{sign} {one.limit:g}", f"{measured.value:.2f}", "yes" if is_reached else "NO"))
    return rows
