"""Who truly is in which room when, beside what receivers hear of it. Pure but for the file that `TruthFile` writes."""

import csv
import heapq
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from simulator.building import Building
from simulator.plan import Plan
from simulator.scenario import legs_of

COLUMNS = ("ts_ms", "staff_id", "level", "room")


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
    """A CSV of COLUMNS. Each line is on its way to the disk at once, so that a run that is killed has what was true."""

    def __init__(self, path: Path, building: Building, staff: Sequence[str], seed: int) -> None:
        self._rooms = building.rooms
        self._levels = building.levels
        self._entered = truth(building, staff, seed)
        self._next = next(self._entered, None)
        self._here: dict[str, None] = dict.fromkeys(staff)
        self._file = path.open("w", encoding="utf-8", newline="", buffering=1)
        self._writer = csv.writer(self._file)
        self._writer.writerow(COLUMNS)

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
