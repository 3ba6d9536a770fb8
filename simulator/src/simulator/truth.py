"""Files beside a run: who truly is in which room when, and what the broker acknowledged. Pure but for writing them."""

import csv
import heapq
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from simulator.building import Building
from simulator.message import Receiver
from simulator.phones import legs_of
from simulator.plan import Plan

TRUTH_COLUMNS = ("ts_ms", "staff_id", "level", "room")
JOURNAL_COLUMNS = ("acked_ms", "kind", "receiver", "ts_ms", "readings")


class Entered(NamedTuple):
    """Somebody is in a room from `time_s` after the start of the run on."""

    time_s: float
    staff_id: str
    room: str


def truth(building: Building, staff: Sequence[str], seed: int) -> Iterator[Entered]:
    """Each change of room of each of them, in order and without end; the first ones at time 0."""
    plan = Plan(building)
    return heapq.merge(*(_rooms(plan, staff_id, seed) for staff_id in staff))


def _rooms(plan: Plan, staff_id: str, seed: int) -> Iterator[Entered]:
    here = None
    for leg in legs_of(plan, seed, staff_id):
        if leg.room.id != here:
            here = leg.room.id
            yield Entered(leg.start_s, staff_id, here)


class TruthFile:
    """A CSV of TRUTH_COLUMNS. Each line is on its way to the disk at once: a run that is killed has what was true."""

    def __init__(self, path: Path, building: Building, staff: Sequence[str], seed: int) -> None:
        self._rooms = building.rooms
        self._levels = building.levels
        self._entered = truth(building, staff, seed)
        self._next = next(self._entered, None)
        self._here: dict[str, None] = dict.fromkeys(staff)
        self._file = path.open("w", encoding="utf-8", newline="", buffering=1)
        self._writer = csv.writer(self._file)
        self._writer.writerow(TRUTH_COLUMNS)

    def write_until(self, time_s: float, start_ms: int) -> None:
        """What became true up to a time; `start_ms` is the start of the run, epoch milliseconds."""
        while self._next is not None and self._next.time_s <= time_s:
            entered = self._next
            level = self._levels[self._rooms[entered.room].level]
            self._writer.writerow((start_ms + round(entered.time_s * 1000), entered.staff_id, level, entered.room))
            self._next = next(self._entered, None)

    def close(self, end_ms: int) -> None:
        """From the end on everybody is in no room."""
        for staff_id in self._here:
            self._writer.writerow((end_ms, staff_id, "", ""))
        self._file.close()


class Journal:
    """A CSV of JOURNAL_COLUMNS, for who compares it with what is stored: a line for the first
    acknowledgement of each batch; `ts_ms` is the batch's own time stamp."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("w", encoding="utf-8", newline="", buffering=1 << 16)
        self._writer = csv.writer(self._file)
        self._writer.writerow(JOURNAL_COLUMNS)

    def write(self, receiver: Receiver, ts_ms: int, readings: int, acked_ms: int) -> None:
        self._writer.writerow((acked_ms, receiver.kind, receiver.id, ts_ms, readings))

    def close(self) -> None:
        self._file.close()
