"""Runs the locator in the drawn buildings: figures of each, and of groups."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from accuracy.altered import stronger
from accuracy.drawn import DrawnSet, Facts, Manner, draw, scene_of
from accuracy.informed import informed
from accuracy.interval import median, worst_decile
from accuracy.real import Phases, Result, Tuning, estimate_all, measure, shares, spread
from accuracy.recorded import Advert, Recording, Second

SEEDS = range(1, 41)
QUICK_SEEDS = range(1, 11)
# With shifted levels. Transmitters are 10 to 14 dB weak there: at the file's power, and 15 dB below it, all received
# adverts are above a receiver's sensitivity.
LEVEL_SEEDS = (3, 4, 6, 11)
ONE: Phases = {"gateway": 1, "phone": 1}  # phases: nine recordings of each building spread enough
WAYS = ("history", "live", "strongest", "mean")
MANNERS: tuple[Manner, ...] = ("standing", "patrol")


@dataclass(frozen=True, slots=True)
class Drawn:
    """Figures of one building: shares are means over its recordings of one kind."""

    seed: int
    facts: Facts
    mode: str
    history: dict[Manner, float]
    live: dict[Manner, float]
    strongest: dict[Manner, float]
    mean: dict[Manner, float]
    flips_an_hour: float
    """Live changes of standing people."""
    changes_a_true_one: float
    """In the history of patrols."""
    informed: float
    """Of the standing recordings: share of right rooms of a locator that knows the building's radio."""

    @property
    def groups(self) -> tuple[str, ...]:
        """The parts of the table it belongs to."""
        missing = "positions missing" if self.facts["positions_missing"] else "positions measured"
        return ("all", missing, self.mode, f"plan: {self.facts['plan']}")


def recordings(drawn: DrawnSet) -> list[Recording]:
    """The recordings, as if read from files."""
    return [
        Recording(
            f"drawn-{drawn.seed:02}",
            one.name,
            drawn.mode,
            drawn.building,
            tuple(Advert(*advert) for advert in one.adverts),
            tuple(Second(*second) for second in one.truth),
        )
        for one in drawn.recordings
    ]


def calibrated(drawn: DrawnSet) -> list[Recording]:
    """The recordings with tag or beacons at the building file's power, before shifts."""
    return [stronger(one, -round(float(drawn.facts["tx_error_db"]))) for one in recordings(drawn)]


def measure_drawn(seeds: Iterable[int], said: Callable[[str], object] = str) -> list[Drawn]:
    """Draw and simulate the buildings of these seeds. Raises FollowError."""

    def one(seed: int) -> Drawn:
        said(f"playing drawn building {seed}")
        drawn = draw(seed)
        return _figures(drawn, measure(recordings(drawn), ONE), informed(scene_of(seed)))

    return spread(one, seeds)


def _figures(drawn: DrawnSet, results: list[Result], informed_share: float) -> Drawn:
    some: dict[Manner, list[Result]] = {manner: [] for manner in MANNERS}
    for made, result in zip(drawn.recordings, results, strict=True):
        some[made.manner].append(result)

    def shares_of(way: str) -> dict[Manner, float]:
        return {manner: fmean(getattr(one, way).share for one in some[manner]) for manner in MANNERS}

    hours = sum(one.live.seconds for one in some["standing"]) / 3600
    return Drawn(
        drawn.seed,
        drawn.facts,
        drawn.mode,
        history=shares_of("history"),
        live=shares_of("live"),
        strongest=shares_of("strongest"),
        mean=shares_of("mean"),
        flips_an_hour=sum(len(one.estimated[0].live_changes()) for one in some["standing"]) / hours,
        changes_a_true_one=sum(one.history.changes for one in some["patrol"])
        / max(1, sum(one.history.true_changes for one in some["patrol"])),
        informed=informed_share,
    )


def median_shares(seeds: Iterable[int], tunings: Sequence[Tuning]) -> list[dict[Manner, float]]:
    """For each tuning the median over these buildings of history's right share."""

    def one(seed: int) -> list[dict[Manner, float]]:
        drawn = draw(seed)
        some = recordings(drawn)
        found = []
        for estimated in estimate_all(some, ONE, tunings):
            right = [shares(recording, each)[0] for recording, each in zip(some, estimated, strict=True)]
            both = [*zip((made.manner for made in drawn.recordings), right, strict=True)]
            found.append({manner: fmean(share for of, share in both if of == manner) for manner in MANNERS})
        return found

    buildings = spread(one, seeds)
    return [
        {manner: median([building[number][manner] for building in buildings]) for manner in MANNERS}
        for number in range(len(tunings))
    ]


@dataclass(frozen=True, slots=True)
class Summary:
    """Median and worst decile of shares of some buildings, by method and kind; median of the flips."""

    name: str
    count: int
    shares: dict[tuple[str, Manner], tuple[float, float]]
    flips_an_hour: float
    changes_a_true_one: float
    informed: tuple[float, float]


def summaries(buildings: Sequence[Drawn]) -> list[Summary]:
    """Of all, and of each part."""
    names = dict.fromkeys(name for one in buildings for name in one.groups)
    order = sorted(names, key=lambda name: (name != "all", name.startswith("plan"), name))
    return [_summary(name, [one for one in buildings if name in one.groups]) for name in order]


def _summary(name: str, some: list[Drawn]) -> Summary:
    found = {}
    for way in WAYS:
        for manner in MANNERS:
            values = [getattr(one, way)[manner] for one in some]
            found[way, manner] = (median(values), worst_decile(values))
    flips = median([one.flips_an_hour for one in some])
    estimated = [one.informed for one in some]
    changes = median([one.changes_a_true_one for one in some])
    return Summary(name, len(some), found, flips, changes, (median(estimated), worst_decile(estimated)))
