"""Runs the locator on recordings: figures of each, and of the simple methods."""

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import TypeVar

from accuracy import simple
from accuracy.borders import away_from_borders
from accuracy.follow import Estimate, Play, follow_all
from accuracy.recorded import Mode, Recording, Second
from accuracy.score import Score, changes, delays
from accuracy.truth import Truth
from accuracy.windows import batches, published

T = TypeVar("T")
R = TypeVar("R")
AFTER_MS = 5000  # the last seconds are estimated a little later
GAP_MS = 2000  # of the truth, which has a row a second
WORKERS = 2  # Node.js runs in its own process, so threads suffice
Phases = Mapping[Mode, int]
FULL: Phases = {"gateway": 20, "phone": 20}
QUICK: Phases = {"gateway": 3, "phone": 2}
Tuning = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Scores:
    """One method to name the room, in each set of phases."""

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


@dataclass(frozen=True, slots=True)
class Result:
    """One recording: the estimates of history and live view, also without the seconds near a border of rooms, and those
    of the simple methods."""

    recording: Recording
    estimated: tuple[Estimate, ...]
    history: Scores
    live: Scores
    history_away: Scores
    live_away: Scores
    strongest: Scores
    mean: Scores

    @property
    def name(self) -> str:
        return f"{self.recording.of}/{self.recording.name}"

    def first(self, phases: Phases) -> "Result":
        """The same result with fewer phases."""
        few = phases[self.recording.mode]
        return replace(
            self,
            estimated=self.estimated[:few],
            history=self.history.first(few),
            live=self.live.first(few),
            history_away=self.history_away.first(few),
            live_away=self.live_away.first(few),
        )


def measure(
    recordings: Iterable[Recording], phases: Phases, tuning: Tuning | None = None, said: Callable[[str], object] = str
) -> list[Result]:
    """Run every recording in several phases, each with a new locator. Raises FollowError."""

    def one(building: list[Recording]) -> list[Result]:
        said(f"playing {building[0].of}: {len(building)} recording{'s'[: len(building) > 1]}")
        (estimated,) = estimate_all(building, phases, [tuning or {}])
        return [_result(recording, each) for recording, each in zip(building, estimated, strict=True)]

    return [result for results in spread(one, by_building(recordings)) for result in results]


def spread(work: Callable[[T], R], items: Iterable[T]) -> list[R]:
    """Run the work on each item, several in parallel."""
    with ThreadPoolExecutor(WORKERS) as pool:
        return list(pool.map(work, items))


def by_building(recordings: Iterable[Recording]) -> list[list[Recording]]:
    """Consecutive recordings of one building, for one process."""
    return [list(some) for _, some in groupby(recordings, key=lambda one: id(one.building))]


def estimate_all(
    recordings: Sequence[Recording], phases: Phases, tunings: Sequence[Tuning]
) -> list[list[list[Estimate]]]:
    """The locator's estimates: for each tuning, recording and phase. Raises FollowError."""
    sent = [[batches(one, phase) for phase in range(phases[one.mode])] for one in recordings]
    plays = [
        Play(recording.building, one, end_ms(recording), tuning)
        for tuning in tunings
        for recording, each in zip(recordings, sent, strict=True)
        for one in each
    ]
    estimated = iter(follow_all(plays))
    walkers = [recording.walker for recording in recordings]
    return [
        [[next(estimated).get(walker, Estimate()) for _ in each] for walker, each in zip(walkers, sent, strict=True)]
        for _ in tunings
    ]


def end_ms(recording: Recording) -> int:
    """When estimates end."""
    return max(recording.truth[-1].ts_ms, recording.adverts[-1].ts_ms) + AFTER_MS


def shares(recording: Recording, estimated: Sequence[Estimate]) -> tuple[float, float]:
    """Mean shares of right seconds in history and live view."""
    scored = recording.scored
    count = len(scored) * len(estimated)
    history = sum(one.history_at(second.ts_ms) == second.room for one in estimated for second in scored)
    live = sum(one.live_at(second.ts_ms) == second.room for one in estimated for second in scored)
    return (history / count, live / count) if count else (0.0, 0.0)


def _result(recording: Recording, estimated: list[Estimate]) -> Result:
    scored, away = recording.scored, away_from_borders(recording)

    def ways(seconds: list[Second]) -> tuple[Scores, Scores]:
        return (
            Scores(tuple(judge(seconds, one.history_at, one.history_changes()) for one in estimated)),
            Scores(tuple(judge(seconds, one.live_at, one.live_changes()) for one in estimated)),
        )

    def simply(way: simple.Way) -> Scores:
        rooms = way(published(recording))
        said = changes(list(rooms), list(rooms.values()))
        return Scores((judge(scored, lambda ms: rooms.get(int(ms), ""), said),))

    return Result(
        recording, tuple(estimated), *ways(scored), *ways(away), simply(simple.strongest), simply(simple.mean)
    )


def judge(seconds: list[Second], room_at: Callable[[float], str], said: Sequence[tuple[float, str]]) -> Score:
    """Compare at each of the seconds. Changes are counted from one of them to the next, estimated ones like true ones:
    estimates while the true room is unknown are neither right nor wrong. `said`: estimated changes, for the delays."""
    if not seconds:
        return Score()
    times = [second.ts_ms for second in seconds]
    rooms = [room_at(ms) for ms in times]
    truth = Truth.of([(second.ts_ms, second.room) for second in seconds], times[-1])
    right = sum(room == second.room for room, second in zip(rooms, seconds, strict=True))
    late = delays(truth, _within_gaps(seconds, said))
    return Score(len(seconds), right, len(changes(times, rooms)), len(truth.changes()), late)


def _within_gaps(seconds: list[Second], said: Sequence[tuple[float, str]]) -> list[tuple[float, str]]:
    """The estimated changes. Those in a gap of the truth are moved to its end, since the true time is unknown."""
    pairs = [(a.ts_ms, b.ts_ms) for a, b in pairwise(seconds) if a.room != b.room and b.ts_ms - a.ts_ms > GAP_MS]
    return [(next((end for start, end in pairs if start < ms <= end), ms), room) for ms, room in said]


def of_sets(results: Iterable[Result]) -> dict[str, list[Result]]:
    """Results by set."""
    found: dict[str, list[Result]] = {}
    for one in results:
        found.setdefault(one.recording.of, []).append(one)
    return found
