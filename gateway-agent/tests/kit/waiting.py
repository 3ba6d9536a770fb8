"""Waits for a condition with a deadline."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
_POLL_S = 0.02


def eventually(condition: Callable[[], T], within_s: float, otherwise: Callable[[], str] | str = "") -> T:
    """The condition's first truthy value. Raises AssertionError with ``otherwise`` at the deadline."""
    deadline = time.monotonic() + within_s
    while not (value := condition()):
        if time.monotonic() > deadline:
            said = otherwise if isinstance(otherwise, str) else otherwise()
            raise AssertionError(f"not within {within_s} s: {said or condition}")
        time.sleep(_POLL_S)
    return value
