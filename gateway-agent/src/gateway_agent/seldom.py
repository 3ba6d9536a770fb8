"""A log that can be read after a year: what stays as it was is said again only now and then. Pure."""

SAY_AGAIN_AFTER_S = 600.0


class Seldom:
    """Remembers what was said last; ``now`` is in monotonic seconds."""

    def __init__(self) -> None:
        self._said: tuple[str, float] | None = None

    def worth_saying(self, what: str, now: float) -> bool:
        """Whether this is news, or was said long ago. Counts as said then."""
        if self._said is not None and self._said[0] == what and now - self._said[1] <= SAY_AGAIN_AFTER_S:
            return False
        self._said = (what, now)
        return True

    def forget(self) -> None:
        """It is over: the next time it is news again."""
        self._said = None
