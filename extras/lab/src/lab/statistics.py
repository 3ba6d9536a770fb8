"""Figures of many samples: percentiles, rates, courses over time. Pure."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lab.samples import Sample


@dataclass(frozen=True, slots=True)
class Figures:
    """Of one call in one step: how many, how fast (ms), how many faults."""

    call: str
    requests: int
    per_s: float
    """Answers without a fault, a second."""
    mean: float
    least: float
    p50: float
    p90: float
    p95: float
    p99: float
    most: float
    faults: int
    retried: int
    bytes: int
    late_p99: float

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def percentile(ordered: Sequence[float], share: float) -> float:
    """The value that `share` (0…1) of the ordered values do not exceed (nearest rank); NaN of none."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else math.nan


def figures(call: str, samples: Sequence[Sample], seconds: float) -> Figures:
    """The figures of samples of one call, offered for `seconds`. Times are of right answers alone."""
    good = sorted(one.latency_ms for one in samples if not one.fault)
    late = sorted(one.late_ms for one in samples)
    return Figures(
        call,
        len(samples),
        len(good) / seconds if seconds > 0 else 0.0,
        sum(good) / len(good) if good else math.nan,
        good[0] if good else math.nan,
        percentile(good, 0.5),
        percentile(good, 0.9),
        percentile(good, 0.95),
        percentile(good, 0.99),
        good[-1] if good else math.nan,
        len(samples) - len(good),
        sum(1 for one in samples if one.retries),
        sum(one.bytes for one in samples),
        percentile(late, 0.99),
    )


def by_step_and_call(samples: Iterable[Sample]) -> dict[int, dict[str, list[Sample]]]:
    """Samples by index of their step, and by call."""
    grouped: dict[int, dict[str, list[Sample]]] = defaultdict(lambda: defaultdict(list))
    for one in samples:
        grouped[one.step][one.call].append(one)
    return grouped


def faults(samples: Iterable[Sample]) -> dict[str, int]:
    """How often each fault happened, the most frequent first."""
    counts: dict[str, int] = defaultdict(int)
    for one in samples:
        if one.fault:
            counts[f"{one.call}: {one.fault}"] += 1
    return dict(sorted(counts.items(), key=lambda item: -item[1]))


def course(
    samples: Iterable[Sample], begin_ms: float, bucket_s: float = 1.0
) -> list[tuple[float, float, float, int, int]]:
    """(second, p50, p99, answers, faults) of each bucket of time in which something was due."""
    buckets: dict[int, list[Sample]] = defaultdict(list)
    for one in samples:
        buckets[int((one.due_ms - begin_ms) / 1000 / bucket_s)].append(one)
    rows = []
    for bucket, inside in sorted(buckets.items()):
        good = sorted(one.latency_ms for one in inside if not one.fault)
        at_s = (bucket + 0.5) * bucket_s
        rows.append((at_s, percentile(good, 0.5), percentile(good, 0.99), len(good), len(inside) - len(good)))
    return rows


def iterations(samples: Iterable[Sample]) -> list[tuple[str, int, int, float, float]]:
    """(call, step, iteration, mean, most) over the devices: one row for each iteration."""
    grouped: dict[tuple[str, int, int], list[float]] = defaultdict(list)
    for one in samples:
        if one.iteration >= 0 and not one.fault:
            grouped[one.call, one.step, one.iteration].append(one.latency_ms)
    return [(*key, sum(values) / len(values), max(values)) for key, values in sorted(grouped.items())]


def grows(points: Sequence[tuple[float, float]], min_ms_per_s: float = 5.0) -> bool:
    """Whether a delay (second, ms) grows steadily: a line through it rises, and the last third is above the first."""
    if len(points) < 6:
        return False
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / spread if spread else 0.0
    third = len(points) // 3
    first, last = (sorted(y for _, y in part)[third // 2] for part in (points[:third], points[-third:]))
    return slope > min_ms_per_s and last > 1.5 * first + 500
