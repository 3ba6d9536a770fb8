"""Results on altered recordings: shifted levels, removed positions, cut recordings."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean

from accuracy.altered import TAG_DB, stronger, uneven, unlike, unmeasured
from accuracy.conditions import conditions
from accuracy.follow import Estimate
from accuracy.real import Phases, Result, by_building, estimate_all, measure, of_sets, spread
from accuracy.recorded import Recording
from accuracy.recut import Variation, drawn, variations
from accuracy.schematic import schematic

PHASES: Phases = {"gateway": 3, "phone": 1}
Shift = Callable[[Recording], Recording]
POWER: dict[str, Shift] = {
    f"tag or phone {TAG_DB} dB weaker": partial(stronger, by_db=-TAG_DB),
    f"tag or phone {TAG_DB} dB stronger": partial(stronger, by_db=TAG_DB),
}
SHIFTS: dict[str, Shift] = {
    **POWER,
    "each device 6 dB better or worse": partial(uneven, seed=1),
    "… another draw": partial(uneven, seed=2),
    "each device by up to 6 dB": partial(unlike, seed=1),
    "… one more draw": partial(unlike, seed=2),
}


@dataclass(frozen=True, slots=True)
class Altered:
    """Mean shares over the recordings of one set, for one alteration."""

    of: str
    alteration: str
    history: float
    live: float
    mean: float
    """Of the simple method."""
    worst: tuple[str, float]
    """The recording whose history is least above the simple method, and by how much."""


def positions_taken(recordings: Iterable[Recording], phases: Phases = PHASES) -> list[Altered]:
    """Rooms by their devices only. Raises FollowError."""
    without = [unmeasured(one) for one in recordings]
    return _altered("no positions", measure(without, phases))


def only_listed(recordings: Iterable[Recording], phases: Phases = PHASES) -> list[Altered]:
    """Only the names of levels and rooms, as in a list of beacons. Raises FollowError."""
    return _altered("from a list", measure(schematic(recordings), phases))


def cut_anew(
    recordings: Sequence[Recording], times: int, said: Callable[[str], object] = str, phases: Phases = PHASES
) -> list[Altered]:
    """All variations, each drawn several times. Raises FollowError."""
    return _varied(recordings, variations(times), said, phases)


def under_conditions(
    recordings: Sequence[Recording], times: int, said: Callable[[str], object] = str, phases: Phases = PHASES
) -> list[Altered]:
    """Other receivers, phones, tags and plans; random ones drawn several times. Raises FollowError."""
    return _varied(recordings, conditions(times), said, phases)


def _varied(
    recordings: Sequence[Recording], kinds: Sequence[Variation], said: Callable[[str], object], phases: Phases
) -> list[Altered]:
    found = []
    for variation in kinds:
        said(f"cutting anew: {variation.name}")
        some = [cut for recording in recordings for cut in drawn(recording, variation)]
        found += _altered(variation.name, measure([one for one in some if one.scored and one.adverts], phases))
    return found


def changed_by_levels(
    recordings: Iterable[Recording], phases: Phases = PHASES, shifts: Mapping[str, Shift] = SHIFTS
) -> dict[str, dict[str, float]]:
    """By shift and set the share of all seconds whose room in history is another one than without the shift; of a set
    the mean over its recordings. Raises FollowError."""

    def one(building: list[Recording]) -> dict[str, float]:
        some = [building, *([shift(each) for each in building] for shift in shifts.values())]
        (plain, *shifted) = (estimate_all(each, phases, [{}])[0] for each in some)
        return {
            name: fmean(map(changed_share, building, plain, estimated))
            for name, estimated in zip(shifts, shifted, strict=True)
        }

    buildings = by_building(recordings)
    found: dict[str, dict[str, float]] = {name: {} for name in shifts}
    for building, shares in zip(buildings, spread(one, buildings), strict=True):
        for name, share in shares.items():
            found[name][building[0].of] = share
    return found


def changed_share(recording: Recording, plain: list[Estimate], other: list[Estimate]) -> float:
    """Share of seconds with a different room, in the same phases."""
    times = [second.ts_ms for second in recording.truth]
    pairs = zip(plain, other, strict=True)
    return fmean(fmean(a.history_at(ms) != b.history_at(ms) for ms in times) for a, b in pairs)


def _altered(alteration: str, results: Sequence[Result]) -> list[Altered]:
    return [_of_set(of, alteration, some) for of, some in of_sets(results).items()]


def _of_set(of: str, alteration: str, some: Sequence[Result]) -> Altered:
    history, live, mean = (fmean(getattr(one, way).share for one in some) for way in ("history", "live", "mean"))
    above: dict[str, list[float]] = {}
    for one in some:
        above.setdefault(one.recording.name, []).append(one.history.share - one.mean.share)
    name = min(above, key=lambda each: fmean(above[each]))
    return Altered(of, alteration, history, live, mean, (name, fmean(above[name])))
