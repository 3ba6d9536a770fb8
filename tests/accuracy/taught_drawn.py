"""Learned offsets in drawn buildings: two hours of people on patrol teach, others are located.

`python -m accuracy.taught_drawn --seeds 201-212` prints shares of right seconds in history. With `--days 7` other
people teach each day, and printed is also what a further ±6 dB of each device changes."""

import argparse
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean

import numpy as np

from accuracy.alterations import changed_share
from accuracy.altered import uneven
from accuracy.drawn import LASTS_S, DrawnRecording, DrawnSet, Manner, Scene, draw, heard_share, rows, scene_of, truth
from accuracy.drawn_plan import patrol, standing
from accuracy.follow import Estimate
from accuracy.radios import MANNERS, ONE, recordings
from accuracy.real import estimate_all, shares, spread
from accuracy.recorded import Recording
from accuracy.taught import estimate_after_days, estimate_taught
from accuracy.track import Track

TEACHERS = 12  # patrols of ten minutes: two hours
STANDING, STANDING_S = 30, 120.0  # six people who stand say too little about two locators that are nearly alike
TEACHERS_A_DAY: tuple[tuple[Manner, int], ...] = (("patrol", 8), ("standing", 8))  # of ten minutes each
DRAWS = (1, 2)
NAMES = ("drawn", "uneven", "changed")
Shares = dict[Manner, float]


@dataclass(frozen=True, slots=True)
class TaughtBuilding:
    """Shares of right seconds in history, means over the people of a kind."""

    seed: int
    plain: Shares
    taught: Shares


def measure_taught(seeds: Iterable[int]) -> list[TaughtBuilding]:
    """Each building. Raises FollowError."""
    return spread(_of, seeds)


def _of(seed: int) -> TaughtBuilding:
    drawn, scene = draw(seed), scene_of(seed)
    teachers = _recorded(drawn, scene, "patrol", TEACHERS, LASTS_S, [seed, 99])
    scored = {
        "patrol": [one for one in recordings(drawn) if one.name.startswith("patrol")],
        "standing": _recorded(drawn, scene, "standing", STANDING, STANDING_S, [seed, 98]),
    }
    plain: Shares = {}
    taught: Shares = {}
    for manner in MANNERS:
        some = scored[manner]
        (found,) = estimate_all(some, ONE, [{}])
        plain[manner] = fmean(shares(one, each)[0] for one, each in zip(some, found, strict=True))
        learned = estimate_taught(some, ONE, teachers)
        taught[manner] = fmean(shares(one, each)[0] for one, each in zip(some, learned, strict=True))
    return TaughtBuilding(seed, plain, taught)


@dataclass(frozen=True, slots=True)
class Days:
    """Shares of right seconds in history after some days of learning, with the devices as drawn and with each 6 dB
    better or worse (means over the draws), each without and with learned offsets; and of seconds that these draws
    change."""

    seed: int
    drawn: tuple[float, float]
    uneven: tuple[float, float]
    changed: tuple[float, float]


def measure_days(seeds: Iterable[int], days: int) -> list[Days]:
    """Each building. Raises FollowError."""
    return spread(lambda seed: _after(seed, days), seeds)


def _after(seed: int, days: int) -> Days:
    drawn, scene = draw(seed), scene_of(seed)
    teachers = [
        [
            one
            for manner, count in TEACHERS_A_DAY
            for one in _recorded(drawn, scene, manner, count, LASTS_S, [seed, 200 + day])
        ]
        for day in range(days)
    ]
    some = [
        *_recorded(drawn, scene, "patrol", 4, LASTS_S, [seed, 97]),
        *_recorded(drawn, scene, "standing", STANDING, STANDING_S, [seed, 98]),
    ]

    def located(change: Callable[[Recording], Recording]) -> tuple[list[list[Estimate]], list[list[Estimate]]]:
        """Without and with what was learned."""
        altered = [change(one) for one in some]
        others = [[change(one) for one in day] for day in teachers]
        return estimate_all(altered, ONE, [{}])[0], estimate_after_days(altered, ONE, others)

    def right(found: list[list[Estimate]]) -> float:
        return fmean(shares(one, each)[0] for one, each in zip(some, found, strict=True))

    as_drawn = located(lambda one: one)
    altered = [located(partial(uneven, seed=number)) for number in DRAWS]
    without, taught = ([one[way] for one in altered] for way in (0, 1))
    return Days(
        seed,
        (right(as_drawn[0]), right(as_drawn[1])),
        (fmean(map(right, without)), fmean(map(right, taught))),
        (
            fmean(fmean(map(changed_share, some, as_drawn[0], one)) for one in without),
            fmean(fmean(map(changed_share, some, as_drawn[1], one)) for one in taught),
        ),
    )


def _recorded(
    drawn: DrawnSet, scene: Scene, manner: Manner, count: int, lasts_s: float, seed: list[int]
) -> list[Recording]:
    """Other people in the same building and radio; nobody who is unheard for more than half of the time."""
    rng = np.random.default_rng(seed)
    found: list[DrawnRecording] = []
    for _ in range(4 * count):
        walk = patrol(scene.plan, rng) if manner == "patrol" else standing(scene.plan, rng)
        track = Track(walk, lasts_s)
        adverts = scene.air.adverts(track, scene.mode, rng)
        if heard_share(adverts.times_s, scene.air.radio, lasts_s) >= 0.5:
            one = rows(adverts, scene.devices, scene.mode)
            found.append(DrawnRecording(f"{manner}-more-{len(found)}", manner, one, truth(track)))
        if len(found) == count:
            break
    return recordings(replace(drawn, recordings=found))


def main() -> None:
    """Print the shares of each building, and their means."""
    parser = argparse.ArgumentParser(prog="accuracy.taught_drawn")
    parser.add_argument("--seeds", default="201-212", help="FIRST-LAST (default: %(default)s)")
    parser.add_argument("--days", type=int, help="of learning, with other people each day")
    asked = parser.parse_args()
    first, _, last = asked.seeds.partition("-")
    seeds = range(int(first), int(last or first) + 1)
    if asked.days:
        _print_days(measure_days(seeds, asked.days))
        return
    found = measure_taught(seeds)
    for one in found:
        pairs = "; ".join(f"{manner} {one.plain[manner]:.1%}, {one.taught[manner]:.1%}" for manner in MANNERS)
        sys.stdout.write(f"{one.seed}: {pairs}\n")
    for manner in MANNERS:
        before, after = (
            fmean(some[manner] for some in kind) for kind in zip(*[(x.plain, x.taught) for x in found], strict=True)
        )
        sys.stdout.write(f"{manner}: {before:.1%} without, {after:.1%} with learned offsets\n")


def _print_days(found: list[Days]) -> None:
    """Each building, and the means."""
    means = [[fmean(getattr(one, name)[way] for one in found) for way in (0, 1)] for name in NAMES]
    for seed, pairs in [(str(one.seed), [getattr(one, name) for name in NAMES]) for one in found] + [("mean", means)]:
        shown = "; ".join(f"{name} {a:.1%}, {b:.1%}" for name, (a, b) in zip(NAMES, pairs, strict=True))
        sys.stdout.write(f"{seed}: {shown}\n")


if __name__ == "__main__":
    main()
