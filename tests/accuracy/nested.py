"""Nested cross-validation: scores of recordings not used for tuning (leave one set or one recording out).

For each fold the numbers are chosen on all that is not left out, and scored on what is. Beside it stands what the same
choice gives in sight of everything; the gap between the two is what tuning flatters."""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from accuracy.candidates import Tuning, joined, numbers, single_steps
from accuracy.real import Phases, by_building, estimate_all, shares, spread
from accuracy.recorded import Recording

PHASES: Phases = {"gateway": 3, "phone": 2}
SECOND_STEPS = 3  # the best single step is combined with this many next best ones
Shares = tuple[float, float]
"""Of history and of live."""


@dataclass(frozen=True, slots=True)
class Outer:
    """A fold: what was left out, its tuning, and its shares with tuning chosen without and with it."""

    name: str
    chosen: Tuning
    outer: Shares
    tuned: Shares


@dataclass(frozen=True, slots=True)
class Nested:
    """All folds, and the tuning chosen on all data."""

    sets: tuple[Outer, ...]
    recordings: tuple[Outer, ...]
    chosen: Tuning

    @property
    def gap(self) -> Shares:
        """Mean gap over the sets between tuned and left out."""
        return _mean([tuple(map(float.__sub__, one.tuned, one.outer)) for one in self.sets])


class Bench:
    """Shares of each recording by tuning; each is computed once."""

    def __init__(self, recordings: Sequence[Recording], phases: Phases = PHASES) -> None:
        self.recordings = recordings
        self._phases = phases
        self._known: dict[tuple[tuple[str, float], ...], list[Shares]] = {}

    def add(self, tunings: Sequence[Tuning]) -> None:
        """Compute missing shares. Raises FollowError."""
        new = [one for one in tunings if _key(one) not in self._known]
        if not new:
            return

        def one(some: list[Recording]) -> list[list[Shares]]:
            return [list(map(shares, some, estimated)) for estimated in estimate_all(some, self._phases, new)]

        found = spread(one, by_building(self.recordings))
        for number, tuning in enumerate(new):
            self._known[_key(tuning)] = [each for building in found for each in building[number]]

    def mean(self, tuning: Tuning, of: Sequence[Recording]) -> Shares:
        """Mean over the sets of the means over their selected recordings."""
        by_set: dict[str, list[Shares]] = {}
        for recording, one in zip(self.recordings, self._known[_key(tuning)], strict=True):
            if recording in of:
                by_set.setdefault(recording.of, []).append(one)
        return _mean([_mean(some) for some in by_set.values()])

    def best(self, tunings: Sequence[Tuning], of: Sequence[Recording]) -> list[Tuning]:
        """Tunings, best first; ties keep their order."""
        return sorted(tunings, key=lambda tuning: -sum(self.mean(tuning, of)))

    def choose(self, of: Sequence[Recording]) -> Tuning:
        """Two steps of coordinate search on these recordings only."""
        singles: list[dict[str, float]] = [{}, *single_steps(numbers())]
        self.add(singles)
        first, *others = self.best(singles, of)
        seconds = joined(first, [dict(one) for one in others if one][: SECOND_STEPS * 2])[:SECOND_STEPS]
        self.add(seconds)
        return self.best([first, *seconds], of)[0]


def nested(recordings: Sequence[Recording], said: Callable[[str], object] = str) -> Nested:
    """All folds. Raises FollowError."""
    bench = Bench(recordings)
    said("choosing numbers in sight of everything")
    tuned = bench.choose(recordings)

    def fold(name: str, out: list[Recording]) -> Outer:
        said(f"choosing numbers without {name}")
        chosen = bench.choose([one for one in recordings if one not in out])
        return Outer(name, chosen, bench.mean(chosen, out), bench.mean(tuned, out))

    names = dict.fromkeys(one.of for one in recordings)
    sets = tuple(fold(name, [one for one in recordings if one.of == name]) for name in names) if len(names) > 1 else ()
    singles = tuple(fold(f"{one.of}/{one.name}", [one]) for one in recordings) if len(recordings) > 1 else ()
    return Nested(sets, singles, tuned)


def _key(tuning: Tuning) -> tuple[tuple[str, float], ...]:
    return tuple(sorted(tuning.items()))


def _mean(some: Sequence[Sequence[float]]) -> Shares:
    history, live = zip(*some, strict=True)
    return statistics.fmean(history), statistics.fmean(live)
