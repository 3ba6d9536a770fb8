"""A token bucket that limits a rate. Pure: the clock is an argument."""


class TokenBucket:
    """``per_second`` units on average, with bursts of a tenth of a second. One request always passes."""

    def __init__(self, per_second: float, now: float) -> None:
        self._per_second = per_second
        self._burst = per_second / 10
        self._tokens = self._burst
        self._at = now

    def take(self, units: int, now: float) -> float:
        """Take units; returns the seconds to wait before using them. A large request delays the next one."""
        self._tokens = min(self._burst, self._tokens + (now - self._at) * self._per_second)
        self._at = now
        wait = max(0.0, -self._tokens / self._per_second)
        self._tokens -= units
        return wait
