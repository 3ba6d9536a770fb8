"""When a silent scanner is replaced and when the adapter is reset. Pure: monotonic seconds are an argument.

A room without any beacon looks like a deaf adapter. Fresh scanners are cheap and come as long as the silence lasts;
resets disturb other users of the adapter, so each one waits twice as long as the one before, up to an hour.
"""

from enum import Enum

_LONGEST_RESET_PAUSE_S = 3600.0


class Action(Enum):
    """What is due."""

    NOTHING = "nothing"
    RESTART = "restart"
    RESET = "reset"


class Watchdog:
    """Tell it of adverts (`heard`), ask it what is due (`due`), tell it what was done (`restarted`, `reset`)."""

    def __init__(self, restart_after_s: float, reset_after_s: float, now: float) -> None:
        self._restart_after_s = restart_after_s
        self._reset_after_s = reset_after_s
        self._reset_pause_s = reset_after_s
        self._last_advert = now
        self._last_restart = now
        self._last_reset = now

    def heard(self, now: float) -> None:
        """When the latest advert came."""
        if now > self._last_advert:
            self._last_advert = now
            self._reset_pause_s = self._reset_after_s

    def silence_s(self, now: float) -> float:
        """Seconds since the last advert."""
        return now - self._last_advert

    def due(self, now: float) -> Action:
        """What the silence asks for now."""
        if now - max(self._last_advert, self._last_reset) >= self._reset_pause_s:
            return Action.RESET
        if now - max(self._last_advert, self._last_restart, self._last_reset) >= self._restart_after_s:
            return Action.RESTART
        return Action.NOTHING

    def restarted(self, now: float) -> None:
        """A fresh scanner is running."""
        self._last_restart = now

    def reset(self, now: float) -> None:
        """The adapter was reset."""
        self._last_reset = self._last_restart = now
        self._reset_pause_s = min(self._reset_pause_s * 2, max(_LONGEST_RESET_PAUSE_S, self._reset_after_s))
