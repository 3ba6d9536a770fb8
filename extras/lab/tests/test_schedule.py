"""Due times: how many, how they are spread, how workers share them."""

from itertools import pairwise

from lab import schedule


def test_a_constant_rate_is_evenly_spaced_and_complete() -> None:
    times = list(schedule.constant(35, 60))
    assert len(times) == 2100
    assert times[0] == 0.5 / 35
    assert all(abs(b - a - 1 / 35) < 1e-9 for a, b in pairwise(times))
    assert times[-1] < 60


def test_poisson_arrivals_have_the_rate_and_follow_the_seed() -> None:
    times = list(schedule.poisson(50, 200, "seed"))
    assert abs(len(times) - 10_000) < 500
    assert times == list(schedule.poisson(50, 200, "seed"))
    assert times != list(schedule.poisson(50, 200, "other"))


def test_each_device_sends_once_an_interval_at_its_own_moment() -> None:
    times = list(schedule.device_times(4, 5.0, 20.0))
    assert [due for due, _, _ in times] == sorted(due for due, _, _ in times)
    assert [(device, iteration) for _, device, iteration in times] == [(d, i) for i in range(4) for d in range(4)]
    assert [due for due, device, _ in times if device == 1] == [1.25, 6.25, 11.25, 16.25]


def test_workers_share_a_schedule_without_gap_or_overlap() -> None:
    parts = [list(schedule.share_of(schedule.constant(10, 3), 0, worker, 3)) for worker in range(3)]
    assert [len(part) for part in parts] == [10, 10, 10]
    assert [one.number for one in schedule.merged(*map(iter, parts))] == list(range(30))
