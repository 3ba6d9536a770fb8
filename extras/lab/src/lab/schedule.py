"""When requests are due. An open loop sends at these times whatever the answers do. Pure."""

import heapq
import random
from collections.abc import Iterator
from typing import NamedTuple


class Due(NamedTuple):
    """One request: seconds after the step's start, its number, and the index of its load."""

    due_s: float
    number: int
    load: int


def constant(rate: float, seconds: float) -> Iterator[float]:
    """Evenly spaced times at `rate` a second, the first after half an interval."""
    for number in range(round(rate * seconds)):
        yield (number + 0.5) / rate


def poisson(rate: float, seconds: float, seed: str) -> Iterator[float]:
    """Times of a Poisson process at `rate` a second."""
    rng = random.Random(seed)  # noqa: S311 - arrivals, no secret
    at_s = rng.expovariate(rate)
    while at_s < seconds:
        yield at_s
        at_s += rng.expovariate(rate)


def device_times(count: int, interval_s: float, seconds: float) -> Iterator[tuple[float, int, int]]:
    """(time, device, iteration) in order: each device sends once an interval, at its own moment of it."""
    for iteration in range(round(seconds / interval_s)):
        for device in range(count):
            yield (iteration + device / count) * interval_s, device, iteration


def share(count: int, worker: int, workers: int) -> range:
    """The numbers of one of several workers, of `count`: together they have each number once."""
    return range(worker, count, workers)


def share_of(times: Iterator[float], load: int, worker: int, workers: int) -> Iterator[Due]:
    """The part of a schedule that one of several workers has to do: every `workers`-th."""
    for number, due_s in enumerate(times):
        if number % workers == worker:
            yield Due(due_s, number, load)


def merged(*schedules: Iterator[Due]) -> Iterator[Due]:
    """Several schedules in order of time."""
    return heapq.merge(*schedules)
