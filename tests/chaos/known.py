"""Up to when the platform could know everything at the moment of a question. Pure."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping

from .history import Reading
from .load import Acked

LATE_S = 15.0
"""Batches that the broker acknowledged later are looked at one by one: no window ends so shortly before a question."""
ARRIVES_MS = 2000
"""An acknowledged batch is in the flows and in what they answer by then."""
AHEAD_MS = 10_000
"""A reading may change what is decided of the time before it: so much, with the steps of gateways."""
SILENT_MS, LOST_MS = 8000, 80_000
"""Of who is not heard any more the last seconds are final when they are lost, or heard again (docs/interfaces.md)."""


class Known:
    """What had arrived when, by person."""

    def __init__(self, readings: Iterable[Reading], acked: Iterable[Acked], owners: Mapping[str, str]) -> None:
        self._late = [one for one in acked if one.acked_ms - one.ts_ms > LATE_S * 1000]
        heard: dict[str, set[int]] = {}
        for ts, _, kind, receiver, beacon in readings:
            staff_id = receiver if kind == "phone" else owners.get(beacon)
            if staff_id is not None:
                heard.setdefault(staff_id, set()).add(ts)
        self._heard = {staff_id: sorted(times) for staff_id, times in heard.items()}

    def until(self, staff: Iterable[str], to_ms: int, asked_ms: int) -> int:
        """Up to when what is said of these people (none: of everybody) was final when it was asked, epoch ms."""
        people = set(staff) or self._heard.keys()
        arrived = (
            one.ts_ms - AHEAD_MS
            for one in self._late
            if one.acked_ms + ARRIVES_MS > asked_ms
            and one.ts_ms < to_ms + AHEAD_MS
            and (one.kind == "gateway" or one.receiver in people)
        )
        return min(*(self._open(staff_id, asked_ms) for staff_id in people), *arrived, to_ms, to_ms)

    def _open(self, staff_id: str, asked_ms: int) -> int:
        times = self._heard.get(staff_id, [])
        at = bisect_right(times, asked_ms)
        silent_ms = asked_ms - times[at - 1] if at > 0 else LOST_MS
        return asked_ms - silent_ms - AHEAD_MS if SILENT_MS < silent_ms < LOST_MS else asked_ms
