"""The recorded walks through the locator: figures for each, and their pictures."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from accuracy.follow import Told, follow
from accuracy.recorded import WALKER, Walk, load, strongest
from accuracy.score import Score, changes, judge

AFTER_MS = 5000  # what the last seconds were is told a little later


@dataclass(frozen=True, slots=True)
class Result:
    """One walk: what history and the live view told, and what the strongest reading would have."""

    walk: Walk
    told: Told
    history: Score
    live: Score
    strongest: Score


@dataclass(frozen=True, slots=True)
class Real:
    """All walks of a folder."""

    building: dict[str, Any]
    walks: tuple[Result, ...]

    def total(self, way: str) -> Score:
        """`way`: history, live or strongest."""
        score = Score()
        for one in self.walks:
            score += getattr(one, way)
        return score


def measure(folder: Path, tuning: dict[str, Any] | None = None) -> Real:
    """Follow every walk of the folder, each with a locator that knows nothing yet. Raises DataError, FollowError."""
    building, walks = load(folder)
    return Real(building, tuple(_result(walk, building, tuning) for walk in walks))


def _result(walk: Walk, building: dict[str, Any], tuning: dict[str, Any] | None) -> Result:
    truth = walk.truth
    told = follow(building, walk.sent, truth.end_ms + AFTER_MS, tuning).get(WALKER, Told())
    moments = list(truth.moments())
    simple = strongest(walk, building)
    simple_at = dict(zip(moments, simple, strict=True))
    return Result(
        walk,
        told,
        judge(truth, told.history_at, told.history_changes(), moments),
        judge(truth, told.live_at, told.live_changes(), moments),
        judge(truth, simple_at.__getitem__, changes(moments, simple), moments),
    )
