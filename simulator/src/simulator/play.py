"""What a command plays, made of building, people and seed: receivers, batches, gateways and outages. Pure."""

import heapq
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from simulator.building import Building
from simulator.gateways import PlayedGateway, Tags, gateways_of
from simulator.message import Receiver, ScheduledBatch
from simulator.phones import Phones
from simulator.telemetry import sensors_of

# A gateway that fails loses its network for minutes, soon after the start, so that somebody who has a look sees it, and
# then every few hours. The platform raises an alert after 20 s.
FIRST_OUTAGE_S, OUTAGE_S, OUTAGE_EVERY_S = (90.0, 150.0), (120.0, 240.0), (4 * 3600.0, 8 * 3600.0)
LATE_S = (5.0, 60.0)  # after its time a late batch is sent
AWAY_S = (60.0, 300.0)  # a phone is switched off for so long


class Outage(NamedTuple):
    """A receiver's connection is cut from `start_s` to `end_s` after the start of the run; `switched_off`: it
    disconnects cleanly, and makes no batches meanwhile."""

    start_s: float
    end_s: float
    sender: int
    switched_off: bool = False


@dataclass(frozen=True, slots=True)
class Faults:
    """Faults of a run: the same seed gives the same, and without any the batches stay as they are.

    Shares of all batches, 0 … 1. A late batch is sent LATE_S after its time and keeps its time stamp. Receivers' clocks
    are wrong by up to `clock_skew_s`, early or late."""

    duplicates: float = 0.0
    late: float = 0.0
    malformed: float = 0.0
    clock_skew_s: float = 0.0

    def skew_ms(self, seed: int, sender: int) -> int:
        """By how much a receiver's clock is ahead, ms."""
        rng = random.Random(f"{seed}/clock/{sender}")  # noqa: S311 - play, not secrets
        return round(rng.uniform(-1, 1) * self.clock_skew_s * 1000)

    def apply(self, batches: Iterator[ScheduledBatch], seed: int) -> Iterator[ScheduledBatch]:
        """The batches with their faults, by due times. Late ones that are left at the end are sent then."""
        if self.clock_skew_s:
            batches = self._skewed(batches, seed)
        if not (self.duplicates or self.late or self.malformed):
            yield from batches
            return
        rng = random.Random(f"{seed}/faults")  # noqa: S311 - play, not secrets
        delayed: list[ScheduledBatch] = []
        end_s = 0.0
        for item in batches:
            end_s = item.due_s
            while delayed and delayed[0].due_s <= item.due_s:
                yield heapq.heappop(delayed)
            if not item.readings:
                yield item
                continue
            is_late, is_duplicate, is_malformed = (
                rng.random() < share for share in (self.late, self.duplicates, self.malformed)
            )
            faulty = item._replace(copies=1 + is_duplicate, malformed=is_malformed)
            if is_late:
                heapq.heappush(delayed, faulty._replace(due_s=item.due_s + rng.uniform(*LATE_S), late=True))
            else:
                yield faulty
        yield from (one._replace(due_s=end_s) for one in sorted(delayed))

    def _skewed(self, batches: Iterator[ScheduledBatch], seed: int) -> Iterator[ScheduledBatch]:
        skews: dict[int, int] = {}
        for item in batches:
            if item.sender not in skews:
                skews[item.sender] = self.skew_ms(seed, item.sender)
            yield item._replace(offset_ms=item.offset_ms + skews[item.sender])


@dataclass(frozen=True, slots=True)
class People:
    """The people of a run: `count` from the `first` on. `interval_s` and `readings` are of phones, which are switched
    off `away` percent of the time. `low_batteries`: tags with a low battery; `forgotten`: staff whose tags lie in a
    drawer; `failing`: gateways that lose their network at times."""

    count: int
    first: int = 0
    seed: int = 1
    duration_s: float | None = None
    interval_s: float | None = None
    readings: int = 4
    away: float = 0.0
    low_batteries: int = 0
    forgotten: int = 0
    failing: int = 0
    faults: Faults = field(default_factory=Faults)


@dataclass(frozen=True, slots=True)
class Play:
    """`batches` goes by the index of `receivers`, and so do `gateways` and `outages`."""

    receivers: Sequence[Receiver]
    batches: Iterator[ScheduledBatch]
    gateways: Mapping[int, PlayedGateway] = field(default_factory=dict)
    outages: Iterator[Outage] = field(default_factory=lambda: iter(()))
    staff: tuple[str, ...] = ()


def playable(command: str, building: Building) -> bool:
    """Whether a building has what a command needs."""
    has_tags = bool(building.gateways and building.tags)
    return {"phones": bool(building.beacons), "gateways": has_tags}.get(command, bool(building.beacons) or has_tags)


def phones(building: Building, people: People) -> Play:
    """Everybody carries a phone. Raises ValueError without beacons."""
    if not building.beacons:
        raise ValueError(f"{building.name} has no beacons: phones receive nothing there")
    scenario = _phones(building, people, None)
    receivers = scenario.receivers(building)
    ids = tuple(one.id for one in receivers)
    sent = without(scenario.scheduled_batches(building), _away(people, ids, 0))
    return Play(receivers, people.faults.apply(sent, people.seed), outages=_away(people, ids, 0), staff=ids)


