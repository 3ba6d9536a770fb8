"""A service as supervisord runs it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from . import health


@dataclass(frozen=True, slots=True)
class Process:
    """A service as supervisord runs it."""

    name: str
    version: str
    command: tuple[str, ...]
    directory: Path
    environment: Mapping[str, str]
    healthy: Callable[[], health.Health]
    ports: tuple[str, ...] = ()
    """Keys of `.env` whose ports it listens on."""
    stop_within_s: int = 20
    stop_signal: str = "TERM"
    configuration: str = field(default="")
    """Digest of the files that it reads at its start: if they change, `make up` restarts it."""
