"""A bound on a rate, as a token bucket. Pure: the clock is an argument."""


class Rate:
    """``per_second`` units on average, at most a tenth of a second's worth at once (but always one request)."""

    def __init__(self, per_second: float, now: float) -> None:
        self._per_second = per_second
        self._burst = per_second / 10
        self._tokens = self._burst
        self._at = now

    def take(self, units: int, now: float) -> float:
        """Take units; returns seconds to wait before using them. A large request runs into debt that the next pays."""
        self._tokens = min(self._burst, self._tokens + (now - self._at) * self._per_second)
        self._at = now
        wait = max(0.0, -self._tokens / self._per_second)
        self._tokens -= units
        return wait
