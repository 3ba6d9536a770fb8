"""What extras add to the core. An extra is a package that is found as an entry point, so the core names none.

Its entry point in the group `sda_stack.extras` is an `Extra`. `EXTRA=name` before a command installs it.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from pathlib import Path

from . import install
from .broker import Broker, Mosquitto
from .stores import Stores

GROUP = "sda_stack.extras"
Check = tuple[str, Sequence[str | Path], Mapping[str, str]]
"""Title, command line, additional environment."""
Part = tuple[str, Sequence[str | Path]]
"""Title and command line of tests."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command of `native/stack`."""

    run: Callable[[list[str]], int]
    """Gets the arguments; returns the exit code."""
    help: str
    own_arguments: bool = False
    """Whether it parses arguments; others have none."""


@dataclass(frozen=True, slots=True)
class Extra:
    """What an extra adds."""

    commands: Mapping[str, Command] = field(default_factory=dict)
    brokers: Mapping[str, Broker] = field(default_factory=dict)
    """By the value of BROKER."""
    stores: Mapping[str, Stores] = field(default_factory=dict)
    """By the value of STORES."""
    test_parts: Callable[[], list[install.Part]] = list
    """What its tests need besides what the core's need."""
    checks: Callable[[Path], list[Check]] = lambda _: []
    """Of `make check`; gets a fresh `.env`."""
    lanes: Callable[[], list[list[Part]]] = list
    """Of `make test-extras`: lanes run side by side, the parts of a lane one after the other."""
    containers: Sequence[str] = ()
    """Folders with tests of containers."""


@functools.cache
def extras() -> dict[str, Extra]:
    """The installed extras by name."""
    return {point.name: point.load() for point in sorted(entry_points(group=GROUP), key=lambda point: point.name)}


def brokers() -> dict[str, Broker]:
    """All kinds of broker, by the value of BROKER."""
    return {"mosquitto": Mosquitto(), **{name: kind for one in extras().values() for name, kind in one.brokers.items()}}


def stores() -> dict[str, Stores]:
    """What STORES may be."""
    return {"1": Stores(), **{name: kind for one in extras().values() for name, kind in one.stores.items()}}


def commands() -> dict[str, Command]:
    """The commands of all extras."""
    return {name: command for one in extras().values() for name, command in one.commands.items()}
