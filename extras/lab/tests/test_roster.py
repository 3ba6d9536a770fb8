"""Which workers belong to a run, what each does, and why others are refused."""

import pytest
from lab.roster import Roster, clock_fault
from lab.schedule import share


def test_the_first_workers_that_come_are_the_runs() -> None:
    roster = Roster("r1", expected=2)
    assert not roster.admit(["b"])
    assert roster.members == []  # it may be gone before the others come
    assert roster.admit(["c", "a", "d"])
    assert roster.members == ["c", "a"]


def test_one_worker_too_many_and_one_of_another_run_are_refused() -> None:
    roster = Roster("r1", expected=1)
    roster.admit(["a"])
    assert roster.refusal("a") == roster.refusal("a", "r1") == ""
    assert "has its 1 workers already" in roster.refusal("b")
    assert "another run" in roster.refusal("a", "r0")
    assert "another run" in roster.refusal("b", "")


@pytest.mark.parametrize("count", [0, 1, 5, 250])
@pytest.mark.parametrize("workers", [1, 2, 3])
def test_each_receiver_has_one_worker(count: int, workers: int) -> None:
    shares = [share(count, worker, workers) for worker in range(workers)]
    assert sorted(number for one in shares for number in one) == list(range(count))
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


def test_a_clock_that_is_off_is_named() -> None:
    assert clock_fault(1000.0, 1001.5) == ""
    assert clock_fault(1000.0, 994.8) == "its clock is -5.2 s off: set it by NTP"
