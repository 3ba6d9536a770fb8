"""Runs of before and of after side by side. A regression is a change for the worse that is larger than the noise.
Pure but for the reading of summaries."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

WORSE = 0.10
"""A change below this share is no regression, however quiet the runs are."""
MIN_CHANGE_MS = 0.5
"""Nor is one below this time."""
SPREADS = 2.0
"""A change must be so many times as large as what runs of one side differ from their median."""
MIN_VALUES = 3
"""Of a figure on each side, to know its noise."""
FIGURES = (("per_s", -1), ("p50", 1), ("p95", 1))
"""Compared figures, and whether more of it is worse (1) or better (-1)."""

Key = tuple[str, str, str]
"""Step, call, figure."""


@dataclass(frozen=True, slots=True)
class Change:
    """One figure of before and after (medians), the noise of both, and the verdict."""

    key: Key
    before: float
    after: float
    noise: float
    regression: bool


def values(summaries: Iterable[Mapping[str, Any]]) -> dict[Key, list[float]]:
    """All values of each figure of each step's own call, of all runs and repeats."""
    found: dict[Key, list[float]] = {}
    for summary in summaries:
        for step in summary["steps"]:
            one = step["calls"].get(step["primary"])
            for figure, _ in FIGURES:
                if one is not None and one[figure] is not None:
                    found.setdefault((step["name"], step["primary"], figure), []).append(float(one[figure]))
    return found


def changes(before: Mapping[Key, Sequence[float]], after: Mapping[Key, Sequence[float]]) -> list[Change]:
    """Each figure that both sides have."""
    found = []
    direction = dict(FIGURES)
    for key in before:
        if key not in after:
            continue
        old, new = median(before[key]), median(after[key])
        noise = max(_spread(before[key]), _spread(after[key]))
        worse = (new - old) * direction[key[2]]
        min_change = max(WORSE * abs(old), MIN_CHANGE_MS if key[2] != "per_s" else 0.0, SPREADS * noise)
        found.append(Change(key, old, new, noise, worse > min_change))
    return found


def _spread(some: Sequence[float]) -> float:
    """Median distance from the median; of one run nothing is known, and the other side's counts."""
    middle = median(some)
    return median(abs(one - middle) for one in some)


def of_folders(before: Sequence[Path], after: Sequence[Path]) -> tuple[str, int]:
    """The comparison as text, and how many regressions there are. Void runs are left out; without others it fails."""
    sides = [[json.loads((folder / "summary.json").read_text()) for folder in side] for side in (before, after)]
    valid = [[one for one in side if one["verdict"] != "void"] for side in sides]
    left_out = sum(map(len, sides)) - sum(map(len, valid))
    notes = [f"{left_out} void runs are left out"] if left_out else []
    if not all(valid):
        return "\n".join([*notes, "there is no valid run on one side: nothing can be compared"]), 1
    found = changes(*(values(side) for side in valid))
    if not found:
        return "the runs have no step in common", 1
    rows = [["step", "call", "figure", "before", "after", "change", "noise", ""]]
    for one in found:
        share = (one.after - one.before) / one.before if one.before else 0.0
        verdict = "REGRESSION" if one.regression else ""
        rows.append(
            [*one.key, f"{one.before:,.2f}", f"{one.after:,.2f}", f"{share:+.1%}", f"{one.noise:,.2f}", verdict]
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    regressions = sum(one.regression for one in found)
    if min(len(some) for side in valid for some in values(side).values()) < MIN_VALUES:
        notes.append(f"fewer than {MIN_VALUES} runs or repeats of a step: its noise is not known, verdicts are guesses")
    runs = f"{len(valid[0])} runs of before, {len(valid[1])} of after"
    return "\n".join([*notes, *lines, f"{runs}: {regressions} regressions"]), regressions
