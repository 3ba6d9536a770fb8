"""The true rooms of a person, and the moments to compare. Pure."""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

PERIOD_MS = 1000


@dataclass(frozen=True, slots=True)
class Truth:
    """The true rooms of one person: from `starts_ms[i]` on in `rooms[i]`, until `end_ms`. Times ascend, and no room
    follows itself."""

    starts_ms: tuple[float, ...]
    rooms: tuple[str, ...]
    end_ms: float

    @classmethod
    def of(cls, samples: list[tuple[float, str]], end_ms: float) -> "Truth":
        """From samples (time, room) in ascending order: each holds until the next one."""
        kept = [one for i, one in enumerate(samples) if i == 0 or one[1] != samples[i - 1][1]]
        return cls(tuple(ms for ms, _ in kept), tuple(room for _, room in kept), end_ms)

    def room_at(self, ms: float) -> str:
        """The room at a moment, not before the first."""
        return self.rooms[bisect_right(self.starts_ms, ms) - 1]

    def changes(self) -> list[tuple[float, str, float]]:
        """Each change of room: time, new room, and end of the stay."""
        ends = (*self.starts_ms, self.end_ms)[2:]
        return list(zip(self.starts_ms[1:], self.rooms[1:], ends, strict=True))

    def moments(self, from_ms: float | None = None) -> Iterator[float]:
        """One moment per second from `from_ms` (default: the first) to the end."""
        ms = (self.starts_ms[0] if from_ms is None else from_ms) + PERIOD_MS
        while ms <= self.end_ms:
            yield ms
            ms += PERIOD_MS
