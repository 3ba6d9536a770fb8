"""Random numbers that are the same for the same seed, from a generator of few bytes. Pure."""

import itertools
import math
from bisect import bisect
from collections.abc import Sequence
from hashlib import blake2b
from typing import Protocol, TypeVar

Item = TypeVar("Item")
_MASK = (1 << 64) - 1


class Rng(Protocol):
    """What walks and radio need of a random number generator; `random.Random` is one too."""

    def random(self) -> float: ...
    def uniform(self, a: float, b: float) -> float: ...
    def gauss(self, mu: float, sigma: float) -> float: ...
    def lognormvariate(self, mu: float, sigma: float) -> float: ...
    def choice(self, seq: Sequence[Item]) -> Item: ...
    def choices(self, population: Sequence[Item], weights: Sequence[float]) -> list[Item]: ...


class SplitMix64:
    """The generator of Steele, Lea and Flood (OOPSLA 2014): 8 bytes of state, where `random.Random` has 2.5 KB. For
    play, not for secrets."""

    __slots__ = ("_state",)

    def __init__(self, seed: str) -> None:
        self._state = int.from_bytes(blake2b(seed.encode(), digest_size=8).digest(), "big")

    def random(self) -> float:
        """From 0 up to, but not, 1."""
        self._state = mixed = (self._state + 0x9E3779B97F4A7C15) & _MASK
        mixed = ((mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9) & _MASK
        mixed = ((mixed ^ mixed >> 27) * 0x94D049BB133111EB) & _MASK
        return ((mixed ^ mixed >> 31) >> 11) * 2.0**-53

    def uniform(self, a: float, b: float) -> float:
        return a + (b - a) * self.random()

    def gauss(self, mu: float, sigma: float) -> float:
        """Box and Muller's method."""
        return mu + sigma * math.sqrt(-2 * math.log(1 - self.random())) * math.cos(2 * math.pi * self.random())

    def lognormvariate(self, mu: float, sigma: float) -> float:
        return math.exp(self.gauss(mu, sigma))

    def choice(self, seq: Sequence[Item]) -> Item:
        return seq[int(self.random() * len(seq))]

    def choices(self, population: Sequence[Item], weights: Sequence[float]) -> list[Item]:
        """One item, in a list."""
        sums = list(itertools.accumulate(weights))
        return [population[min(len(sums) - 1, bisect(sums, self.random() * sums[-1]))]]
