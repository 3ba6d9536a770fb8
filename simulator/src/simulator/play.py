"""What a command plays, made of building, people and seed: receivers, batches, gateways and outages. Pure."""

import heapq
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from simulator.building import Building
from simulator.faults import Faults
from simulator.gateway import PlayedGateway, gateways_of
from simulator.message import Receiver
from simulator.scenario import Phones, ScheduledBatch
from simulator.tags import Tags
from simulator.telemetry import sensors_of

# A gateway that fails loses its network for minutes, soon after the start, so that somebody who has a look sees it, and
# then every few hours. The platform raises an alert after 20 s.
FIRST_OUTAGE_S, OUTAGE_S, OUTAGE_EVERY_S = (90.0, 150.0), (120.0, 240.0), (4 * 3600.0, 8 * 3600.0)
AWAY_S = (60.0, 300.0)  # a phone is switched off for so long


class Outage(NamedTuple):
    """A receiver's connection is cut from `start_s` to `end_s` after the start of the run; `switched_off`: it
    disconnects cleanly, and makes no batches meanwhile."""

    start_s: float
    end_s: float
    sender: int
    switched_off: bool = False


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
        people.count, people.first, people.interval_s, people.readings, people.seed, people.duration_s, staff, sensors
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
