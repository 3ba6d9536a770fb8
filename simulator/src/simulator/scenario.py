"""A run of phones as data: who sends what when, as a function of building, numbers and seed. Pure."""

import heapq
import itertools
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from simulator.building import Building
from simulator.message import Reading, Receiver
from simulator.plan import Plan
from simulator.radio import Radio
from simulator.telemetry import Repeater, Sensors
from simulator.walk import Leg, Walk, legs
from simulator.windows import INTERVAL_S, adaptive_ends, fixed_ends


class Outgoing(NamedTuple):
    """One batch to come: `sender` is the receiver's index, `due_s` when to send it after the start of the run, and
    `offset_ms` what its time stamp is, counted from the same moment. Without readings there is nothing to send."""

    due_s: float
    offset_ms: int
    sender: int
    readings: tuple[Reading, ...]


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
    """Who they are, in place of `count` from the `first` on."""
    telemetry: Mapping[str, Sensors] | None = None
    """What beacons say of themselves; None: they have no sensors."""

    def receivers(self, building: Building) -> list[Receiver]:
        """The building's staff in the order of the file, and then whole numbers that are nobody's id."""
        if self.staff is not None:
            return [Receiver("phone", staff_id) for staff_id in self.staff]
        listed = set(building.staff)
        more = (str(number) for number in itertools.count() if str(number) not in listed)
        ids = itertools.islice(itertools.chain(building.staff, more), self.first, self.first + self.count)
        return [Receiver("phone", staff_id) for staff_id in ids]

    def outgoing(self, building: Building) -> Iterator[Outgoing]:
        """All batches in the order in which they are due. A phone's walk depends on the seed and on who it is, not on
        how many others there are; a phone that hears nothing sends nothing."""
        if not building.beacons:
            raise ValueError(f"{building.name} has no beacons: phones hear nothing there")
        plan = Plan(building)
        radio = Radio(plan, self.seed, self.readings)
        phones = [_Phone(self, plan, receiver.id) for receiver in self.receivers(building)]
        due = [(next(phone.ends), sender) for sender, phone in enumerate(phones)]
        heapq.heapify(due)
        while due and (self.duration_s is None or due[0][0] < self.duration_s):
            now_s, sender = due[0]
            phone = phones[sender]
            readings = radio.hear(phone.walk.at(now_s), phone.rng)
            if readings and self.telemetry is not None:
                readings = phone.with_telemetry(readings, self.telemetry, now_s)
            if readings:
                yield Outgoing(now_s, round(now_s * 1000), sender, readings)
            heapq.heapreplace(due, (next(phone.ends), sender))


def legs_of(plan: Plan, seed: int, staff_id: str) -> Iterator[Leg]:
    """Somebody's way through the building: the same whether they carry a phone or a tag."""
    return legs(plan, _walks(seed, staff_id))


def walk_of(plan: Plan, seed: int, staff_id: str) -> Walk:
    """The same, to be asked where they are."""
    return Walk(plan, _walks(seed, staff_id))


def _walks(seed: int, staff_id: str) -> random.Random:
    return random.Random(f"{seed}/walk/{staff_id}")  # noqa: S311 - play, not secrets


class _Phone:
    """The walk of one SDA and the ends of the phone's windows, the first of which began before the run."""

    __slots__ = ("_repeater", "ends", "rng", "walk")

    def __init__(self, phones: Phones, plan: Plan, staff_id: str) -> None:
        self.walk = walk_of(plan, phones.seed, staff_id)
        self.rng = random.Random(f"{phones.seed}/radio/{staff_id}")  # noqa: S311
        self._repeater = Repeater()
        own_s, phase = self.rng.uniform(*INTERVAL_S), self.rng.random()
        if phones.interval_s:
            self.ends = fixed_ends(phones.interval_s, (phase - 1) * phones.interval_s)
        else:
            self.ends = adaptive_ends(self.walk.still_s, own_s, (phase - 1) * own_s)

    def with_telemetry(
        self, readings: tuple[Reading, ...], telemetry: Mapping[str, Sensors], now_s: float
    ) -> tuple[Reading, ...]:
        """The readings, with what their beacons say of themselves."""
        said = ((reading, self._repeater.due(reading.beacon, telemetry[reading.beacon], now_s)) for reading in readings)
        return tuple(reading if values is None else reading._replace(**values._asdict()) for reading, values in said)
