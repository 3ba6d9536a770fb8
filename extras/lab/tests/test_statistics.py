"""Figures of samples, and delays that grow."""

import math

from lab.samples import Sample
from lab.statistics import course, faults, figures, grows, iterations, percentile


def sample(
    latency_ms: float, *, at_s: float = 0.0, fault: str = "", iteration: int = -1, subject: str = "lab-0"
) -> Sample:
    return Sample(at_s * 1000, 0, "insert", subject, iteration, 0.5, latency_ms, 200, fault, 0, 26, 1, -1, 0)


def test_percentiles_are_values_that_occurred() -> None:
    values = [float(number) for number in range(1, 101)]
    assert [percentile(values, share) for share in (0.5, 0.95, 0.99, 1.0)] == [50, 95, 99, 100]
    assert percentile([7.0], 0.5) == 7.0
    assert math.isnan(percentile([], 0.5))


def test_times_and_throughput_are_of_right_answers_alone() -> None:
    found = figures("insert", [sample(10), sample(20), sample(0.1, fault="HTTP 503")], 2.0)
    assert (found.requests, found.faults, found.per_s, found.mean, found.least, found.most) == (3, 1, 1.0, 15, 10, 20)
    assert faults([sample(1, fault="HTTP 503")] * 2) == {"insert: HTTP 503": 2}


def test_the_course_goes_by_when_requests_were_due() -> None:
    rows = course([sample(1, at_s=0.1), sample(3, at_s=0.9), sample(9, at_s=1.5, fault="x")], 0.0)
    assert rows[0][:2] == (0.5, 1)
    assert [row[3:] for row in rows] == [(2, 0), (0, 1)]


def test_an_iteration_is_averaged_over_devices() -> None:
    some = [sample(10, iteration=0), sample(20, iteration=0, subject="lab-1"), sample(7, iteration=1)]
    assert iterations(some) == [("insert", 0, 0, 15.0, 20), ("insert", 0, 1, 7.0, 7)]


def test_a_backlog_grows_and_a_steady_delay_does_not() -> None:
    assert grows([(float(s), 1000 + 400.0 * s) for s in range(30)])
    assert not grows([(float(s), 900.0 + 200 * (s % 3)) for s in range(30)])
    assert not grows([(0.0, 1.0), (1.0, 9999.0)])
