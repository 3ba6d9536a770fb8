"""A regression of 20 % is found, noise is not one."""

from typing import Any

from lab.compare import changes, values


def run(per_s: float, p50: float, p95: float) -> dict[str, Any]:
    one = {"per_s": per_s, "p50": p50, "p95": p95}
    return {"steps": [{"name": "2,100 a minute", "primary": "insert", "calls": {"insert": one}}]}


BEFORE = [run(35.0, p50, p50 * 2) for p50 in (20.0, 20.6, 19.5)]


def regressions(after: list[dict[str, Any]]) -> list[str]:
    return [one.key[2] for one in changes(values(BEFORE), values(after)) if one.regression]


def test_slower_by_a_fifth_is_a_regression() -> None:
    assert regressions([run(35.0, p50 * 1.2, p50 * 2.4) for p50 in (20.1, 20.4, 19.7)]) == ["p50", "p95"]


def test_fewer_answers_by_a_fifth_are_a_regression() -> None:
    assert regressions([run(28.0, 20.0, 40.0)] * 3) == ["per_s"]


def test_the_same_and_the_better_are_none() -> None:
    assert regressions([run(35.0, 20.3, 40.2)] * 3) == []
    assert regressions([run(44.0, 12.0, 25.0)] * 3) == []


def test_what_noise_explains_is_none() -> None:
    noisy = [run(35.0, p50, p50 * 2) for p50 in (14.0, 24.0, 33.0)]
    assert regressions(noisy) == []


def test_tiny_times_are_no_regression() -> None:
    before, after = values([run(100, 0.4, 0.6)] * 3), values([run(100, 0.6, 0.9)] * 3)
    assert not any(one.regression for one in changes(before, after))
