"""Runs the locator on recordings: figures of each, and of the other rules."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from simulator.geometry import Polygon, clearance, covers

from accuracy.follow import DEFAULT, Estimate, Play, Tuning, follow_all
from accuracy.recorded import Mode, Recording, batches
from accuracy.rules import RULES, Way
from accuracy.score import Score, Scores, Second, changes, judge

T = TypeVar("T")
R = TypeVar("R")
WORKERS = 2  # Node.js runs in its own process, so threads suffice
NEAR_M = 1.0  # of another room: where the true room is uncertain
OFFSET_S = 3.7  # between the polls of one set of phases and of the next
Phases = Mapping[Mode, int]
FULL: Phases = {"gateway": 20, "phone": 20}
QUICK: Phases = {"gateway": 3, "phone": 2}
ONE: Phases = {"gateway": 1, "phone": 1}


@dataclass(frozen=True, slots=True)
class Result:
    """One recording: the estimates of history, live view and as HACS saw it, history and live also without the seconds
    near a border of rooms, and those of the other rules."""

    recording: Recording
    estimated: tuple[Estimate, ...]
    history: Scores
    live: Scores
    hacs: Scores
    history_away: Scores
    live_away: Scores
    rules: Mapping[str, Score]

    @property
    def name(self) -> str:
        return f"{self.recording.of}/{self.recording.name}"

    @property
    def strongest(self) -> Score:
        return self.rules["strongest"]

    @property
    def mean(self) -> Score:
        return self.rules["mean"]

    def first(self, phases: Phases) -> "Result":
        """The same result with fewer phases."""
        few = phases[self.recording.mode]
        ways = {way: getattr(self, way).first(few) for way in ("history", "live", "hacs", "history_away", "live_away")}
        return replace(self, estimated=self.estimated[:few], **ways)


def measure(recordings: Iterable[Recording], phases: Phases, said: Callable[[str], object] = str) -> list[Result]:
    """Run every recording in several phases, each with a new locator. Raises FollowError."""

    def one(some: list[Recording]) -> list[Result]:
        said(f"playing {some[0].of}: {len(some)} recording{'s'[: len(some) > 1]}")
        played = estimates(some, phases)
        return [_result(recording, tuple(next(played)[2] for _ in range(phases[recording.mode]))) for recording in some]

    return [result for results in spread(one, by_set(recordings).values()) for result in results]


def spread(work: Callable[[T], R], items: Iterable[T]) -> list[R]:
    """Run the work on each item, several in parallel."""
    with ThreadPoolExecutor(WORKERS) as pool:
        return list(pool.map(work, items))


def by_set(recordings: Iterable[Recording]) -> dict[str, list[Recording]]:
    found: dict[str, list[Recording]] = {}
    for one in recordings:
        found.setdefault(one.of, []).append(one)
    return found


def estimates(
    recordings: Sequence[Recording], phases: Phases, tunings: Sequence[Tuning] = DEFAULT, *, sure: bool = False
) -> Iterator[tuple[Recording, int, Estimate]]:
    """The locator's estimates, one at a time: of each recording, in each of its phases, for each tuning. Raises
    FollowError."""
    plays = [(one, phase) for one in recordings for phase in range(phases[one.mode])]
    found = follow_all(
        Play(
            one.building,
            batches(one, phase),
            one.end_ms,
            tunings,
            sure=sure,
            schematic=one.schematic,
            taught_ms=one.taught_ms,
        )
        for one, phase in plays
    )
    for one, _ in plays:
        for number in range(len(tunings)):
            yield one, number, next(found).get(one.walker, Estimate())


def shares(recordings: Sequence[Recording], phases: Phases) -> list[tuple[float, float]]:
    """Of each recording the shares of right seconds in history and live, means over the phases. Raises FollowError."""
    played = estimates(recordings, phases)
    found = []
    for one in recordings:
        each = [right(one.scored, next(played)[2]) for _ in range(phases[one.mode])]
        history, live = (sum(way) / len(each) for way in zip(*each, strict=True))
        found.append((history, live))
    return found


def right(seconds: Sequence[Second], estimated: Estimate) -> tuple[float, float]:
    """Shares of right seconds in history and live."""
    history = sum(estimated.history_at(second.ts_ms) == second.room for second in seconds)
    live = sum(estimated.live_at(second.ts_ms) == second.room for second in seconds)
    return history / max(1, len(seconds)), live / max(1, len(seconds))


def _result(recording: Recording, estimated: tuple[Estimate, ...]) -> Result:
    scored, away = recording.scored, away_from_borders(recording)
    polled = [one.polled(number * OFFSET_S % 10) for number, one in enumerate(estimated)]

    def ways(seconds: list[Second]) -> tuple[Scores, Scores]:
        return (
            Scores(tuple(judge(seconds, one.history_at, one.history_changes()) for one in estimated)),
            Scores(tuple(judge(seconds, one.live_at, one.live_changes()) for one in estimated)),
        )

    history, live = ways(scored)
    hacs = Scores(tuple(judge(scored, one.room_at, one.changes()) for one in polled))
    rules = {name: by_rule(way, recording) for name, way in RULES.items()}
    return Result(recording, estimated, history, live, hacs, *ways(away), rules)


def by_rule(way: Way, recording: Recording) -> Score:
    rooms = way(recording)
    return judge(recording.scored, lambda ms: rooms.get(int(ms), ""), changes(list(rooms), list(rooms.values())))


def of_sets(results: Iterable[Result]) -> dict[str, list[Result]]:
    """Results by set."""
    found: dict[str, list[Result]] = {}
    for one in results:
        found.setdefault(one.recording.of, []).append(one)
    return found


def away_from_borders(recording: Recording) -> list[Second]:
    """Scored seconds with a known place further than NEAR_M from every other room of the level."""
    levels = _levels(recording.building)
    level_of = {room: level for level, rooms in levels.items() for room in rooms}
    known: dict[tuple[str, float, float], bool] = {}
    found = []
    for second in recording.scored:
        if second.x_m is None or second.y_m is None:
            continue
        key = (second.room, second.x_m, second.y_m)
        if key not in known:
            others = (it for room, it in levels[level_of[second.room]].items() if room != second.room)
            known[key] = all(_distance_m(it, key[1:]) > NEAR_M for it in others)
        if known[key]:
            found.append(second)
    return found


def _distance_m(polygon: Polygon, place: tuple[float, float]) -> float:
    """Distance from a place to a room in metres, 0 inside."""
    return 0.0 if covers(polygon, place) else clearance(polygon, place)


def _levels(building: dict[str, Any]) -> dict[str, dict[str, Polygon]]:
    return {level["id"]: {room["id"]: room["polygon"] for room in level["rooms"]} for level in building["levels"]}
