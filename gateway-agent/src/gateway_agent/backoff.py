"""Exponential backoff with jitter, so that a thousand gateways do not retry in step. Pure."""

import random
from collections.abc import Callable

FIRST_S = 1.0
SPREAD_S = 15.0  # a broker restart disconnects a thousand gateways at the same moment


class Backoff:
    """Exponential with jitter: between half and the whole of 1, 2, 4 … seconds, up to ``longest_s``."""

    def __init__(self, longest_s: float, jitter: Callable[[], float] = random.random) -> None:
        self._longest_s = longest_s
        self._jitter = jitter
        self._next_s = FIRST_S

    def pause_s(self) -> float:
        """Seconds to wait before the next attempt."""
        pause = min(self._next_s, self._longest_s)
        self._next_s = min(self._next_s * 2, self._longest_s)
        return pause * (0.5 + 0.5 * self._jitter())

    def spread_s(self) -> float:
        """Seconds to wait before the first attempt after a stable connection: random, up to 15 s."""
        return min(SPREAD_S, self._longest_s) * self._jitter()

    def reset(self) -> None:
        """Start over after a successful attempt."""
        self._next_s = FIRST_S
