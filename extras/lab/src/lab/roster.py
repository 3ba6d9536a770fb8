"""Which workers belong to a run. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass, field

CLOCKS_S = 2.0
"""Readings carry a worker's time: a clock that is further off makes them late or of the future."""


@dataclass(slots=True)
class Roster:
    """The workers of one run, the first ones that came."""

    run: str
    """Unique: a worker that was left over from another run has another one."""
    expected: int
    members: list[str] = field(default_factory=list)
    """Ids of workers; the place is the worker's number. Empty until all are there."""

    def admit(self, ready: Iterable[str]) -> bool:
        """Take the first workers when all are there; whether they are."""
        first = list(ready)[: self.expected]
        if len(first) == self.expected:
            self.members = first
        return self.is_full

    @property
    def is_full(self) -> bool:
        return len(self.members) == self.expected

    def refusal(self, worker: str, run: str | None = None) -> str:
        """Why a worker has no part in this run; empty: it has.

        Args:
            worker: its id.
            run: what its message says that it is about; None: it only came.
        """
        if run is not None and run != self.run:
            return "it belongs to another run; start it again"
        if worker not in self.members:
            return f"the run has its {self.expected} workers already (--expect {self.expected})"
        return ""


def clock_fault(here_s: float, there_s: float) -> str:
    """Why a worker's clock (epoch) does not do; empty: it does."""
    off_s = there_s - here_s
    return f"its clock is {off_s:+.1f} s off: set it by NTP" if abs(off_s) > CLOCKS_S else ""
