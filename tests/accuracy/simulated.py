"""Runs the locator on simulated scenes: figures of each group."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from simulator.building import Building, parse
from support.running import DEMO_BUILDING

from accuracy.follow import Estimate, Play, follow
from accuracy.played import START_MS, Played, Scene, play
from accuracy.scenes import Group
from accuracy.schematic import tiles_of
from accuracy.score import Score, judge
from accuracy.truth import Truth
from accuracy.walls import Walls

WARM_S = 10.0  # a phone's first message takes up to 4 s; before it there is nothing to be right about
LOST_WITHIN_MS = 75_000.0
RIDE_MS = 5000.0  # a level estimated this shortly before or after it is true is early or late, not wrong


@dataclass(slots=True)
class Figures:
    """Figures of a group over all its people, in seconds unless named otherwise."""

    name: str
    still: bool
    history: Score = field(default_factory=Score)
    live: Score = field(default_factory=Score)
    other_level: int = 0
    """Seconds with a wrong level in history."""
    wrong_level: int = 0
    """Of these, seconds when the person was not on that level within RIDE_MS either."""
    lost_s: list[float] = field(default_factory=list)
    """Seconds from the last message about a person until `lost`; 75 if never."""

    @property
    def hours(self) -> float:
        return self.history.seconds / 3600


def measure(groups: Iterable[Group], tuning: dict[str, Any] | None, said: Callable[[str], None]) -> list[Figures]:
    """Run the groups one after the other; `said` gets the name of each at its start. Raises FollowError."""
    file = json.loads(DEMO_BUILDING.read_text())
    building = parse(file)
    walls = Walls(building)
    found = []
    for group in groups:
        said(group.name)
        figures = Figures(group.name, group.scenes[0].manner == "still")
        for scene in group.scenes:
            _add(figures, play(scene, file, building, walls), scene, building, tuning)
        found.append(figures)
    return found


def _add(figures: Figures, played: Played, scene: Scene, building: Building, tuning: dict[str, Any] | None) -> None:
    end_ms = START_MS + scene.hours * 3_600_000
    offline = (
        played.out if scene.mode == "gateway" else None
    )  # the broker reports an offline gateway; nobody reports a beacon
    known = tiles_of(played.building) if scene.listed else played.building
    estimated = follow(Play(known, played.sent, end_ms + LOST_WITHIN_MS, tuning or {}, offline))
    level = {room.id: room.level for room in building.rooms.values()}
    for staff_id, truth in played.truths.items():
        one = estimated.get(staff_id, Estimate())
        moments = list(truth.moments(START_MS + WARM_S * 1000))
        figures.history += judge(truth, one.history_at, one.history_changes(), moments)
        figures.live += judge(truth, one.live_at, one.live_changes(), moments)
        for ms in moments:
            room = one.history_at(ms)
            if room and level[room] != level[truth.room_at(ms)]:
                figures.other_level += 1
                figures.wrong_level += level[room] not in {level[room] for room in _around(truth, ms)}
        last_ms = played.last_ms.get(staff_id, end_ms)
        lost = [ms for ms, room in zip(one.live_ms, one.live, strict=True) if not room and ms > last_ms]
        figures.lost_s.append(((lost[0] if lost else last_ms + LOST_WITHIN_MS) - last_ms) / 1000)


def _around(truth: Truth, ms: float) -> set[str]:
    """The rooms of a person within RIDE_MS of a moment."""
    first = truth.starts_ms[0]
    return {truth.room_at(max(first, ms + shift)) for shift in (-RIDE_MS, -RIDE_MS / 2, 0, RIDE_MS / 2, RIDE_MS)}
