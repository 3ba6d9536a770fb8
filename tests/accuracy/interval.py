"""Confidence of a figure: bootstrap over recordings or buildings. Pure."""

from collections.abc import Callable, Sequence

import numpy as np

DRAWS = 2000
SURE = 0.95


def interval(values: Sequence[float], statistic: Callable[[Sequence[float]], float]) -> tuple[float, float]:
    """The 95 % interval of the statistic over bootstrap samples (Efron's percentiles)."""
    rng = np.random.default_rng(1)
    all_ = np.array(values)
    drawn = [statistic(all_[rng.integers(0, len(all_), len(all_))].tolist()) for _ in range(DRAWS)]
    low, high = np.quantile(drawn, [(1 - SURE) / 2, (1 + SURE) / 2])
    return float(low), float(high)


def median(values: Sequence[float]) -> float:
    return float(np.median(values))


def worst_decile(values: Sequence[float]) -> float:
    """The worst decile: a tenth of the values are no better."""
    return float(np.quantile(values, 0.1))
