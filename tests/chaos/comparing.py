"""Whether what is stored is what was acknowledged, and what an undisturbed run makes of it."""

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from stack.stores import FIRST, Store
from support import web
from support.running import RunningStack
from support.stack_client import eventually, now_ms

from . import history
from .load import Acked

STORED_WITHIN_S, SETTLED_WITHIN_S = 60.0, 300.0


@dataclass(slots=True)
class Result:
    """What was found; `problems` is empty where all is well."""

    figures: dict[str, str] = field(default_factory=dict)
    problems: dict[str, list[str]] = field(default_factory=dict)
    """By what is broken."""
    culprits: set[str] = field(default_factory=set)
    """Services whose logs are worth a look."""

    def blame(self, what: str, found: list[str], *services: str) -> None:
        if found:
            self.problems[what] = found
            self.culprits.update(services)


class Window(NamedTuple):
    """What is compared."""

    from_ms: int
    to_ms: int


def compare_readings(
    stack: RunningStack,
    from_ms: int,
    to_ms: int,
    receivers: Collection[str] | None,
    acked: list[Acked],
    result: Result,
    store: Store = FIRST,
) -> list[history.Reading]:
    """The stored readings, which must be those that were acknowledged, by receiver and batch. `receivers`: only
    theirs; None: all, so that those of others are too many."""
    wanted = Counter({(one.kind, one.receiver, one.ts_ms): one.readings for one in acked})
    rows = list[history.Reading]()
    stored = Counter[tuple[str, str, int]]()

    def all_stored() -> bool:
        rows[:] = history.stored_readings(stack, from_ms, to_ms, receivers, store)
        stored.clear()
        stored.update((kind, receiver, ts) for ts, _, kind, receiver, _ in rows)
        return stored == wanted

    with suppress(AssertionError):  # what is not as wanted is named below
        eventually(all_stored, STORED_WITHIN_S)
    by_receiver: dict[str, list[int]] = {}
    for (_, receiver, ts), count in (wanted - stored).items():
        by_receiver.setdefault(receiver, []).extend([ts] * count)
    lost = [f"{receiver}: {len(times)} readings, the first of {min(times)}" for receiver, times in by_receiver.items()]
    result.blame("readings that were acknowledged are not stored", lost, "mosquitto", "telegraf", "influxd")
    more = [f"{key}: {count}" for key, count in (stored - wanted).items()]
    result.blame("readings are stored that were not acknowledged", more, "mosquitto", "telegraf")
    result.figures["readings acknowledged"] = f"{sum(wanted.values()):,}"
    result.figures["readings stored"] = f"{sum(stored.values()):,}"
    return rows


def settled_history(
    stack: RunningStack,
    since_ms: int,
    to_ms: int,
    staff: Sequence[str],
    references: Sequence[history.History],
    sure: Window,
    store: Store = FIRST,
) -> history.History:
    """The stored history, once it is one of the references or does not change any more."""
    seen = history.History(set(), set())

    def settled() -> bool:
        nonlocal seen
        before, seen = seen, history.stored_history(stack, since_ms, to_ms, set(staff), store)
        if _differing(seen, nearest(seen, references), sure) == ([], []):
            return True
        waiting = web.get(f"{stack.http_url}/health").json()["parts"]["rebuild"]["waiting"]
        return seen == before and waiting == 0 and now_ms() > to_ms + history.LEFT_MS / 4

    with suppress(AssertionError):  # how it differs is for the caller to say
        eventually(settled, SETTLED_WITHIN_S)
    return seen


def nearest(stored: history.History, references: Sequence[history.History]) -> history.History:
    """Of each person the reference that has the most in common with what is stored. Pure."""
    mine, *others = (_by_person(one) for one in (stored, *references))
    chosen = history.History(set(), set())
    for person in {person for one in others for person in one}:
        best = min((one[person] for one in others), key=partial(_distance, mine[person]))
        chosen.locations.update(best.locations)
        chosen.stays.update(best.stays)
    return chosen


def _distance(one: history.History, other: history.History) -> int:
    return len(one.locations ^ other.locations) + len(one.stays ^ other.stays)


def _by_person(whole: history.History) -> defaultdict[str, history.History]:
    found: defaultdict[str, history.History] = defaultdict(lambda: history.History(set(), set()))
    for location in whole.locations:
        found[location[0]].locations.add(location)
    for stay in whole.stays:
        found[stay[0]].stays.add(stay)
    return found


def of_people(whole: history.History, people: Collection[str]) -> history.History:
    """The part of a history that is about these people. Pure."""
    locations = {row for row in whole.locations if row[0] in people}
    return history.History(locations, {row for row in whole.stays if row[0] in people})


def compare_history(
    stored: history.History, expected: history.History, sure: Window, result: Result, which: str = ""
) -> None:
    """The stored history must be the expected one; `which` history it is begins the names of figures and problems."""
    prefix = f"{which}: " if which else ""
    locations, stays = _differing(stored, expected, sure)
    result.blame(f"{prefix}locations differ from an undisturbed run", locations, "node-red")
    result.blame(f"{prefix}stays differ from an undisturbed run", stays, "node-red")
    add_history(stored, expected, sure, result, which)


def add_history(
    stored: history.History, expected: history.History, sure: Window, result: Result, which: str = ""
) -> None:
    """Figures of how a stored history differs from the expected one."""
    prefix = f"{which}: " if which else ""
    _, stays = _differing(stored, expected, sure)
    expected_locations, expected_stays = _within(expected, sure)
    seconds = {row[:2] for row in expected_locations}
    lost = seconds - {row[:2] for row in stored.locations}
    rooms = {(row[0], row[1], row[3]) for row in expected_locations}
    others = rooms - {(row[0], row[1], row[3]) for row in stored.locations}
    result.figures[f"{prefix}locations of an undisturbed run"] = f"{len(seconds):,}"
    result.figures[f"{prefix}of them missing, in another room"] = f"{len(lost):,}, {len(others) - len(lost):,}"
    result.figures[f"{prefix}stays of an undisturbed run"] = f"{len(expected_stays):,}"
    result.figures[f"{prefix}stays that differ (both sides)"] = f"{len(stays):,}"


def _differing(stored: history.History, expected: history.History, sure: Window) -> tuple[list[str], list[str]]:
    def lines(one: set[Any], other: set[Any], what: str) -> list[str]:
        return [f"{what}: {row}" for row in sorted(one - other)]

    (here, ended), (there, end) = (_within(one, sure) for one in (stored, expected))
    return (
        lines(here, there, "only stored") + lines(there, here, "only undisturbed"),
        lines(ended, end, "only stored") + lines(end, ended, "only undisturbed"),
    )


def _within(whole: history.History, sure: Window) -> tuple[set[history.Location], set[history.Stay]]:
    locations = {row for row in whole.locations if sure.from_ms <= row[1] < sure.to_ms}
    return locations, {row for row in whole.stays if row[2] >= sure.from_ms and row[3] < sure.to_ms}
