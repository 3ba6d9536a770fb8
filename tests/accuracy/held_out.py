"""Leave one building out: how often the room is right, and how far its probability can be believed, in a building
that the locator's numbers were not chosen with.

For each set the numbers are chosen on all other sets, and scored on it. Beside it stands what the same choice gives in
sight of everything: the gap between the two is what tuning in sight flatters."""

import json
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple

from stack.layout import ROOT, node_folder

from accuracy.follow import POLL_S, Estimate, Tuning
from accuracy.measure import OFFSET_S, Phases, by_rule, by_set, estimates, spread
from accuracy.recorded import Recording
from accuracy.rules import RULES
from accuracy.score import Reliability

PROGRAM = """
const { DEFAULTS, TUNABLE } = require('./flows/lib/locator');
process.stdout.write(JSON.stringify(Object.fromEntries(TUNABLE.map((name) => [name, DEFAULTS[name]]))));
"""
MOST_NUMBERS = 12
STEPS = (0.7, 1.4)
SECOND_STEPS = 3  # the best single step is combined with this many next best ones
PHASES: Phases = {"gateway": 3, "phone": 2}


class Figures(NamedTuple):
    """Shares of right seconds in history, live and as HACS saw it; mean squares of probability minus outcome (Brier's
    score) of the answers in history and live."""

    history: float
    live: float
    hacs: float
    history_brier: float
    live_brier: float


@dataclass(frozen=True, slots=True)
class Fold:
    """A set that was left out: the numbers chosen without it, its figures with those and with the numbers chosen in
    sight of everything, and the other rules' shares of right seconds."""

    name: str
    chosen: Tuning
    left_out: Figures
    in_sight: Figures
    rules: dict[str, float]
    history: Reliability
    live: Reliability

    @property
    def best_rule(self) -> tuple[str, float]:
        return max(self.rules.items(), key=lambda one: one[1])


@dataclass(frozen=True, slots=True)
class HeldOut:
    """All folds; reliability over all of them, where each set weighs the same."""

    folds: tuple[Fold, ...]
    history: Reliability
    live: Reliability


def numbers() -> dict[str, float]:
    """The locator's numbers to choose, as they are."""
    command = (node_folder() / "node", "-e", PROGRAM)
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found = {name: float(value) for name, value in json.loads(done.stdout).items()}
    if len(found) > MOST_NUMBERS:
        raise ValueError(f"{len(found)} numbers to choose: {', '.join(found)}")
    return found


def single_steps(of: Tuning) -> list[dict[str, float]]:
    """Each number alone times each of STEPS; 0 stays 0."""
    return [{name: round(value * factor, 4)} for name, value in of.items() if value for factor in STEPS]


def joined(best: Tuning, others: Sequence[Tuning]) -> list[dict[str, float]]:
    """A tuning combined with each change of another number."""
    return [{**best, **other} for other in others if other and not best.keys() & other.keys()]


