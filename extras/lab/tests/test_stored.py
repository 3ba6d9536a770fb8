"""Counting until everything is stored, with a database that takes its time."""

import pytest
from lab import stored


class Clock:
    """Time passes only by sleeping and by what counting takes."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def monotonic(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds


@pytest.mark.parametrize("count_s", [0.1, 20.0])
def test_counting_goes_on_while_more_is_stored(monkeypatch: pytest.MonkeyPatch, count_s: float) -> None:
    clock, counts_stored = Clock(), iter([5, 9, 9, 10])
    monkeypatch.setattr(stored, "time", clock)

    def count() -> dict[str, int]:
        clock.now_s += count_s
        return {"lab-0": next(counts_stored)}

    counts, after_s = stored.settled(count, {"lab-0": 10}, lambda _: None, settled_after_s=15)
    assert counts == {"lab-0": 10}
    assert after_s == pytest.approx(3 * (count_s + stored.POLL_S))


def test_counting_ends_when_nothing_more_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(stored, "time", clock)
    counts, after_s = stored.settled(lambda: {"lab-0": 9}, {"lab-0": 10}, lambda _: None, settled_after_s=15)
    assert (counts, after_s) == ({"lab-0": 9}, 0.0)
    assert clock.now_s - 1000 == pytest.approx(16, abs=1)
