"""Learned offsets of devices, in use: what other recordings of a building teach, on recordings that did not teach it.

Three rounds: each corrects readings by what the one before taught, as the days of an installation do. Of a set with one
recording each half teaches the other."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from accuracy.alterations import PHASES, changed_share
from accuracy.altered import uneven
from accuracy.follow import Estimate, Learned, Play, follow_all
from accuracy.real import Phases, by_building, end_ms, estimate_all, shares, spread
from accuracy.recorded import Recording
from accuracy.windows import batches

ROUNDS = 3
DRAWS = (1, 2, 3, 4)


@dataclass(frozen=True, slots=True)
class Taught:
    """One set: shares of right seconds in history, without and with learned offsets, as recorded and with each device
    6 dB better or worse (a mean over the draws), and the shares of seconds that these draws change."""

    of: str
    plain: float
    taught: float
    uneven_plain: float
    uneven_taught: float
    changed_plain: float
    changed_taught: float


def taught(recordings: Iterable[Recording], phases: Phases = PHASES, draws: Sequence[int] = DRAWS) -> list[Taught]:
    """Each set. Raises FollowError."""
    buildings = [halves(building) for building in by_building(recordings)]
    return spread(lambda building: _of_building(building, phases, draws), buildings)


def _of_building(building: list[Recording], phases: Phases, draws: Sequence[int]) -> Taught:
    def history(found: list[list[Estimate]], some: list[Recording]) -> float:
        return fmean(shares(one, each)[0] for one, each in zip(some, found, strict=True))

    drawn = [[uneven(one, draw) for one in building] for draw in draws]
    plain, learned = _plain(building, phases), _by_others(building, phases)
    uneven_plain, uneven_learned = (
        [_plain(one, phases) for one in drawn],
        [_by_others(one, phases) for one in drawn],
    )

    def changed(found: list[list[Estimate]], others: list[list[list[Estimate]]]) -> float:
        return fmean(fmean(map(changed_share, building, found, other)) for other in others)

    return Taught(
        building[0].of,
        history(plain, building),
        history(learned, building),
        fmean(map(history, uneven_plain, drawn)),
        fmean(map(history, uneven_learned, drawn)),
        changed(plain, uneven_plain),
        changed(learned, uneven_learned),
    )


def _plain(building: list[Recording], phases: Phases) -> list[list[Estimate]]:
    return estimate_all(building, phases, [{}])[0]


def halves(building: list[Recording]) -> list[Recording]:
    """The recordings of a building; one alone is cut in two."""
    if len(building) > 1:
        return building
    (one,) = building
    middle_ms = one.adverts[len(one.adverts) // 2].ts_ms
    parts: list[tuple[str, Callable[[int], bool]]] = [
        ("first", lambda ms: ms < middle_ms),
        ("second", lambda ms: ms >= middle_ms),
    ]
    return [
        replace(
            one,
            name=f"{one.name} {part}",
            adverts=tuple(advert for advert in one.adverts if belongs(advert.ts_ms)),
            truth=tuple(second for second in one.truth if belongs(second.ts_ms)),
        )
        for part, belongs in parts
    ]


def estimate_taught(some: Sequence[Recording], phases: Phases, teachers: Sequence[Recording]) -> list[list[Estimate]]:
    """Estimates of each recording and phase, with the offsets that others in the same building taught."""
    return estimate_after_days(some, phases, [teachers] * ROUNDS)


def estimate_after_days(
    some: Sequence[Recording], phases: Phases, days: Sequence[Sequence[Recording]]
) -> list[list[Estimate]]:
    """The same, with the teachers of each day; a day's readings are corrected by what the day before taught."""
    plays = [
        Play(one.building, batches(one, 0), end_ms(one), {}, None, True, _learned(number, day))
        for day, teachers in enumerate(days)
        for number, one in enumerate(teachers)
    ]
    scored = [(one, phase) for one in some for phase in range(phases[one.mode])]
    plays += [
        Play(one.building, batches(one, phase), end_ms(one), {}, None, False, "keep" if number else "use")
        for number, (one, phase) in enumerate(scored)
    ]
    estimated = iter(follow_all(plays)[-len(scored) :])
    return [[next(estimated).get(one.walker, Estimate()) for _ in range(phases[one.mode])] for one in some]


def _by_others(building: list[Recording], phases: Phases) -> list[list[Estimate]]:
    """Each recording with offsets from the others."""
    return [estimate_taught([one], phases, [other for other in building if other is not one])[0] for one in building]


def _learned(number: int, day: int) -> Learned:
    if number:
        return "keep"
    return "use" if day else "anew"
