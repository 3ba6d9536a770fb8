"""Runs the flows' locator as a process: readings in, estimates out."""

import json
import subprocess
import tempfile
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from simulator.message import Reading
from stack.layout import node_folder

from accuracy.score import changes

PROGRAM = Path(__file__).with_name("follow.js")
TICK_MS = 250
KEPT_S = 60  # a record counts until the next one, but no longer than somebody counts as present (contract)
POLL_S = 10  # HACS asks so often, for as long
Tuning = Mapping[str, float]
DEFAULT: tuple[Tuning, ...] = ({},)


@dataclass(frozen=True, slots=True)
class Sent:
    """One batch as it arrives: `now_ms` is the platform's clock then, `ts` the receiver's at the end of the window."""

    now_ms: float
    kind: str
    receiver: str
    ts: int
    readings: tuple[Reading, ...]


class Record(NamedTuple):
    """What history said of a second, when it did, with the probability of the room, and the next likely one."""

    second: int
    room: str
    said_ms: float
    probability: float
    runner_up: str | None


class Answer(NamedTuple):
    """A room and how probable it was called; '' and 0 where nothing is said."""

    room: str
    probability: float


NOTHING = Answer("", 0.0)


class Estimate:
    """What was said of one person: the history (by second), and the live view (by time of publishing)."""

    def __init__(self, line: Mapping[str, Any] | None = None) -> None:
        line = line or {"history": [], "live": [], "sure": []}
        self.records = [Record(*one) for one in line["history"]]
        """Every word on each second, in the order they were said."""
        last = {one.second: one for one in self.records}
        self._final = [last[second] for second in sorted(last)]
        self._seconds = [one.second for one in self._final]
        self.live_ms: list[float] = [one[0] for one in line["live"]]
        self.live = ["" if one[2] == "lost" else str(one[1]) for one in line["live"]]
        """The room, or '' while lost."""
        self._sure = line["sure"]
        self._sure_ms = [one[0] for one in self._sure]

    def history_at(self, ms: float) -> str:
        """The room that /extractbeacon gives for a moment: the newest record up to its second; '' for none."""
        return self.answer_at(ms).room

    def answer_at(self, ms: float) -> Answer:
        """The same with its probability."""
        return _newest(self._seconds, self._final, ms)

    def live_at(self, ms: float) -> str:
        """The room that the retained topic and the dashboard show at a moment; '' for none."""
        at = bisect_right(self.live_ms, ms) - 1
        return self.live[at] if at >= 0 else ""

    def live_probability_at(self, ms: float) -> float:
        """How probable a question at that moment is told that this room is."""
        at = bisect_right(self._sure_ms, ms) - 1
        return float(self._sure[at][2]) if at >= 0 else 0.0

    def history_changes(self) -> list[tuple[float, str]]:
        """Changes of room in history: time and new room."""
        return changes([second * 1000 for second in self._seconds], [one.room for one in self._final])

    def live_changes(self) -> list[tuple[float, str]]:
        """Changes of room in the live view, by time of publishing."""
        return changes(self.live_ms, self.live)

    def polled(self, offset_s: float) -> "Polled":
        """What HACS has of it that asks at `offset_s` after each tenth second."""
        return Polled(self.records, offset_s)

    def rooms(self) -> dict[int, str]:
        """The last word on each second."""
        return {one.second: one.room for one in self._final}


class Polled:
    """What is known to somebody who asks every POLL_S for the last POLL_S, ends included: what was said of a second
    after the last poll that covers it never reaches them. The answer itself takes no time."""

    def __init__(self, records: Sequence[Record], offset_s: float) -> None:
        words: dict[int, list[Record]] = {}
        for one in records:
            words.setdefault(one.second, []).append(one)
        known = {}
        for second, said in words.items():
            poll_s = (
                (second - offset_s) // POLL_S + 1
            ) * POLL_S + offset_s  # the first after it, and where that ends there, the next
            last_s = poll_s + POLL_S if int(poll_s) == second else poll_s
            in_time = [one for one in said if one.said_ms <= last_s * 1000]
            if in_time:
                known[second] = in_time[-1]
        self._known = [known[second] for second in sorted(known)]
        self._seconds = [one.second for one in self._known]

    def room_at(self, ms: float) -> str:
        return _newest(self._seconds, self._known, ms).room

    def changes(self) -> list[tuple[float, str]]:
        return changes([second * 1000 for second in self._seconds], [one.room for one in self._known])


def _newest(seconds: Sequence[int], records: Sequence[Record], ms: float) -> Answer:
    second = ms // 1000
    at = bisect_right(seconds, second) - 1
    if at < 0 or second - seconds[at] > KEPT_S:
        return NOTHING
    return Answer(records[at].room, records[at].probability)


class FollowError(Exception):
    """The locator's process failed; the message has its last log lines."""


@dataclass(frozen=True, slots=True)
class Play:
    """Batches in the order of arrival, to be played until `end_ms`, for each of `tunings` through a locator that knows
    nothing yet.

    A tuning goes before the locator's own numbers. `sure`: how probable it calls each answer is asked as well.
    `rebuild`: as stored readings, in the order of their own time. `schematic`: of the building only the names of
    levels, rooms and devices are known. `taught_ms`: offsets of devices that were learned until then are used from
    then on; what else is learned comes into use within a minute or two, as in a running installation."""

    building: dict[str, Any]
    sent: Iterable[Sent]
    end_ms: float
    tunings: Sequence[Tuning] = DEFAULT
    sure: bool = False
    rebuild: bool = False
    schematic: bool = False
    taught_ms: int | None = None


def follow_all(plays: Iterable[Play]) -> Iterator[dict[str, Estimate]]:
    """Estimates by staff id of each play, for each of its tunings, one at a time: those of many tunings are large. One
    process runs the plays one after the other. Raises FollowError."""
    with tempfile.TemporaryFile("w+") as into, tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        building = None
        for play in plays:
            key = (id(play.building), play.schematic)
            start: dict[str, Any] = {"tick_ms": TICK_MS, "tunings": [dict(one) for one in play.tunings]}
            start |= {
                "sure": play.sure,
                "rebuild": play.rebuild,
                "schematic": play.schematic,
                "taught_ms": play.taught_ms,
            }
            into.write(json.dumps(start if key == building else {**start, "building": play.building}) + "\n")
            building = key
            into.writelines(json.dumps(message) + "\n" for message in _messages(play))
        into.seek(0)
        command = (node_folder() / "node", PROGRAM)
        done = subprocess.run(command, stdin=into, stdout=out, stderr=err, check=False)
        err.seek(0)
        if done.returncode != 0:
            raise FollowError(f"{PROGRAM.name} ended with {done.returncode}: {err.read()[-2000:]}")
        out.seek(0)
        for line in out:
            yield {one["staff_id"]: Estimate(one) for one in json.loads(line)}


def _messages(play: Play) -> Iterator[list[Any]]:
    for one in play.sent:
        readings = [(beacon, rssi) for beacon, rssi, *_ in one.readings]
        yield [one.ts if play.rebuild else one.now_ms, one.kind, one.receiver, one.ts, readings]
    yield [play.end_ms]
