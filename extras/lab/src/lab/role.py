"""What all roles of the generator share: the plan's truth, signals, waiting, lines for the operator, an end."""

import json
import os
import signal
import sys
import time
from collections.abc import Callable

import gevent
import gevent.socket

from lab.calls import Place, Site
from lab.coordinator import Coordinator
from lab.plan import Plan

GONE_S = 10.0
"""Coordinator and workers hear of each other each second; who is silent for so long is gone."""
FLUSH_S = 0.5
"""Samples are taken so often."""
OK, FAILED = 0, 3


def site_of(plan: Plan) -> Site:
    """The truth that the leading process put into the plan."""
    facts = plan.building
    return Site(tuple(Place(*one) for one in facts["places"]), facts["past_end_s"], facts["building"], facts["run"])


def stop_on_signals(coordinator: Coordinator, halt: Callable[[], None] = lambda: None) -> None:
    """The operator ends the run: SIGINT or SIGTERM."""

    def stop() -> None:
        coordinator.stopped = coordinator.stopped or "stopped by the operator"
        halt()

    for number in (signal.SIGINT, signal.SIGTERM):
        gevent.signal_handler(number, stop)


def end_with_parent() -> None:
    """End this process when the command that started it is gone: nobody would read the result, and a worker that stays
    would disturb the next run. The command holds the other end of standard input."""

    def watch() -> None:
        while True:
            gevent.socket.wait_read(0)
            if not os.read(0, 1):
                log("the command that started this process is gone")
                os._exit(FAILED)

    gevent.spawn(watch)


def until(condition: Callable[[], object], within_s: float) -> bool:
    """Wait for a condition; whether it came."""
    deadline_s = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > deadline_s:
            return False
        gevent.sleep(0.05)
    return True


def report_step(index: int) -> None:
    """The command starts what goes on beside the generator."""
    print(json.dumps({"step": index}), flush=True)  # noqa: T201


def log(line: str) -> None:
    print(line, file=sys.stderr, flush=True)  # noqa: T201 - the operator's progress
