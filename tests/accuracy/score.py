"""Compares estimated with true rooms. Pure."""

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np

EARLIEST_MS = 10_000  # a change estimated earlier than this before the true one is another change
GAP_MS = 2000  # of the truth, which has a row a second
BINS = 10  # of probability
DRAWS, SURE = 2000, 0.95  # of the bootstrap
Changes = Sequence[tuple[float, str]]
"""Time (ms) and new room, ascending."""


class Second(NamedTuple):
    """The true place of somebody: room '' if unknown or not scored, place None if unknown."""

    ts_ms: int
    room: str
    x_m: float | None = None
    y_m: float | None = None


@dataclass(slots=True)
class Score:
    """Figures of one kind of estimate; those of several people add up."""

    seconds: int = 0
    right: int = 0
    changes: int = 0
    true_changes: int = 0
    delays_s: list[float] = field(default_factory=list)
    """Of the estimated changes, signed: negative where history was corrected to before the true moment."""

    @property
    def share(self) -> float:
        return self.right / self.seconds if self.seconds else 0.0

    def __iadd__(self, other: "Score") -> "Score":
        self.seconds += other.seconds
        self.right += other.right
        self.changes += other.changes
        self.true_changes += other.true_changes
        self.delays_s = self.delays_s + other.delays_s
        return self


@dataclass(frozen=True, slots=True)
class Scores:
    """One way to name the room, in each set of phases."""

    each: tuple[Score, ...]

    @property
    def share(self) -> float:
        """Share of right seconds, mean over the phases."""
        return statistics.fmean(one.share for one in self.each)

    @property
    def span(self) -> tuple[float, float]:
        """The least and the greatest share."""
        shares = [one.share for one in self.each]
        return min(shares), max(shares)

    @property
    def changes(self) -> float:
        return statistics.fmean(one.changes for one in self.each)

    @property
    def true_changes(self) -> int:
        return self.each[0].true_changes

    @property
    def seconds(self) -> int:
        return self.each[0].seconds

    @property
    def delays_s(self) -> list[float]:
        return [delay for one in self.each for delay in one.delays_s]

    def first(self, phases: int) -> "Scores":
        """Of fewer phases."""
        return Scores(self.each[:phases])


def judge(seconds: Sequence[Second], room_at: Callable[[float], str], said: Changes) -> Score:
    """Compare at each of the seconds. Changes are counted from one of them to the next, estimated ones like true ones:
    estimates while the true room is unknown are neither right nor wrong. `said`: estimated changes, for the delays."""
    if not seconds:
        return Score()
    times = [second.ts_ms for second in seconds]
    rooms = [room_at(ms) for ms in times]
    right = sum(room == second.room for room, second in zip(rooms, seconds, strict=True))
    true = changes(times, [second.room for second in seconds])
    late = delays(true, times[-1], _within_gaps(seconds, said))
    return Score(len(seconds), right, len(changes(times, rooms)), len(true), late)


def _within_gaps(seconds: Sequence[Second], said: Changes) -> Changes:
    """The estimated changes. Those in a gap of the truth are moved to its end, since the true time is unknown."""
    pairs = [(a.ts_ms, b.ts_ms) for a, b in pairwise(seconds) if a.room != b.room and b.ts_ms - a.ts_ms > GAP_MS]
    return [(next((end for start, end in pairs if start < ms <= end), ms), room) for ms, room in said]


def delays(true: Changes, end_ms: float, estimated: Changes) -> list[float]:
    """Seconds from each true change to the nearest estimated one into the same room, during the stay."""
    found = []
    ends = [*(ms for ms, _ in true), end_ms]
    for (at_ms, room), left_ms in zip(true, ends[1:], strict=True):
        fitting = [
            ms - at_ms for ms, into in estimated if into == room and at_ms - EARLIEST_MS <= ms <= left_ms + EARLIEST_MS
        ]
        if fitting:
            found.append(min(fitting, key=abs) / 1000)
    return found


def changes(times: Sequence[float], rooms: Sequence[str]) -> list[tuple[float, str]]:
    """Changes in a series of rooms, without the first one; '' (unknown) is neither a room nor a change."""
    found = []
    last = ""
    for ms, room in zip(times, rooms, strict=True):
        if room and last and room != last:
            found.append((ms, room))
        last = room or last
    return found


class Reliability:
    """How often an answer was right, by the probability that was said with it; answers count by their weight."""

    def __init__(self) -> None:
        self._weight, self._said, self._right = np.zeros(BINS), np.zeros(BINS), np.zeros(BINS)

    def add(self, answers: Iterable[tuple[float, bool]], weight: float = 1.0) -> "Reliability":
        for probability, right in answers:
            at = min(BINS - 1, int(probability * BINS))
            self._weight[at] += weight
            self._said[at] += weight * probability
            self._right[at] += weight * right
        return self

    def rows(self) -> list[tuple[float, float, float]]:
        """Of each bin that has answers: the share of all answers, mean probability, share right."""
        total = self._weight.sum()
        return [
            (float(w / total), float(said / w), float(right / w))
            for w, said, right in zip(self._weight, self._said, self._right, strict=True)
            if w
        ]

    @property
    def error(self) -> float:
        """The expected calibration error: the mean difference of probability and share right over the answers."""
        return sum(share * abs(said - right) for share, said, right in self.rows())


def quantile(values: Sequence[float], share: float) -> float | None:
    """The quantile: the smallest value that at least this share of the values do not exceed; None without values."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, -(-int(len(ordered) * share * 1000) // 1000) - 1))] if ordered else None


def standard_error(values: Sequence[float]) -> float | None:
    """Of the mean; None of a single value."""
    return statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else None


def interval(values: Sequence[float], statistic: Callable[[Sequence[float]], float]) -> tuple[float, float]:
    """The 95 % interval of the statistic over bootstrap samples (Efron's percentiles)."""
    rng = np.random.default_rng(1)
    all_ = np.array(values)
    drawn = [statistic(all_[rng.integers(0, len(all_), len(all_))].tolist()) for _ in range(DRAWS)]
    low, high = np.quantile(drawn, [(1 - SURE) / 2, (1 + SURE) / 2])
    return float(low), float(high)
