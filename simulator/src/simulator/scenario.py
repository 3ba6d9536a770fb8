"""A run of phones as data: all batches, as a function of building, numbers and seed. Pure."""

import heapq
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from simulator.building import Building
from simulator.message import Reading, Receiver
from simulator.plan import Plan
from simulator.radio import Radio
from simulator.rng import SplitMix64
from simulator.telemetry import Repeater, Sensors
from simulator.walk import Leg, Walk, legs
from simulator.windows import INTERVAL_S, adaptive_ends, fixed_ends


class ScheduledBatch(NamedTuple):
    """A batch to send: `sender` is the receiver's index, `due_s` the time to send it and `offset_ms` its time stamp,
    both counted from the start of the run. Without readings there is nothing to send."""

    due_s: float
    offset_ms: int
    sender: int
    readings: tuple[Reading, ...]
    copies: int = 1
    """How often it is sent; see `faults`, as for the others."""
    malformed: bool = False
    late: bool = False


@dataclass(frozen=True, slots=True)
class Phones:
    """`count` virtual SDAs from the `first` on; `interval_s` None: a phone sends every second while it moves, and every
    1 to 4 s, each its own, while it lies still; `duration_s` None: without end."""

    count: int
    first: int = 0
    interval_s: float | None = None
    readings: int = 4
    seed: int = 1
    duration_s: float | None = None
    staff: tuple[str, ...] | None = None
    """Their ids, instead of `count` from the `first` on."""
    sensors: Mapping[str, Sensors] | None = None
    """The beacons' telemetry, by beacon; None: they have no sensors."""

    def receivers(self, building: Building) -> list[Receiver]:
        """The building's staff in the order of the file, then unused whole numbers."""
        if self.staff is not None:
            return [Receiver("phone", staff_id) for staff_id in self.staff]
        listed = set(building.staff)
        more = (str(number) for number in itertools.count() if str(number) not in listed)
        ids = itertools.islice(itertools.chain(building.staff, more), self.first, self.first + self.count)
        return [Receiver("phone", staff_id) for staff_id in ids]

    def scheduled_batches(self, building: Building) -> Iterator[ScheduledBatch]:
        """All batches in the order in which they are due. A phone's walk depends on the seed and its id, not on
        the number of phones. A phone without readings sends nothing."""
        plan = Plan(building)
        radio = Radio(plan, self.seed, self.readings)
        phones = [_Phone(self, plan, receiver.id) for receiver in self.receivers(building)]
        due = [(next(phone.ends), sender) for sender, phone in enumerate(phones)]
        heapq.heapify(due)
        while due and (self.duration_s is None or due[0][0] < self.duration_s):
            now_s, sender = due[0]
            phone = phones[sender]
            readings = radio.scan(phone.walk.at(now_s), phone.rng)
            if readings and self.sensors is not None:
                readings = phone.with_telemetry(readings, self.sensors, now_s)
            if readings:
                yield ScheduledBatch(now_s, round(now_s * 1000), sender, readings)
            heapq.heapreplace(due, (next(phone.ends), sender))


def legs_of(plan: Plan, seed: int, staff_id: str) -> Iterator[Leg]:
    """Somebody's legs through the building: the same with a phone and with a tag."""
    return legs(plan, *_walk_rngs(seed, staff_id))


def walk_of(plan: Plan, seed: int, staff_id: str) -> Walk:
    """Somebody's walk along these legs."""
    return Walk(plan, *_walk_rngs(seed, staff_id))


def _walk_rngs(seed: int, staff_id: str) -> tuple[SplitMix64, SplitMix64]:
    """Of the walk and of its breaks."""
    return SplitMix64(f"{seed}/walk/{staff_id}"), SplitMix64(f"{seed}/breaks/{staff_id}")


class _Phone:
    """The walk of one SDA and the ends of the phone's windows. The first window starts before the run."""

    __slots__ = ("_repeater", "ends", "rng", "walk")

    def __init__(self, phones: Phones, plan: Plan, staff_id: str) -> None:
        self.walk = walk_of(plan, phones.seed, staff_id)
        self._repeater = Repeater()
        self.rng = SplitMix64(f"{phones.seed}/radio/{staff_id}")
        own_s, phase = self.rng.uniform(*INTERVAL_S), self.rng.random()
        self.ends: Iterator[float]
        if phones.interval_s:
            self.ends = fixed_ends(phones.interval_s, (phase - 1) * phones.interval_s)
        else:
            self.ends = adaptive_ends(self.walk.still_s, own_s, (phase - 1) * own_s)

    def with_telemetry(
        self, readings: tuple[Reading, ...], sensors: Mapping[str, Sensors], now_s: float
    ) -> tuple[Reading, ...]:
        """The readings with the telemetry that is due of their beacons."""
        due = self._repeater.due
        complete = list(readings)
        for number, reading in enumerate(readings):
            if values := due(reading.beacon, sensors[reading.beacon], now_s):
                complete[number] = Reading(reading.beacon, reading.rssi, reading.n, reading.tx, *values)
        return tuple(complete)
