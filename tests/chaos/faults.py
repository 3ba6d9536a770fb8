"""What is done to which service when, and doing it. The plan is a function of the seed."""

import random
import threading
import time
import xmlrpc.client
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from support.running import RunningStack
from support.stack_client import now_ms

SERVICES = ("mosquitto", "telegraf", "spool", "influxd", "node-red")
CAN_FREEZE = ("telegraf", "influxd")
"""A frozen broker or Node-RED is a frozen machine: receivers wait for it."""
FREEZE_SHARE, FROZEN_S = 0.4, (2.0, 20.0)
BURST_SHARE, BURST_S = 0.3, (0.1, 3.0)
"""So many faults follow the one before at once, while its service is still starting."""
POLL_S = 0.1


@dataclass(frozen=True, slots=True)
class Fault:
    """A SIGKILL `at_s` seconds after the start, or with `frozen_s` a SIGSTOP for so long."""

    at_s: float
    service: str
    frozen_s: float = 0.0

    def __str__(self) -> str:
        return f"{self.service} {f'frozen for {self.frozen_s:.0f} s' if self.frozen_s else 'killed'}"


@dataclass(slots=True)
class Done:
    """A fault as it happened; `back_ms`: when the service worked again."""

    fault: Fault
    at_ms: int
    back_ms: int | None = None
    complete_ms: int | None = None
    """When everything up to `back_ms` was complete."""


def plan(seed: int, from_s: float, to_s: float, mean_s: float) -> list[Fault]:
    """Faults from `from_s` to `to_s`, one every `mean_s` seconds on average; of each four every service has one."""
    rng = random.Random(f"{seed}/faults")  # noqa: S311 - play, not secrets
    found: list[Fault] = []
    order: list[str] = []
    at_s = from_s
    longer_s = (mean_s - BURST_SHARE * sum(BURST_S) / 2) / (1 - BURST_SHARE)
    while at_s < to_s:
        order = order or rng.sample(SERVICES, len(SERVICES))
        service = order.pop()
        frozen = service in CAN_FREEZE and rng.random() < FREEZE_SHARE
        found.append(Fault(round(at_s, 2), service, round(rng.uniform(*FROZEN_S), 1) if frozen else 0.0))
        at_s += rng.uniform(*BURST_S) if rng.random() < BURST_SHARE else rng.uniform(0.3, 1.7) * longer_s
    return found


class Injector:
    """Does what is planned. supervisord starts again what was killed, as in an installation."""

    def __init__(self, stack: RunningStack, faults: list[Fault], report: Callable[[str], None]) -> None:
        self.done: list[Done] = []
        self._stack, self._faults, self._report = stack, faults, report
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._watchers: list[threading.Thread] = []
        self._started_s = time.monotonic()

    def start(self) -> None:
        self._started_s = time.monotonic()
        self._thread.start()

    def join(self) -> None:
        """Wait until all faults are done, and every service works again."""
        self._thread.join()
        for watcher in self._watchers:
            watcher.join()

    def _run(self) -> None:
        for fault in self._faults:
            time.sleep(max(0.0, self._started_s + fault.at_s - time.monotonic()))
            before = self._stack.pid(fault.service)
            self._do(fault)
            done = Done(fault, now_ms())
            self.done.append(done)
            self._report(f"{fault}")
            watcher = threading.Thread(target=self._watch, args=(done, before), daemon=True)
            watcher.start()
            self._watchers.append(watcher)

    def _do(self, fault: Fault) -> None:
        with suppress(xmlrpc.client.Fault):  # a service that is just starting again has no process
            if fault.frozen_s:
                self._stack.suspend(fault.service)
                threading.Timer(fault.frozen_s, self._thaw, (fault.service,)).start()
            else:
                self._stack.crash(fault.service)

    def _thaw(self, service: str) -> None:
        with suppress(xmlrpc.client.Fault):  # it was killed meanwhile
            self._stack.thaw(service)

    def _watch(self, done: Done, before: int) -> None:
        fault = done.fault
        time.sleep(fault.frozen_s)
        while True:
            time.sleep(POLL_S)
            if not fault.frozen_s and self._stack.pid(fault.service) in {0, before}:
                continue
            if self._stack.works(fault.service):
                done.back_ms = now_ms()
                return
