"""Options of a run, the operator's stop request, and errors before anything is sent."""

import asyncio
import resource
from dataclasses import dataclass

from simulator.message import FinalStatus

SPARE_FILES = 64


class UnreachableError(Exception):
    """The broker did not answer in time; the message has its address and the problem."""


class RefusedError(Exception):
    """The broker refused the connection; the message has its reason."""


class TooManyFilesError(Exception):
    """The system allows this process fewer open files than the run needs."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of a run."""

    ramp_per_s: float = 2000.0
    """New connections per second, at the start and after an outage of the broker."""
    queue: int = 500_000
    """Batches that may wait in total, about 0.5 KB each; beyond that a receiver drops its oldest ones, which count as
    failed."""
    wait_s: float = 10.0
    """How long to wait for the broker before the run."""
    drain_s: float = 30.0
    """How long to wait for outstanding acknowledgements after the run."""
    progress_s: float = 30.0
    """Interval of progress lines; 0: none."""
    health_s: float = 15.0
    """Interval of each gateway's health."""
    final_status: FinalStatus = "offline"
    """The gateways' retained status after the run."""
    max_age_s: float = 7 * 86_400.0
    """Waiting batches that are older are dropped: the platform would refuse them."""
    replay_s: float = 600.0
    """Acknowledged batches are held so long, for a broker that forgets them."""
    held: int = 5_000
    """Of how many batches in total, shared by the receivers; about 0.7 KB each."""


class Stop:
    """The operator's stop request: the first waits for outstanding messages, the second stops at once."""

    def __init__(self) -> None:
        self.requested = asyncio.Event()
        self.at_once = False

    def request(self) -> None:
        self.at_once = self.requested.is_set()
        self.requested.set()

    async def wait(self) -> None:
        await self.requested.wait()


def raise_file_limit(connections: int) -> None:
    """Raise the limit of open files as needed. Raises TooManyFilesError."""
    needed = connections + SPARE_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and needed > hard:
        raise TooManyFilesError(
            f"{connections:,} connections need {needed:,} open files; the system allows {hard:,}: play at most "
            f"{max(0, hard - SPARE_FILES):,}, or raise the hard limit (`ulimit -Hn {needed}` as root, `LimitNOFILE=` "
            "of a systemd unit, `ulimits: nofile:` of a container) and run again; the broker needs as many"
        )
    if soft != resource.RLIM_INFINITY and needed > soft:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
