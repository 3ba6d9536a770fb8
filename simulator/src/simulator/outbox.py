"""What a receiver keeps of its batches: those that wait, those in flight, and those that the broker may lose. Pure.

The states and rules are those of the gateway agent's outbox, in memory: ten thousand receivers cannot have a file each.
A batch waits until it is acknowledged, and is held for the replay window after that, since a broker that is killed
loses what it acknowledged since its last snapshot. Times are seconds on one clock."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from gateway_agent.outbox import REPLAYED_FOR_WINDOWS

IN_FLIGHT = 20  # as many messages as Mosquitto has in flight by default


class Batch(NamedTuple):
    """`ts_ms`: its own time stamp, 0 if it has none. `first_acked_s` None: never acknowledged yet. `context`: what the
    sender wants back with the acknowledgement."""

    payload: bytes
    readings: int
    made_s: float
    ts_ms: int = 0
    first_acked_s: float | None = None
    context: object = None


class Sent(NamedTuple):
    """A message in flight. `batch` None: it is a status (`is_status`) or health."""

    batch: Batch | None
    sent_s: float
    is_status: bool = False


class _Held(NamedTuple):
    batch: Batch
    acked_s: float


@dataclass(frozen=True, slots=True)
class Limits:
    """`max_age_s`: older batches are dropped; the platform takes seven days. `replay_s`: how long acknowledged ones are
    held, 0: not at all; `held`: at most so many of each receiver."""

    max_age_s: float = 7 * 86_400.0
    replay_s: float = 0.0
    held: int = 0


class Outbox:
    """The batches of one receiver. Most are published at once and only ever in flight.

    `in_flight` is the map of message ids that the MQTT client fills and empties."""

    __slots__ = ("_held", "_limits", "_waiting", "in_flight")

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.in_flight: dict[int, Sent] = {}
        self._waiting: deque[Batch] | None = None  # an empty deque is larger than all the rest
        self._held: deque[_Held] | None = None

    def add(self, batch: Batch) -> None:
        """Let a batch wait, behind the others."""
        if self._waiting is None:
            self._waiting = deque()
        self._waiting.append(batch)

    @property
    def is_waiting(self) -> bool:
        return bool(self._waiting)

    @property
    def is_empty(self) -> bool:
        """Whether nothing waits and nothing is in flight."""
        return not self._waiting and not self.in_flight

    def unacknowledged(self) -> Iterator[Batch]:
        """The batches in flight, then those that wait."""
        yield from (sent.batch for sent in self.in_flight.values() if sent.batch is not None)
        yield from self._waiting or ()

    @property
    def holds(self) -> bool:
        """Whether there is anything to replay."""
        return bool(self._held)

    @property
    def may_send(self) -> bool:
        """Whether another batch may be in flight."""
        return len(self.in_flight) < IN_FLIGHT

    def next(self) -> Batch:
        """The oldest waiting batch, which waits no longer."""
        assert self._waiting  # noqa: S101 - see `is_waiting`
        batch = self._waiting.popleft()
        if not self._waiting:
            self._waiting = None
        return batch

    def acknowledged(self, batch: Batch, now_s: float) -> None:
        """The broker has a batch, which is no more in flight: hold it for the replay window."""
        if not self._limits.replay_s:
            return
        if self._held is None:
            self._held = deque(maxlen=self._limits.held)
        held = self._held
        while held and held[0].acked_s < now_s - self._limits.replay_s:
            held.popleft()
        if batch.first_acked_s is None:
            batch = batch._replace(first_acked_s=now_s)
        held.append(_Held(batch, now_s))

    def connection_lost(self) -> None:
        """What was in flight waits again, before the others."""
        unanswered = [sent.batch for sent in self.in_flight.values() if sent.batch is not None]
        self.in_flight.clear()
        if unanswered:
            self._waiting = deque((*unanswered, *(self._waiting or ())))

    def replay(self, until_s: float | None = None) -> int:
        """Let held batches wait again, before the others; returns how many.

        `until_s`: those acknowledged until then; None: all. Not those first acknowledged REPLAYED_FOR_WINDOWS windows
        before the latest acknowledgement: not before now, so that the length of an outage does not matter."""
        if not self._held:
            return 0
        oldest_s = self._held[-1].acked_s - REPLAYED_FOR_WINDOWS * self._limits.replay_s
        again: list[_Held] = []
        stays: list[_Held] = []
        for held in self._held:
            lost = until_s is None or held.acked_s <= until_s
            (again if lost and (held.batch.first_acked_s or 0.0) >= oldest_s else stays).append(held)
        self._held = deque(stays, maxlen=self._limits.held)
        if again:
            self._waiting = deque((*(held.batch for held in again), *(self._waiting or ())))
        return len(again)

    def drop_old(self, now_s: float) -> Iterator[Batch]:
        """Drop batches above the limit of age, oldest first."""
        while self._waiting and self._waiting[0].made_s < now_s - self._limits.max_age_s:
            yield self._waiting.popleft()

    def drop_oldest(self) -> Batch | None:
        """Drop the oldest waiting batch that was never acknowledged; None: there is none."""
        for number, batch in enumerate(self._waiting or ()):
            if batch.first_acked_s is None:
                del self._waiting[number]  # type: ignore[union-attr]
                return batch
        return None
