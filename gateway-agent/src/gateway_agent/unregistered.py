"""Beacons nobody registered: at most 256 are remembered, however many random addresses pass by. Pure."""

LIMIT = 256
# A phone changes its address every 15 minutes or so; what has been silent for five is gone.
FORGET_AFTER_S = 300.0


class Unregistered:
    """A bounded set of beacon ids with the time each was last heard, oldest first."""

    def __init__(self) -> None:
        self._last_heard: dict[str, float] = {}

    def __len__(self) -> int:
        return len(self._last_heard)

    def hold(self, beacon: str, now: float) -> bool:
        """Whether ``beacon`` is among those remembered; a new one is taken in while there is room."""
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
