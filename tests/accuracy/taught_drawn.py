"""Learned offsets in drawn buildings: two hours of people on patrol teach, others are located.

`python -m accuracy.taught_drawn --seeds 201-212` prints shares of right seconds in history."""

import argparse
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from statistics import fmean

import numpy as np

from accuracy.drawn import LASTS_S, DrawnRecording, DrawnSet, Manner, Scene, draw, heard_share, rows, scene_of, truth
from accuracy.drawn_plan import patrol, standing
from accuracy.radios import MANNERS, ONE, recordings
from accuracy.real import estimate_all, shares, spread
from accuracy.recorded import Recording
from accuracy.taught import estimate_taught
from accuracy.track import Track

TEACHERS = 12  # patrols of ten minutes: two hours
STANDING, STANDING_S = 30, 120.0  # six people who stand say too little about two locators that are nearly alike
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
    first, _, last = parser.parse_args().seeds.partition("-")
    found = measure_taught(range(int(first), int(last or first) + 1))
    for one in found:
        pairs = "; ".join(f"{manner} {one.plain[manner]:.1%}, {one.taught[manner]:.1%}" for manner in MANNERS)
        sys.stdout.write(f"{one.seed}: {pairs}\n")
    for manner in MANNERS:
        before, after = (
            fmean(some[manner] for some in kind) for kind in zip(*[(x.plain, x.taught) for x in found], strict=True)
        )
        sys.stdout.write(f"{manner}: {before:.1%} without, {after:.1%} with learned offsets\n")


if __name__ == "__main__":
    main()
