"""Throttles repeated log messages, so that a log of a year stays readable. Pure."""

REPEAT_AFTER_S = 600.0


class LogThrottle:
    """Remembers the last logged message; ``now`` is in monotonic seconds."""

    def __init__(self) -> None:
        self._last: tuple[str, float] | None = None

    def should_log(self, message: str, now: float) -> bool:
        """Whether the message is new or was last logged long ago. True counts as logged."""
        if self._last is not None and self._last[0] == message and now - self._last[1] <= REPEAT_AFTER_S:
            return False
        self._last = (message, now)
        return True

    def forget(self) -> None:
        """Forget the last message, so that the next one is logged."""
        self._last = None
