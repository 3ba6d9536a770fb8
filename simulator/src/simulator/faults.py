"""Faults of a run at stated rates: duplicate, late and malformed batches, wrong clocks. Pure.

The same seed gives the same faults; without faults the batches stay as they are."""

import heapq
import random
from collections.abc import Iterator
from dataclasses import dataclass

from simulator.scenario import ScheduledBatch

LATE_S = (5.0, 60.0)


@dataclass(frozen=True, slots=True)
class Faults:
    """Shares of all batches, 0 … 1. A late batch is sent LATE_S after its time and keeps its time stamp. Receivers'
    clocks are wrong by up to `clock_skew_s`, early or late."""

    duplicates: float = 0.0
    late: float = 0.0
    malformed: float = 0.0
    clock_skew_s: float = 0.0

    def skew_ms(self, seed: int, sender: int) -> int:
        """By how much a receiver's clock is ahead, ms."""
        rng = random.Random(f"{seed}/clock/{sender}")  # noqa: S311 - play, not secrets
        return round(rng.uniform(-1, 1) * self.clock_skew_s * 1000)

    def apply(self, batches: Iterator[ScheduledBatch], seed: int) -> Iterator[ScheduledBatch]:
        """The batches with their faults, by due times. Late ones that are left at the end are sent then."""
        if self.clock_skew_s:
            batches = self._skewed(batches, seed)
        if not (self.duplicates or self.late or self.malformed):
            yield from batches
            return
        rng = random.Random(f"{seed}/faults")  # noqa: S311 - play, not secrets
        delayed: list[ScheduledBatch] = []
        end_s = 0.0
        for item in batches:
            end_s = item.due_s
            while delayed and delayed[0].due_s <= item.due_s:
                yield heapq.heappop(delayed)
            if not item.readings:
                yield item
                continue
            is_late, is_duplicate, is_malformed = (
                rng.random() < share for share in (self.late, self.duplicates, self.malformed)
            )
            faulty = item._replace(copies=1 + is_duplicate, malformed=is_malformed)
            if is_late:
                heapq.heappush(delayed, faulty._replace(due_s=item.due_s + rng.uniform(*LATE_S), late=True))
            else:
                yield faulty
        yield from (one._replace(due_s=end_s) for one in sorted(delayed))

    def _skewed(self, batches: Iterator[ScheduledBatch], seed: int) -> Iterator[ScheduledBatch]:
        skews: dict[int, int] = {}
        for item in batches:
            if item.sender not in skews:
                skews[item.sender] = self.skew_ms(seed, item.sender)
            yield item._replace(offset_ms=item.offset_ms + skews[item.sender])