def gateways(building: Building, people: People) -> Play:
    """The building's gateways receive the staff that have tags. Raises ValueError without gateways or tags."""
    tagged = [staff_id for staff_id in building.staff if staff_id in building.tags]
    staff = tuple(tagged[people.first : people.first + people.count])
    if not building.gateways or not staff:
        what = "staff with tags" if building.gateways else "gateways"
        raise ValueError(f"{building.name} has no {what} to play: the building file lists them")
    return _with_gateways(building, people, staff, ())


def mixed(building: Building, people: People) -> Play:
    """Gateways receive staff with tags, the others carry phones. Without gateways everybody carries a phone, and
    without beacons nobody does."""
    everybody = [one.id for one in _phones(building, people, None).receivers(building)]
    tagged = tuple(staff_id for staff_id in everybody if staff_id in building.tags)
    if not building.gateways:
        return phones(building, people)
    others = tuple(one for one in everybody if one not in building.tags) if building.beacons else ()
    return _with_gateways(building, people, tagged, others)


def _phones(building: Building, people: People, staff: tuple[str, ...] | None) -> Phones:
    sensors = sensors_of([one.id for one in building.beacons], (), people.seed)
    return Phones(
        people.count,
        first=people.first,
        interval_s=people.interval_s,
        readings=people.readings,
        seed=people.seed,
        duration_s=people.duration_s,
        staff=staff,
        sensors=sensors,
    )


def _with_gateways(building: Building, people: People, tagged: tuple[str, ...], with_phones: tuple[str, ...]) -> Play:
    """Gateways, and then phones, as receivers of one run."""
    tags = [tag for staff_id in tagged for tag in building.tags[staff_id]]
    played = gateways_of(building, sensors_of((), tags, people.seed, people.low_batteries))
    carried = _phones(building, people, with_phones)
    receivers = [Receiver("gateway", one.id) for one in played]
    chosen = random.Random(f"{people.seed}/forgotten").sample(tagged, min(people.forgotten, len(tagged)))  # noqa: S311
    sent = Tags(tagged, people.seed, people.duration_s, frozenset(chosen)).scheduled_batches(building, played)
    after = len(receivers)
    if with_phones:
        theirs = (one._replace(sender=one.sender + after) for one in carried.scheduled_batches(building))
        sent = heapq.merge(sent, without(theirs, _away(people, with_phones, after)), key=_due)
        receivers += carried.receivers(building)
    outages = heapq.merge(_outages(people, [one.id for one in played]), _away(people, with_phones, after))
    batches = people.faults.apply(sent, people.seed)
    return Play(receivers, batches, dict(enumerate(played)), outages, (*tagged, *with_phones))


def _due(item: ScheduledBatch) -> float:
    return item.due_s


def _outages(people: People, ids: list[str]) -> Iterator[Outage]:
    """When gateways lose their network, in order and without end."""
    chosen = random.Random(f"{people.seed}/failing").sample(range(len(ids)), min(people.failing, len(ids)))  # noqa: S311
    return heapq.merge(*(_outages_of(number, ids[number], people.seed) for number in chosen))


def _outages_of(sender: int, gateway_id: str, seed: int) -> Iterator[Outage]:
    rng = random.Random(f"{seed}/outages/{gateway_id}")  # noqa: S311 - play, not secrets
    start_s = rng.uniform(*FIRST_OUTAGE_S)
    while True:
        end_s = start_s + rng.uniform(*OUTAGE_S)
        yield Outage(start_s, end_s, sender)
        start_s = end_s + rng.uniform(*OUTAGE_EVERY_S)


def _away(people: People, ids: Sequence[str], first_sender: int) -> Iterator[Outage]:
    """When phones are switched off, in order and without end; nothing where nobody ever is."""
    if not people.away:
        return iter(())
    return heapq.merge(*(_away_of(first_sender + number, one, people) for number, one in enumerate(ids)))


def _away_of(sender: int, staff_id: str, people: People) -> Iterator[Outage]:
    rng = random.Random(f"{people.seed}/away/{staff_id}")  # noqa: S311 - play, not secrets
    on_s = sum(AWAY_S) / 2 * (100 / people.away - 1)  # in the mean
    start_s = rng.uniform(0, 2 * on_s)
    while True:
        end_s = start_s + rng.uniform(*AWAY_S)
        yield Outage(start_s, end_s, sender, switched_off=True)
        start_s = end_s + rng.uniform(0.5, 1.5) * on_s


def without(batches: Iterator[ScheduledBatch], away: Iterator[Outage]) -> Iterator[ScheduledBatch]:
    """The batches of receivers that are switched on. Both in order."""
    upcoming = next(away, None)
    off: dict[int, float] = {}
    for item in batches:
        while upcoming is not None and upcoming.start_s <= item.due_s:
            off[upcoming.sender] = upcoming.end_s
            upcoming = next(away, None)
        if item.due_s >= off.get(item.sender, 0.0):
            yield item
