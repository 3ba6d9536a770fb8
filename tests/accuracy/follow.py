"""Runs the flows' locator as a process: readings in, estimates out."""

import json
import subprocess
import tempfile
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from simulator.message import Reading
from stack.layout import node_folder

from accuracy.score import changes

PROGRAM = Path(__file__).with_name("follow.js")
TICK_MS = 250
KEPT_MS = 60_000  # a record counts until the next one, but no longer than somebody counts as present (contract)
Learned = Literal["keep", "anew", "use"]


@dataclass(frozen=True, slots=True)
class Sent:
    """One batch as it arrives: `now_ms` is the platform's clock then, `ts` the receiver's at the end of the window."""

    now_ms: float
    kind: str
    receiver: str
    ts: int
    readings: tuple[Reading, ...]


@dataclass(frozen=True, slots=True)
class Estimate:
    """Estimates for one person: the history (by second), and the presence (by time of publishing)."""

    seconds: tuple[int, ...] = ()
    history: tuple[str, ...] = ()
    live_ms: tuple[float, ...] = ()
    live: tuple[str, ...] = ()
    """The room, or '' while lost."""

    def history_at(self, ms: float) -> str:
        """The room that /extractbeacon gives for a moment: the newest record up to its second; '' for none."""
        at = bisect_right(self.seconds, ms // 1000) - 1
        return self.history[at] if at >= 0 and ms - self.seconds[at] * 1000 <= KEPT_MS else ""

    def live_at(self, ms: float) -> str:
        """The room that the retained topic and the dashboard show at a moment; '' for none."""
        at = bisect_right(self.live_ms, ms) - 1
        return self.live[at] if at >= 0 else ""

    def history_changes(self) -> list[tuple[float, str]]:
        """Changes of room in history: time and new room."""
        return changes([second * 1000 for second in self.seconds], self.history)

    def live_changes(self) -> list[tuple[float, str]]:
        """Changes of room in the live view, by time of publishing."""
        return changes(self.live_ms, self.live)


class FollowError(Exception):
    """The locator's process failed; the message has its last log lines."""


@dataclass(frozen=True, slots=True)
class Play:
    """Batches in the order of arrival, to be played until `end_ms` through a locator that knows nothing yet.

    `tuning` goes before the locator's own numbers; `offline` is a gateway of which the broker says that it is out.
    Offsets of devices are learned from a play that `teaches`; `learned` is "anew" to forget them, and "use" to correct
    readings by what the plays before taught."""

    building: dict[str, Any]
    sent: Iterable[Sent]
    end_ms: float
    tuning: Mapping[str, float] = field(default_factory=dict)
    offline: str | None = None
    teaches: bool = False
    learned: Learned = "keep"


def follow(play: Play) -> dict[str, Estimate]:
    """Estimates of one play, by staff id. Raises FollowError."""
    return follow_all([play])[0]


def follow_all(plays: Iterable[Play]) -> list[dict[str, Estimate]]:
    """Estimates of each play, by staff id; one process runs them one after the other. Raises FollowError."""
    with tempfile.TemporaryFile("w+") as into, tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        building = None
        for play in plays:
            start = {
                "tick_ms": TICK_MS,
                "tuning": dict(play.tuning),
                "teaches": play.teaches,
                "learned": play.learned,
            }
            into.write(json.dumps(start if play.building is building else {**start, "building": play.building}) + "\n")
            building = play.building
            into.writelines(json.dumps(message) + "\n" for message in _messages(play))
        into.seek(0)
        command = (node_folder() / "node", PROGRAM)
        done = subprocess.run(command, stdin=into, stdout=out, stderr=err, check=False)
        err.seek(0)
        if done.returncode != 0:
            raise FollowError(f"{PROGRAM.name} ended with {done.returncode}: {err.read()[-2000:]}")
        out.seek(0)
        return [{estimated["staff_id"]: _estimate(estimated) for estimated in json.loads(line)} for line in out]


def _messages(play: Play) -> Iterator[dict[str, Any]]:
    if play.offline:
        yield {"now_ms": 0, "gateway": play.offline, "online": False}
    for one in play.sent:
        readings = [{"beacon": beacon, "rssi": rssi} for beacon, rssi, *_ in one.readings]
        yield {
            "now_ms": one.now_ms,
            "kind": one.kind,
            "receiver": one.receiver,
            "ts": one.ts,
            "readings": readings,
        }
    yield {"now_ms": play.end_ms}


def _estimate(line: dict[str, Any]) -> Estimate:
    return Estimate(
        tuple(second for second, _, _ in line["history"]),
        tuple(room for _, _, room in line["history"]),
        tuple(now_ms for now_ms, _, _, _ in line["live"]),
        tuple("" if state == "lost" else room for _, _, room, state in line["live"]),
    )
