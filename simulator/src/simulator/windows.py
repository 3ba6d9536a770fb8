"""When a phone ends its windows: every second while its carrier moves, seldom while they stand. Pure.

Times are seconds on one clock. A window begins where the one before ended; a phone knows of the past alone."""

import itertools
from collections.abc import Callable, Iterator

INTERVAL_S = (1.0, 4.0)  # a phone that lies still ends a window every 1 to 4 s, each its own
MOVING_S = 1.0  # the shortest window of the contract, and how often iOS tells what it ranged
# So long after the last step a phone still counts as moving: pedometers tell a step late and miss some; who opens a
# door stops for a second or two; and some short windows settle the room in which somebody stops sooner than a long one.
MOVED_S = 4.0


def adaptive_ends(still_s: Callable[[float], float], interval_s: float, begin_s: float) -> Iterator[float]:
    """The ends of all windows from `begin_s` on, without end.

    A running window is looked at every MOVING_S: it ends there if the carrier moved within the last MOVED_S.

    Args:
        still_s: for how many seconds the carrier has stood at a time, 0 while they move; asked with times that never go
            back and are never ahead of the end that comes next.
        interval_s: how long a window lasts while the phone lies still, s, at least MOVING_S.
        begin_s: when the first window begins, s."""
    while True:
        end_s, last_s = begin_s + MOVING_S, begin_s + interval_s
        while end_s < last_s and still_s(end_s) >= MOVED_S:
            end_s += MOVING_S
        begin_s = min(end_s, last_s)
        yield begin_s


def fixed_ends(interval_s: float, begin_s: float) -> Iterator[float]:
    """The same of a phone that does not ask whether it moves: every `interval_s`."""
    return (begin_s + number * interval_s for number in itertools.count(1))