class Bench:
    """Figures of each set by tuning; each is computed once."""

    def __init__(self, recordings: Sequence[Recording]) -> None:
        self._sets = by_set(recordings)
        self._known: dict[tuple[tuple[str, float], ...], dict[str, Figures]] = {}

    def add(self, tunings: Sequence[Tuning]) -> None:
        """Compute missing figures. Raises FollowError."""
        new = [one for key, one in {_key(one): one for one in tunings}.items() if key not in self._known]
        if not new:
            return

        def of_set(some: list[Recording]) -> list[Figures]:
            found: list[dict[str, list[Figures]]] = [{} for _ in new]
            for play, (one, number, estimated) in enumerate(estimates(some, PHASES, new, sure=True)):
                figures = _figures(one, estimated, play // len(new) * OFFSET_S % POLL_S)
                found[number].setdefault(one.name, []).append(figures)
            return [mean([mean(phases) for phases in each.values()]) for each in found]

        for name, figures in zip(self._sets, spread(of_set, self._sets.values()), strict=True):
            for tuning, one in zip(new, figures, strict=True):
                self._known.setdefault(_key(tuning), {})[name] = one

    def mean(self, tuning: Tuning, of: Sequence[str]) -> Figures:
        """Mean over these sets of the means over their recordings."""
        return mean([self._known[_key(tuning)][name] for name in of])

    def choose(self, of: Sequence[str]) -> Tuning:
        """Two steps of coordinate search on these sets only, by history and live. Numbers that change no room are
        chosen after that, by Brier's score."""
        singles: list[Tuning] = [{}, *single_steps(numbers())]
        self.add(singles)

        def right(tuning: Tuning) -> float:
            found = self.mean(tuning, of)
            return found.history + found.live

        def brier(tuning: Tuning) -> float:
            found = self.mean(tuning, of)
            return found.history_brier + found.live_brier

        first, *others = sorted(singles, key=right, reverse=True)  # ties keep their order
        seconds = joined(first, others)[:SECOND_STEPS]
        self.add(seconds)
        best = max([first, *seconds], key=right)
        sure = joined(best, [one for one in singles if one and right(one) == right({})])
        self.add(sure)
        return min([best, *sure], key=brier)


def held_out(recordings: Sequence[Recording], said: Callable[[str], object] = str) -> HeldOut:
    """All folds; none of a single set. Raises FollowError."""
    sets = by_set(recordings)
    if len(sets) < 2:
        return HeldOut((), Reliability(), Reliability())
    bench = Bench(recordings)
    said(f"choosing among {len(numbers())} numbers in sight of everything")
    in_sight = bench.choose(list(sets))
    history, live = Reliability(), Reliability()
    folds = []
    for name, some in sets.items():
        said(f"choosing numbers without {name}")
        chosen = bench.choose([other for other in sets if other != name])
        rules = {rule: fmean(by_rule(way, one).share for one in some) for rule, way in RULES.items()}
        its = [_answers(one, estimated) for one, _, estimated in estimates(some, PHASES, [chosen], sure=True)]
        both = []
        for way, everywhere in ((0, history), (1, live)):
            answers = [answer for each in its for answer in each[way]]
            both.append(Reliability().add(answers))
            everywhere.add(answers, 1 / max(1, len(answers)))
        folds.append(Fold(name, chosen, bench.mean(chosen, [name]), bench.mean(in_sight, [name]), rules, *both))
    return HeldOut(tuple(folds), history, live)


def _answers(recording: Recording, estimated: Estimate) -> tuple[list[tuple[float, bool]], list[tuple[float, bool]]]:
    """Of history and live each second's probability, and whether the room is right; seconds without a room have
    none."""
    history, live = [], []
    for second in recording.scored:
        said = estimated.answer_at(second.ts_ms)
        if said.room:
            history.append((said.probability, said.room == second.room))
        if room := estimated.live_at(second.ts_ms):
            live.append((estimated.live_probability_at(second.ts_ms), room == second.room))
    return history, live


def _figures(recording: Recording, estimated: Estimate, offset_s: float) -> Figures:
    count = max(1, len(recording.scored))
    polled = estimated.polled(offset_s)
    hacs = sum(polled.room_at(second.ts_ms) == second.room for second in recording.scored)
    both = _answers(recording, estimated)
    history, live = (sum(right for _, right in answers) / count for answers in both)
    squares = (fmean((said - right) ** 2 for said, right in answers) if answers else 1.0 for answers in both)
    return Figures(history, live, hacs / count, *squares)


def mean(some: Sequence[Figures]) -> Figures:
    return Figures(*map(fmean, zip(*some, strict=True)))


def label(tuning: Tuning) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in tuning.items()) or "as it is"


def _key(tuning: Tuning) -> tuple[tuple[str, float], ...]:
    return tuple(sorted(tuning.items()))
