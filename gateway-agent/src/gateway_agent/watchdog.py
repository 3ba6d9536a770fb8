"""Decides when to replace a silent scanner and when to reset the adapter. Pure: monotonic seconds are an argument.

A room without any beacon looks like a broken adapter. New scanners are cheap and are made as long as the silence lasts.
Resets disturb other users of the adapter, so each one waits twice as long as the one before, up to an hour.
"""

from enum import Enum

_LONGEST_RESET_PAUSE_S = 3600.0


class Action(Enum):
    """The action that is due."""

    NOTHING = "nothing"
    RESTART = "restart"
    RESET = "reset"


class Watchdog:
    """Report adverts (`advert_seen`) and done actions (`restarted`, `reset`); ask for the next action (`due`)."""

    def __init__(self, restart_after_s: float, reset_after_s: float, now: float) -> None:
        self._restart_after_s = restart_after_s
        self._reset_after_s = reset_after_s
        self._reset_pause_s = reset_after_s
        self._last_advert = now
        self._last_restart = now
        self._last_reset = now

    def advert_seen(self, now: float) -> None:
        """Report the time of the latest advert."""
        if now > self._last_advert:
            self._last_advert = now
            self._reset_pause_s = self._reset_after_s

    def silence_s(self, now: float) -> float:
        """Seconds since the last advert."""
        return now - self._last_advert

    def due(self, now: float) -> Action:
        """The action that is due now."""
        if now - max(self._last_advert, self._last_reset) >= self._reset_pause_s:
            return Action.RESET
        if now - max(self._last_advert, self._last_restart, self._last_reset) >= self._restart_after_s:
            return Action.RESTART
        return Action.NOTHING

    def restarted(self, now: float) -> None:
        """Report that a new scanner is running."""
        self._last_restart = now

    def reset(self, now: float) -> None:
        """Report that the adapter was reset."""
        self._last_reset = self._last_restart = now
        self._reset_pause_s = min(self._reset_pause_s * 2, max(_LONGEST_RESET_PAUSE_S, self._reset_after_s))
