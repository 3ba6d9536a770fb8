"""Backoff and rate limit."""

from gateway_agent.sender import Backoff, TokenBucket
from hypothesis import given
from hypothesis import strategies as st


def test_pauses_grow_to_a_limit_and_reset() -> None:
    backoff = Backoff(10, jitter=lambda: 1.0)
    assert [backoff.pause_s() for _ in range(6)] == [1, 2, 4, 8, 10, 10]
    backoff.reset()
    assert backoff.pause_s() == 1


@given(st.floats(1, 3600), st.integers(1, 50))
def test_a_pause_is_jittered_within_half(longest: float, attempts: int) -> None:
    backoff, plain = Backoff(longest), Backoff(longest, jitter=lambda: 1.0)
    for _ in range(attempts):
        whole = plain.pause_s()
        assert whole / 2 <= backoff.pause_s() <= whole <= longest


@given(st.floats(1, 3600))
def test_first_retries_after_a_stable_connection_are_spread(longest: float) -> None:
    pauses = [Backoff(longest).spread_s() for _ in range(200)]
    bound = min(15, longest)
    assert all(0 <= pause <= bound for pause in pauses)
    assert min(pauses) < bound / 4
    assert max(pauses) > 3 * bound / 4


@given(st.floats(10, 1e5), st.lists(st.integers(1, 500), min_size=1, max_size=200))
def test_the_rate_is_kept_and_used(per_second: float, requests: list[int]) -> None:
    rate, now, taken = TokenBucket(per_second, 0), 0.0, 0
    for units in requests:
        now += rate.take(units, now)
        assert taken <= now * per_second + per_second / 10 + 1e-6  # before this request, which may exceed the burst
        taken += units
    assert now <= taken / per_second
