"""Waits for a condition with a deadline."""

import time
from collections.abc import Callable

from .errors import StackError

POLL_S = 0.1


def wait_for(condition: Callable[[], bool], within_s: float, what: str) -> None:
    """Return as soon as `condition()` is true.

    Raises:
        StackError: if it is not true within `within_s` seconds.
    """
    deadline = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > deadline:
            raise StackError(f"waited {within_s:.0f} s in vain for {what}")
        time.sleep(POLL_S)
