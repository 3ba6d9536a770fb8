"""A run of phones as data: when phones end their windows, and all their batches. Pure.

A phone ends a window every second while its carrier moves, less often at rest. It knows only the past."""

import heapq
import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from simulator.building import Building
from simulator.message import Reading, Receiver, ScheduledBatch
from simulator.plan import Plan
from simulator.radio import Radio
from simulator.rng import SplitMix64
from simulator.telemetry import Repeater, Sensors
from simulator.walk import Leg, Walk, legs

INTERVAL_S = (1.0, 4.0)  # a phone at rest ends a window every 1 to 4 s, each phone its own
MOVING_S = 1.0  # the contract's shortest window, and the interval of iOS's ranging callbacks
# A phone counts as moving for this long after the last step: pedometers report steps late and miss some, people stop
# for a second or two to open a door, and short windows find the room of somebody who stops sooner than a long one.
MOVED_S = 4.0


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
                complete[number] = reading._replace(**values._asdict())
        return tuple(complete)


def adaptive_ends(still_s: Callable[[float], float], interval_s: float, begin_s: float) -> Iterator[float]:
    """Yield the ends of all windows from `begin_s` on, endlessly.

    Every MOVING_S within a window it ends if the carrier moved within the last MOVED_S.

    Args:
        still_s: seconds for which the carrier has stood at a time, 0 while they move; called with non-decreasing times
            that are never ahead of the next end.
        interval_s: length of a window at rest, s, at least MOVING_S.
        begin_s: start of the first window, s."""
    while True:
        end_s, last_s = begin_s + MOVING_S, begin_s + interval_s
        while end_s < last_s and still_s(end_s) >= MOVED_S:
            end_s += MOVING_S
        begin_s = min(end_s, last_s)
        yield begin_s


class fixed_ends:  # noqa: N801 - used like the function above; a generator is five times as large
    """The ends of windows of a phone that ignores movement: every `interval_s`."""

    __slots__ = ("_begin_s", "_interval_s", "_number")

    def __init__(self, interval_s: float, begin_s: float) -> None:
        self._interval_s, self._begin_s, self._number = interval_s, begin_s, 0

    def __iter__(self) -> "fixed_ends":
        return self

    def __next__(self) -> float:
        self._number += 1
        return self._begin_s + self._number * self._interval_s
