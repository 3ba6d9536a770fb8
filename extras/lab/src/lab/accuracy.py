"""How often the platform says the right room of simulated people, second by second. Pure but for files."""

import csv
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

SETTLE_S = 30
"""At the start nobody is located; these seconds are not judged."""
END_S = 3
"""Nor are the last ones, before everybody stops."""


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Seconds of all people: how many were judged, in how many a room was said, and in how many the right one."""

    people: int
    seconds: int
    located: int
    right: int
    level_right: int


Course = Sequence[tuple[int, str, str]]
"""(epoch ms, level, room) of each change, in order; empty room: nowhere."""


def read_truth(path: Path) -> dict[str, list[tuple[int, str, str]]]:
    """Courses by staff id, from the simulator's `--truth`."""
    found: dict[str, list[tuple[int, str, str]]] = defaultdict(list)
    with path.open(encoding="utf-8", newline="") as lines:
        for one in csv.DictReader(lines):
            found[one["staff_id"]].append((int(one["ts_ms"]), one["level"], one["room"]))
    return dict(found)


def window(course: Course) -> tuple[int, int]:
    """The judged seconds (epoch, both inclusive)."""
    return course[0][0] // 1000 + SETTLE_S, course[-1][0] // 1000 - END_S


def judge(courses: Mapping[str, Course], said: Mapping[str, Iterable[tuple[int, str, str]]]) -> Accuracy:
    """Compare with what the platform says: (second, level, room) by staff id."""
    seconds = located = right = level_right = 0
    for staff_id, course in courses.items():
        start, end = window(course)
        seconds += max(0, end - start + 1)
        times = [ts for ts, _, _ in course]
        for second, level, room in said.get(staff_id, ()):
            if not start <= second <= end:
                continue
            _, true_level, true_room = course[max(0, bisect_right(times, second * 1000) - 1)]
            located += 1
            right += room == true_room
            level_right += level == true_level
    return Accuracy(len(courses), seconds, located, right, level_right)
