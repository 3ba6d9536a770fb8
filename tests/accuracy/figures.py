"""Measured figures by name, compared with those of before (baseline.json). Pure, but for the file."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Any

from accuracy.demo import Group
from accuracy.drawn import MANNERS, Drawn
from accuracy.held_out import HeldOut, label
from accuracy.measure import Result, of_sets
from accuracy.perturbed import Learned, Missing, Shares
from accuracy.score import quantile

POINTS = 2.0  # allowed loss of a share, percentage points
SECONDS = 1.0  # … of a delay, …
CHANGES = 3.0  # … of the number of estimated changes, or of flips per hour
Json = dict[str, Any]


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
        for way in ("history", "live", "hacs"):
            scores = [getattr(one, way) for one in some]
            found.append(Figure(f"{name}, {way} right %", fmean(one.share for one in scores) * 100, 1, POINTS))
            changes = sum(one.changes for one in scores) / true
            found.append(Figure(f"{name}, {way} changes a true one", changes, -1, max(0.3, changes * 0.2)))
    return found


def of_drawn(buildings: Sequence[Drawn]) -> list[Figure]:
    """Of the drawn buildings, all together: medians."""
    flips = median(one.flips_an_hour for one in buildings)
    found = [Figure("drawn, flips an hour, median", flips, -1, max(CHANGES, flips * 0.2))]
    for way in ("history", "live"):
        for manner in MANNERS:
            value = median(getattr(one, way)[manner] for one in buildings) * 100
            found.append(Figure(f"drawn, {manner}, {way} right %, median", value, 1, POINTS))
    return found


def of_demo(group: Group) -> list[Figure]:
    """Of one group in the demo building."""
    name = group.name
    found = [
        Figure(f"{name}, history right %", group.history.share * 100, 1, POINTS),
        Figure(f"{name}, live right %", group.live.share * 100, 1, POINTS),
        Figure(f"{name}, wrong level %", group.wrong_level / group.history.seconds * 100, -1, POINTS),
        Figure(f"{name}, lost after s, first", min(group.lost_s), 1, SECONDS),
        Figure(f"{name}, lost after s, last", max(group.lost_s), -1, SECONDS),
    ]
    if group.manner != "patrol":
        return [*found, Figure(f"{name}, flips an hour", group.live.changes / group.hours, -1, CHANGES)]
    for way, score in (("history", group.history), ("live", group.live)):
        for share, of in ((0.5, "median"), (0.95, "p95")):
            delay = quantile(score.delays_s, share)
            found.append(Figure(f"{name}, {way} delay s, {of}", 99.0 if delay is None else delay, -1, SECONDS))
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


def compared(figures: Iterable[Figure]) -> Json:
    return {one.name: round(one.value, 2) for one in figures}


def of_held_out(found: HeldOut) -> Json:
    """Per cent, and the numbers chosen."""
    return {
        "left out: history, live, as HACS saw it": {
            one.name: [*map(_percent, one.left_out[:3]), label(one.chosen)] for one in found.folds
        },
        "in sight: history, live, as HACS saw it": {
            one.name: [*map(_percent, one.in_sight[:3])] for one in found.folds
        },
        "calibration error: history, live": [_percent(found.history.error), _percent(found.live.error)],
    }


def of_perturbed(found: Mapping[str, Mapping[str, Shares]]) -> Json:
    return {name: {of: _shares(one) for of, one in sets.items()} for name, sets in found.items()}


def of_learned(found: Iterable[Learned]) -> Json:
    return {
        one.of: [_shares(shares) for shares in (one.cold, one.warm, one.uneven_cold, one.uneven_warm)] for one in found
    }


def of_missing(found: Iterable[Missing]) -> Json:
    return {one.of: [*map(_percent, (*one.found, *one.others_before, *one.others))] for one in found}


def _shares(one: Shares) -> list[float]:
    return [_percent(one.history), _percent(one.live), _percent(one.mean)]


def update(path: Path, parts: Json) -> None:
    """Merge new measurements; other parts keep their values."""
    kept: Json = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(_text({**kept, **parts}) + "\n")


def _text(value: Any, indent: int = 0) -> str:
    """JSON with lists on one line."""
    if not isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    inner = " " * (indent + 1)
    lines = (f"{inner}{json.dumps(key, ensure_ascii=False)}: {_text(one, indent + 1)}" for key, one in value.items())
    return "{\n" + ",\n".join(lines) + f"\n{' ' * indent}}}"


def _percent(share: float) -> float:
    return round(share * 100, 2)
