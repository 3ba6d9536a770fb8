"""CPU cost of a load, part by part, and whether the generator was the limit."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

import psutil
from support.running import RunningStack

from .oha import Result

SERVICES = ("mosquitto", "telegraf", "influxd", "node-red")
ALL_OF_IT = 0.9
"""Limit of the single-threaded generator."""
BUSY = 0.97
MUCH = 0.3


@dataclass(frozen=True, slots=True)
class Cost:
    """Cores in use on average: of each service, of the generator, of the whole machine."""

    services: dict[str, float]
    generator: float
    machine: float

    @property
    def limited_by_generator(self) -> bool:
        cores = os.cpu_count() or 1
        return self.generator >= ALL_OF_IT or (self.machine >= BUSY * cores and self.generator >= MUCH)

    def shown(self) -> str:
        parts = ", ".join(f"{name} {cores:.2f}" for name, cores in self.services.items())
        return f"{parts}, generator {self.generator:.2f}, machine {self.machine:.2f} of {os.cpu_count()}"


def costing(stack: RunningStack, make: Callable[[], Result]) -> tuple[Result, Cost]:
    """Run a load and measure its cost."""
    processes = {name: psutil.Process(stack.pid(name)) for name in SERVICES}
    before, busy, began = {name: _cpu_s(one) for name, one in processes.items()}, _busy_s(), monotonic()
    result = make()
    seconds = monotonic() - began
    services = {name: (_cpu_s(one) - before[name]) / seconds for name, one in processes.items()}
    return result, Cost(services, result.generator_cpu_s / seconds, (_busy_s() - busy) / seconds)


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _busy_s() -> float:
    times = psutil.cpu_times()
    return float(sum(times) - times.idle - times.iowait)
