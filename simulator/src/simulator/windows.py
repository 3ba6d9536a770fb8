"""Decides when a phone ends its windows: every second while its carrier moves, less often at rest. Pure.

Times are seconds on one clock. A window begins where the previous one ended. A phone knows only the past."""

from collections.abc import Callable, Iterator

INTERVAL_S = (1.0, 4.0)  # a phone at rest ends a window every 1 to 4 s, each phone its own
MOVING_S = 1.0  # the contract's shortest window, and the interval of iOS's ranging callbacks
# A phone counts as moving for this long after the last step: pedometers report steps late and miss some, people stop
# for a second or two to open a door, and short windows find the room of somebody who stops sooner than a long one.
MOVED_S = 4.0


def adaptive_ends(still_s: Callable[[float], float], interval_s: float, begin_s: float) -> Iterator[float]:
    """Yield the ends of all windows from `begin_s` on, endlessly.

    Every MOVING_S within a window it ends if the carrier moved within the last MOVED_S.

    Args:
        still_s: seconds for which the carrier has stood at a time, 0 while they move; called with non-decreasing times
            that are never ahead of the next end.
        interval_s: length of a window at rest, s, at least MOVING_S.
        begin_s: start of the first window, s."""
    while True:
        end_s, last_s = begin_s + MOVING_S, begin_s + interval_s
        while end_s < last_s and still_s(end_s) >= MOVED_S:
            end_s += MOVING_S
        begin_s = min(end_s, last_s)
        yield begin_s


class fixed_ends:  # noqa: N801 - used like the function above; a generator is five times as large
    """The ends of windows of a phone that ignores movement: every `interval_s`."""

    __slots__ = ("_begin_s", "_interval_s", "_number")

    def __init__(self, interval_s: float, begin_s: float) -> None:
        self._interval_s, self._begin_s, self._number = interval_s, begin_s, 0

    def __iter__(self) -> "fixed_ends":
        return self

    def __next__(self) -> float:
        self._number += 1
        return self._begin_s + self._number * self._interval_s
