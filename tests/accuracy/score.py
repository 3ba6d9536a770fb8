"""Compares estimated with true rooms. Pure."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from accuracy.truth import Truth

EARLIEST_MS = 10_000  # a change estimated earlier than this before the true one is another change


@dataclass(slots=True)
class Score:
    """Figures of one kind of estimate; those of several people add up."""

    seconds: int = 0
    right: int = 0
    changes: int = 0
    true_changes: int = 0
    delays_s: list[float] = field(default_factory=list)
    """Of the estimated changes, signed: negative where history was corrected to before the true moment."""

    @property
    def share(self) -> float:
        return self.right / self.seconds if self.seconds else 0.0

    def __iadd__(self, other: "Score") -> "Score":
        self.seconds += other.seconds
        self.right += other.right
        self.changes += other.changes
        self.true_changes += other.true_changes
        self.delays_s = self.delays_s + other.delays_s
        return self


def judge(
    truth: Truth, room_at: Callable[[float], str], estimated: Sequence[tuple[float, str]], moments: Iterable[float]
) -> Score:
    """Compare at each of the moments; `estimated` are the estimated changes as (time, room), ascending."""
    score = Score(changes=len(estimated), true_changes=len(truth.changes()))
    for ms in moments:
        score.seconds += 1
        score.right += room_at(ms) == truth.room_at(ms)
    score.delays_s = delays(truth, estimated)
    return score


def delays(truth: Truth, estimated: Sequence[tuple[float, str]]) -> list[float]:
    """Seconds from each true change to the nearest estimated one into the same room, during the stay."""
    found = []
    for at_ms, room, left_ms in truth.changes():
        fitting = [
            ms - at_ms for ms, into in estimated if into == room and at_ms - EARLIEST_MS <= ms <= left_ms + EARLIEST_MS
        ]
        if fitting:
            found.append(min(fitting, key=abs) / 1000)
    return found


def changes(times: Sequence[float], rooms: Sequence[str]) -> list[tuple[float, str]]:
    """Changes in a series of rooms, without the first one; '' (unknown) is neither a room nor a change."""
    found = []
    last = ""
    for ms, room in zip(times, rooms, strict=True):
        if room and last and room != last:
            found.append((ms, room))
        last = room or last
    return found


def quantile(values: Sequence[float], share: float) -> float | None:
    """The quantile: the smallest value that at least this share of the values do not exceed; None without values."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, -(-int(len(ordered) * share * 1000) // 1000) - 1))] if ordered else None
