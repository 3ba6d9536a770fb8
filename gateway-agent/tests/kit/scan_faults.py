"""Faults that silence a scanner. Each function returns when scanning is possible again."""

import time
from collections.abc import Callable
from functools import wraps

from fake_bluez import FakeBluez
from running_agent import RunningAgent
from scenarios import emitted
from subscriber import Subscriber
from waiting import eventually

RATE = 50  # adverts per second during the fault
_NOTICED_WITHIN_S = 60


def _timed(fault: Callable[[FakeBluez], None]) -> Callable[[FakeBluez], float]:
    """Make the fault return its duration in seconds."""

    @wraps(fault)
    def timed(bluez: FakeBluez) -> float:
        began = time.monotonic()
        fault(bluez)
        return time.monotonic() - began

    return timed


@_timed
def deaf(bluez: FakeBluez) -> None:
    """The scan continues without adverts."""
    bluez.silent = True


@_timed
def restarted(bluez: FakeBluez) -> None:
    """bluetoothd dies and comes back."""
    bluez.stop()
    bluez.start()


@_timed
def replugged(bluez: FakeBluez) -> None:
    """The adapter is unplugged until the agent has noticed."""
    bluez.remove_adapter()
    lookups = bluez.lookups
    eventually(lambda: bluez.lookups > lookups + 1, _NOTICED_WITHIN_S, "nobody looked for it")
    bluez.add_adapter()


@_timed
def busy(bluez: FakeBluez) -> None:
    """No adverts, and every request is answered with InProgress for a while."""
    bluez.silent = bluez.in_progress = True
    starts = bluez.refused
    eventually(lambda: bluez.refused > starts, _NOTICED_WITHIN_S, "nobody asked")
    bluez.in_progress = False


@_timed
def frozen(bluez: FakeBluez) -> None:
    """No adverts, and no request is answered until a new connection asks."""
    bluez.silent = bluez.mute = True
    asked = bluez.unanswered
    eventually(lambda: bluez.unanswered > asked, _NOTICED_WITHIN_S, "nobody asked")
    bluez.mute = False


@_timed
def wedged(bluez: FakeBluez) -> None:
    """No adverts until the adapter is switched off and on."""
    bluez.wedged = True


FAULTS = [deaf, restarted, replugged, busy, frozen, wedged]


def seconds_until_readings(agent: RunningAgent, bluez: FakeBluez, platform: Subscriber, within_s: float) -> float:
    """Wait until new adverts arrive as readings; returns the seconds it took."""
    began, emitted_before, arrived = time.monotonic(), emitted(bluez), sum(platform.adverts().values())
    eventually(
        lambda: emitted(bluez) > emitted_before + RATE and sum(platform.adverts().values()) > arrived + RATE,
        within_s,
        agent.log,
    )
    return time.monotonic() - began
