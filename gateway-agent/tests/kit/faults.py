"""Ways in which a scanner falls silent. Each returns when nothing is in the way any more."""

import time
from collections.abc import Callable
from functools import wraps

from played_bluez import PlayedBluez
from running_agent import RunningAgent
from scenarios import emitted
from subscriber import Subscriber
from waiting import eventually

RATE = 50  # adverts a second while it happens
_NOTICED_WITHIN_S = 60


def _timed(fault: Callable[[PlayedBluez], None]) -> Callable[[PlayedBluez], float]:
    """Seconds that the fault lasted."""

    @wraps(fault)
    def timed(bluez: PlayedBluez) -> float:
        began = time.monotonic()
        fault(bluez)
        return time.monotonic() - began

    return timed


@_timed
def deaf(bluez: PlayedBluez) -> None:
    """The scan goes on, but nothing is heard any more."""
    bluez.silent = True


@_timed
def restarted(bluez: PlayedBluez) -> None:
    """bluetoothd dies and comes back."""
    bluez.stop()
    bluez.start()


@_timed
def replugged(bluez: PlayedBluez) -> None:
    """The adapter is away until the agent has missed it."""
    bluez.remove_adapter()
    lookups = bluez.lookups
    eventually(lambda: bluez.lookups > lookups + 1, _NOTICED_WITHIN_S, "nobody looked for it")
    bluez.add_adapter()


@_timed
def busy(bluez: PlayedBluez) -> None:
    """Deaf, and every request is answered with InProgress for a while."""
    bluez.silent = bluez.in_progress = True
    starts = bluez.refused
    eventually(lambda: bluez.refused > starts, _NOTICED_WITHIN_S, "nobody asked")
    bluez.in_progress = False


@_timed
def frozen(bluez: PlayedBluez) -> None:
    """Deaf, and no request is answered, until a new connection asks."""
    bluez.silent = bluez.mute = True
    asked = bluez.unanswered
    eventually(lambda: bluez.unanswered > asked, _NOTICED_WITHIN_S, "nobody asked")
    bluez.mute = False


@_timed
def wedged(bluez: PlayedBluez) -> None:
    """Nothing helps but switching the adapter off and on."""
    bluez.wedged = True


FAULTS = [deaf, restarted, replugged, busy, frozen, wedged]


def flows_again(agent: RunningAgent, bluez: PlayedBluez, platform: Subscriber, within_s: float) -> float:
    """Wait until what is emitted from now on arrives; returns after how many seconds."""
    began, told, arrived = time.monotonic(), emitted(bluez), sum(platform.adverts().values())
    eventually(
        lambda: emitted(bluez) > told + RATE and sum(platform.adverts().values()) > arrived + RATE, within_s, agent.log
    )
    return time.monotonic() - began
