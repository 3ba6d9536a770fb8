"""How a run treats the broker and its operator, and how it can fail before anything is sent."""

import asyncio
import resource
from dataclasses import dataclass

SPARE_FILES = 64


class UnreachableError(Exception):
    """The broker did not answer in time; the message says where it was looked for and what happened."""


class RefusedError(Exception):
    """The broker answered and did not let us in; the message has its reason."""


class TooManyFilesError(Exception):
    """The system allows this process fewer open files than there would be connections."""


@dataclass(frozen=True, slots=True)
class Manner:
    """How a run treats the broker."""

    ramp_per_s: float = 500.0
    """New connections a second, at the start and after the broker was away."""
    queue: int = 500_000
    """Batches that may wait in all, about 0.5 KB each; what comes on top is dropped and counted as failed."""
    wait_s: float = 10.0
    """How long to look for the broker before the run."""
    drain_s: float = 30.0
    """How long to wait for outstanding acknowledgements after it."""
    progress_s: float = 30.0
    """A progress line that often; 0: none."""
    health_s: float = 15.0
    """How often each gateway publishes its health."""
    take_back: bool = False
    """At the end gateways leave no retained status, as if they had never been there; else they are 'offline'."""


class Stop:
    """The operator's wish to end: once, after what is outstanding; twice, at once."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.at_once = False

    def ask(self) -> None:
        self.at_once = self.asked.is_set()
        self.asked.set()


def allow_files(connections: int) -> None:
    """Raise the limit of open files as far as needed. Raises TooManyFilesError."""
    needed = connections + SPARE_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and needed > hard:
        raise TooManyFilesError(f"{connections:,} connections need {needed:,} open files; the system allows {hard:,}")
    if soft != resource.RLIM_INFINITY and needed > soft:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
