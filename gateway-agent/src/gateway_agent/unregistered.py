"""Tracks unregistered beacons: at most 256, however many random addresses are received. Pure."""

LIMIT = 256
# A phone changes its address about every 15 minutes; five minutes of silence count as gone.
FORGET_AFTER_S = 300.0


class Unregistered:
    """A bounded set of beacon ids with the time of their last advert, oldest first."""

    def __init__(self) -> None:
        self._last_heard: dict[str, float] = {}

    def __len__(self) -> int:
        return len(self._last_heard)

    def hold(self, beacon: str, now: float) -> bool:
        """Track ``beacon`` if there is room; returns whether it is tracked."""
        if self._last_heard.pop(beacon, None) is None:
            self._forget(now)
            if len(self._last_heard) >= LIMIT:
                return False
        self._last_heard[beacon] = now
        return True

    def _forget(self, now: float) -> None:
        while self._last_heard:
            beacon = next(iter(self._last_heard))
            if now - self._last_heard[beacon] < FORGET_AFTER_S:
                return
            del self._last_heard[beacon]
